#include "cli/program/temporary_folder.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

namespace stepscope::cli {

std::string temporary_place() {
  const char* const chosen = std::getenv("TMPDIR");
  return chosen == nullptr || *chosen == '\0' ? "/tmp" : chosen;
}

std::string make_temporary_folder(std::string_view name) {
  for (const std::string& place :
       {temporary_place(), std::string("/tmp"), std::string("/dev/shm")}) {
    std::string made = fmt::format("{}/{}-XXXXXX", place, name);
    if (::mkdtemp(made.data()) != nullptr) return made;
  }
  return {};
}

void remove_folder(const std::string& folder) {
  std::error_code error;
  if (!folder.empty()) std::filesystem::remove_all(folder, error);
}

}  // namespace stepscope::cli
