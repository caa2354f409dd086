#include "session/files/folder_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "bytes/beneath.h"

namespace stepscope::session {

int list_names(const std::string& folder, const std::string& within,
               std::vector<std::string>& names, std::size_t most) {
  const int file = bytes::open_beneath(within, folder, O_RDONLY | O_DIRECTORY);
  if (file < 0) return errno;
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> inside(::fdopendir(file), close);
  if (inside == nullptr) {
    const int error = errno;
    ::close(file);
    return error;
  }
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(inside.get());
    if (entry == nullptr) return errno;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (most-- == 0) return 0;
    names.emplace_back(name);
  }
}

bool look_at(const std::string& path, const std::string& within, struct stat& facts) {
  return bytes::stat_beneath(within, path, facts) == 0;
}

bool is_within(std::string_view path, std::string_view folder) {
  return bytes::is_within(path, folder);
}

}  // namespace stepscope::session
