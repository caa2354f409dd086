#include "session/program/move_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace stepscope::session {
namespace {

namespace fs = std::filesystem;

bool have_same_bytes(const fs::path& one, const fs::path& other) {
  std::error_code error;
  if (fs::file_size(one, error) != fs::file_size(other, error) || error) return false;
  std::ifstream a(one, std::ios::binary);
  std::ifstream b(other, std::ios::binary);
  return a && b &&
         std::equal(std::istreambuf_iterator<char>(a), {}, std::istreambuf_iterator<char>(b));
}

// The disk has it: a node may be gone a moment later.
void write_through(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

std::error_code move_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::exists(to, error)) {
    if (!have_same_bytes(from, to)) return std::make_error_code(std::errc::file_exists);
    fs::remove(from, error);
    return error;
  }
  fs::create_directories(to.parent_path(), error);
  if (error) return error;
  fs::rename(from, to, error);
  if (error != std::errc::cross_device_link) return error;
  error.clear();
  const fs::path partial = to.string() + ".moving";
  fs::copy_file(from, partial, fs::copy_options::overwrite_existing, error);
  if (!error) {
    write_through(partial);
    fs::rename(partial, to, error);
  }
  std::error_code ignored;
  fs::remove(error ? partial : from, ignored);
  return error;
}

}  // namespace

MovedFiles move_tree(const std::string& from, const std::string& to) {
  MovedFiles out;
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory(error)) {
      fs::create_directories(to / fs::relative(entry->path(), from, error), error);
      error.clear();  // its files say more
    } else {
      files.push_back(entry->path());
    }
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const fs::path target = to / fs::relative(file, from, error);
    const std::error_code why = move_file(file, target);
    ++(why ? out.left : out.files);
    if (why && out.first_error.empty()) {
      out.first_error = fmt::format("{}: {}", target.string(), why.message());
    }
  }
  if (error && out.first_error.empty()) {
    out.first_error = fmt::format("{}: {}", from, error.message());
    ++out.left;
  }
  return out;
}

}  // namespace stepscope::session
