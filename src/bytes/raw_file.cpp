// The bytes of a file or a pipe, and whether the file has changed.
#include "bytes/raw_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/standard_input.h"
#include "bytes/beneath.h"

namespace stepscope::bytes {

using base::Code;
using base::fail;
using base::Result;
using base::Status;

namespace {

constexpr std::size_t kMostPerRead = std::size_t{1} << 30;  // read(2) itself stops at 2 GiB
constexpr int kLookForStopMs = 50;
constexpr const char* kStillWriting = "(is the program still writing it?)";

std::string reason(int error_number) { return std::strerror(error_number); }

FileFacts facts_of(const struct stat& info) {
  return {static_cast<std::uint64_t>(info.st_size),
          info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec};
}

Result<FileFacts> facts_now(int fd, const std::string& name) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return fail(Code::kIo, fmt::format("{}: cannot be examined: {}", name, reason(errno)));
  }
  return facts_of(info);
}

}  // namespace

Result<RawFile> RawFile::open(const std::string& path, const std::atomic<bool>* stop,
                              const std::string& within) {
  RawFile file(std::string(base::name_of_input(path)));
  file.stop_ = stop;
  file.within_ = within;
  // Not blocking, because opening a named pipe would wait for its writer, deaf to `stop`.
  constexpr int kHow = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  file.fd_ = path == "-" ? STDIN_FILENO : open_beneath(within, path, kHow);
  struct stat info{};
  if (file.fd_ < 0 || ::fstat(file.fd_, &info) != 0) {
    const int why = errno;
    const Code code = why == ENOENT || why == ENOTDIR ? Code::kNotFound : Code::kIo;
    return fail(code, fmt::format("{}: cannot be opened: {}; expected a readable file", file.name(),
                                  reason(why)));
  }
  if (S_ISDIR(info.st_mode)) {
    return fail(Code::kIo, fmt::format("{}: cannot be read: {}; expected a file", file.name(),
                                       reason(EISDIR)));
  }
  // Standard input may be a file of which a part was already read: then it is a pipe to us.
  if (S_ISREG(info.st_mode) && ::lseek(file.fd_, 0, SEEK_CUR) == 0) {
    file.positioned_ = true;
    file.facts_ = facts_of(info);
    (void)::posix_fadvise(file.fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  return file;
}

RawFile RawFile::in_memory(std::string name, std::string file_bytes) {
  RawFile file(std::move(name));
  file.memory_ = std::move(file_bytes);
  return file;
}

RawFile::RawFile(RawFile&& other) noexcept
    : name_(std::move(other.name_)),
      within_(std::move(other.within_)),
      fd_(std::exchange(other.fd_, -1)),
      positioned_(other.positioned_),
      reached_end_(other.reached_end_),
      stop_(other.stop_),
      facts_(other.facts_),
      position_(other.position_),
      memory_(std::move(other.memory_)) {}

RawFile::~RawFile() {
  if (fd_ >= 0 && fd_ != STDIN_FILENO) ::close(fd_);
}

std::optional<std::uint64_t> RawFile::size() const {
  if (fd_ < 0) return memory_.size();
  if (facts_) return facts_->size;
  return std::nullopt;
}

bool RawFile::rereadable() const { return positioned_ && fd_ != STDIN_FILENO; }

Result<std::size_t> RawFile::read(std::span<char> into) {
  if (facts_ && facts_->size > 0) {
    // Not beyond the size it had: a file that grows as fast as we read would never end. Files of
    // /proc say 0 and are read until they end.
    const std::uint64_t left = facts_->size - std::min(position_, facts_->size);
    into = into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left)));
  }
  std::size_t got = 0;
  if (!into.empty()) {
    into = into.first(std::min(into.size(), kMostPerRead));
    if (positioned_ || fd_ < 0) {
      SCOPE_TRY(got, read_at(position_, into));
    } else {
      SCOPE_TRY(got, read_stream(into));
    }
  }
  if (got == 0) reached_end_ = true;
  position_ += got;
  return got;
}

Result<std::size_t> RawFile::read_at(std::uint64_t offset, std::span<char> into) const {
  if (fd_ < 0) {
    const std::size_t from =
        static_cast<std::size_t>(std::min<std::uint64_t>(offset, memory_.size()));
    const std::size_t count = std::min(into.size(), memory_.size() - from);
    std::copy_n(memory_.data() + from, count, into.data());
    return count;
  }
  while (true) {
    const ssize_t got =
        ::pread(fd_, into.data(), std::min(into.size(), kMostPerRead), static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR) continue;
    return fail(Code::kIo,
                fmt::format("{}: read failed at byte {}: {}", name_, offset, reason(errno)));
  }
}

Result<std::size_t> RawFile::read_stream(std::span<char> into) const {
  while (true) {
    SCOPE_TRY(wait_for_more());
    const ssize_t got = ::read(fd_, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK) continue;
    return fail(Code::kIo,
                fmt::format("{}: read failed at byte {}: {}", name_, position_, reason(errno)));
  }
}

// A named pipe that no one has opened for writing yet would read as empty: poll() knows that it has
// not ended.
Status RawFile::wait_for_more() const {
  pollfd waited{fd_, POLLIN, 0};
  while (true) {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) {
      return fail(Code::kCancelled, name_ + ": stopped");
    }
    const int ready = ::poll(&waited, 1, kLookForStopMs);
    // What poll() cannot watch, read() explains.
    if (ready > 0 || (ready < 0 && errno != EINTR)) return base::Done{};
  }
}

Status RawFile::check_unchanged() const {
  if (!facts_) return base::Done{};
  SCOPE_TRY(FileFacts now, facts_now(fd_, name_));
  const bool cut_short = reached_end_ && facts_->size > 0 && position_ < facts_->size;
  if (now == *facts_ && !cut_short) return base::Done{};
  if (now.size == facts_->size && cut_short) now.size = position_;
  if (now.size == facts_->size) {
    return fail(Code::kIo, fmt::format("{}: changed while it was read: still {} bytes, but written "
                                       "to since it was opened {}",
                                       name_, now.size, kStillWriting));
  }
  return fail(Code::kIo,
              fmt::format("{}: changed while it was read: {} bytes when opened, {} at the end {}",
                          name_, facts_->size, now.size, kStillWriting));
}

Status RawFile::check_same_as(const FileFacts& earlier) const {
  if (!facts_) {
    return fail(Code::kIo, fmt::format("{}: is no longer a regular file", name_));
  }
  SCOPE_TRY(const FileFacts now, facts_now(fd_, name_));
  if (now == earlier) return base::Done{};
  if (now.size == earlier.size) {
    return fail(Code::kIo, fmt::format("{}: changed since it was opened: still {} bytes, but "
                                       "written to {}",
                                       name_, now.size, kStillWriting));
  }
  return fail(Code::kIo, fmt::format("{}: changed since it was opened: {} bytes then, {} now {}",
                                     name_, earlier.size, now.size, kStillWriting));
}

}  // namespace stepscope::bytes
