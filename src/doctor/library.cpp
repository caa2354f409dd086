// Opens libraries of GPU makers at run time.
#include "doctor/library.h"

#include <dlfcn.h>
#include <link.h>

#include <vector>

namespace stepscope::doctor {
namespace {

std::string path_of(void* handle, const std::string& otherwise) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr ||
      map->l_name == nullptr || *map->l_name == '\0') {
    return otherwise;
  }
  return map->l_name;
}

}  // namespace

std::optional<Library> Library::open(const Place& place, std::span<const std::string_view> names,
                                     std::string& why_not) {
  std::vector<std::string> prefixes;
  prefixes.push_back(place.library_folder.empty() ? "" : place.library_folder + "/");
  for (const std::string& folder : place.package_folders) prefixes.push_back(folder + "/");
  for (const std::string& prefix : prefixes) {
    for (const std::string_view name : names) {
      const std::string path = prefix + std::string(name);
      void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (handle != nullptr) {
        Library library;
        library.handle_ = handle;
        library.path_ = path_of(handle, path);
        return library;
      }
      const char* reason = ::dlerror();
      if (why_not.empty() && reason != nullptr) why_not = reason;
    }
  }
  return std::nullopt;
}

void* Library::symbol(const char* name) const { return ::dlsym(handle_, name); }

}  // namespace stepscope::doctor
