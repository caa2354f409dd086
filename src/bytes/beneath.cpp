// Opens files below a folder; no link leads out of it.
#include "bytes/beneath.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace stepscope::bytes {
namespace {

// Closes what it holds and leaves errno alone.
class Held {
 public:
  explicit Held(int file) : file_(file) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { replace(-1); }

  int get() const { return file_; }
  int release() { return std::exchange(file_, -1); }
  void replace(int file) {
    const int kept = errno;
    if (file_ >= 0) ::close(file_);
    errno = kept;
    file_ = file;
  }

 private:
  int file_;
};

}  // namespace

bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// openat2() could do this in one call, but not on every kernel and not in every container; without
// ".." in the path the steps are worth as much.
int open_without_links(const std::string& folder, std::string_view below, int flags) {
  Held at(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) return -1;
  if (below.empty()) return ::openat(at.get(), ".", flags | O_CLOEXEC);
  while (true) {
    const std::size_t end = std::min(below.find('/'), below.size());
    const std::string part(below.substr(0, end));
    if (part.empty() || part == "." || part == "..") {
      errno = EINVAL;
      return -1;
    }
    if (end == below.size()) {
      Held last(::openat(at.get(), part.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
      struct stat facts{};
      // O_PATH opens the link itself.
      if (last.get() < 0 || ::fstat(last.get(), &facts) != 0) return -1;
      if (S_ISLNK(facts.st_mode)) {
        errno = ELOOP;
        return -1;
      }
      return last.release();
    }
    at.replace(::openat(at.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (at.get() < 0) return -1;
    below.remove_prefix(end + 1);
  }
}

int open_beneath(const std::string& folder, const std::string& path, int flags) {
  if (folder.empty()) return ::open(path.c_str(), flags | O_CLOEXEC);
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  if (error || !is_within(real, folder)) {
    errno = error ? error.value() : EACCES;
    return -1;
  }
  std::string_view below = std::string_view(real).substr(folder == "/" ? 0 : folder.size());
  if (below.starts_with('/')) below.remove_prefix(1);
  return open_without_links(folder, below, flags);
}

int stat_beneath(const std::string& folder, const std::string& path, struct stat& facts) {
  if (folder.empty()) return ::stat(path.c_str(), &facts);
  const Held file(open_beneath(folder, path, O_PATH));
  return file.get() < 0 ? -1 : ::fstat(file.get(), &facts);
}

}  // namespace stepscope::bytes
