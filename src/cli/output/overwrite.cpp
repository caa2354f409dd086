#include "cli/output/overwrite.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "session/files/discover.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::relative(file, folder, error);
  return !error && !relative.empty() && *relative.begin() != "..";
}

bool is_same_or_inside(const fs::path& file, const fs::path& input) {
  std::error_code error;
  if (fs::equivalent(file, input, error)) return true;
  return fs::is_directory(input, error) && is_inside(file, input) &&
         session::has_trace_name(file.filename().native());
}

}  // namespace

base::Status check_not_an_input(const std::string& option, const std::string& path,
                                std::span<const std::string> inputs) {
  std::error_code error;
  if (path == "-" || !fs::is_regular_file(path, error)) return base::Done{};
  const bool is_input = std::ranges::any_of(
      inputs, [&](const auto& input) { return is_same_or_inside(path, input); });
  if (!is_input) return base::Done{};
  return base::fail(
      base::Code::kInvalidArgument,
      fmt::format("{} {}: this is what is being read; name another file to write", option, path));
}

base::Status check_may_hold_page(const std::string& option, const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_regular_file(path, error)) return base::Done{};
  std::ifstream file(path, std::ios::binary);
  char first = '<';
  file.get(first);
  if (first == '<') return base::Done{};
  return base::fail(
      base::Code::kInvalidArgument,
      fmt::format("{} {}: there is a file of that name which is no {}; {} takes the file to write, "
                  "as in {} {}",
                  option, path, option == "--svg" ? "picture" : "HTML page", option, option,
                  option == "--svg" ? "flame.svg" : "report.html"));
}

}  // namespace stepscope::cli
