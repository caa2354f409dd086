// Writes blocks of the .scope format to a file, and reports what the disk refused.
#include "capture/scope_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace stepscope::capture {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{4} << 20;  // half a million ranges

}  // namespace

base::Result<ScopeFile> ScopeFile::create(const std::string& path) {
  ScopeFile file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (file.descriptor_ >= 0) return file;
  if (errno == EEXIST) {
    return base::fail(base::Code::kInvalidArgument,
                      path + ": exists already, and a recording never writes over another one");
  }
  return base::fail(base::Code::kIo, path + ": " + std::strerror(errno));
}

ScopeFile::ScopeFile(ScopeFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      waiting_(std::move(other.waiting_)),
      written_(other.written_),
      lost_(other.lost_),
      first_error_(std::move(other.first_error_)) {}

ScopeFile& ScopeFile::operator=(ScopeFile&& other) noexcept {
  close();
  path_ = std::move(other.path_);
  descriptor_ = std::exchange(other.descriptor_, -1);
  waiting_ = std::move(other.waiting_);
  written_ = other.written_;
  lost_ = other.lost_;
  first_error_ = std::move(other.first_error_);
  return *this;
}

bool ScopeFile::write(std::string_view bytes) {
  if (!waiting_.empty()) {
    waiting_.erase(0, waiting_.size() - try_to_write(waiting_).size());
    if (waiting_.size() + bytes.size() > kMostWaiting && !waiting_.empty()) {
      lost_ += bytes.size();
      return false;
    }
  }
  if (waiting_.empty()) bytes = try_to_write(bytes);
  waiting_ += bytes;
  return true;
}

// What is left of it.
std::string_view ScopeFile::try_to_write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (first_error_.empty()) first_error_ = path_ + ": " + std::strerror(errno);
      return bytes;
    }
    written_ += static_cast<std::uint64_t>(count);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return bytes;
}

void ScopeFile::close() {
  lost_ += waiting_.size();
  waiting_.clear();
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace stepscope::capture
