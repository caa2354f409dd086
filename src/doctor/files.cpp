// Measures reading a file from disk and from the page cache.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/result.h"
#include "doctor/checks.h"

namespace stepscope::doctor {
namespace {

constexpr std::size_t kPart = std::size_t{4} << 20;
constexpr std::size_t kMost = std::size_t{512} << 20;
constexpr std::size_t kLeast = std::size_t{16} << 20;
constexpr std::size_t kAlignment = 4096;

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<void, Freed>;

// A file that has no name any more: whatever happens, nothing of it stays.
class Scratch {
 public:
  explicit Scratch(const std::string& folder) {
    std::string path = folder + "/.stepscope-doctor-XXXXXX";
    file_ = ::mkostemp(path.data(), O_CLOEXEC);
    if (file_ >= 0) (void)::unlink(path.c_str());
  }
  ~Scratch() {
    if (file_ >= 0) ::close(file_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  int file() const { return file_; }

 private:
  int file_ = -1;
};

base::Status fill(int file, void* part, std::size_t bytes) {
  std::uint64_t seed = 1;  // disks that compress must not get zeros
  auto* words = static_cast<std::uint64_t*>(part);
  for (std::size_t done = 0; done < bytes; done += kPart) {
    for (std::size_t i = 0; i < kPart / sizeof seed; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      words[i] = seed;
    }
    if (::write(file, part, kPart) != static_cast<ssize_t>(kPart)) {
      return base::fail(base::Code::kIo, fmt::format("cannot write: {}", std::strerror(errno)));
    }
  }
  if (::fsync(file) != 0) return base::fail(base::Code::kIo, "cannot be flushed");
  return base::Done{};
}

// Bytes per second of one pass from the beginning; 0: could not be read this way.
double read_rate(int file, void* part, std::size_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t done = 0; done < bytes; done += kPart) {
    if (::pread(file, part, kPart, static_cast<off_t>(done)) != static_cast<ssize_t>(kPart)) {
      return 0;
    }
  }
  return static_cast<double>(bytes) / seconds_since(begin);
}

// The part of the file that still lies in memory.
double cached_share(int file, std::size_t bytes) {
  void* map = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) return 1;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> in_memory((bytes + page - 1) / page);
  double share = 1;
  if (::mincore(map, bytes, in_memory.data()) == 0) {
    std::size_t count = 0;
    for (const unsigned char each : in_memory) count += each & 1u;
    share = static_cast<double>(count) / static_cast<double>(in_memory.size());
  }
  (void)::munmap(map, bytes);
  return share;
}

struct Uncached {
  double rate = 0;
  const char* how = "";
};

// Past the cache where the file system can, else after emptying the cache.
Uncached read_past_cache(int file, void* part, std::size_t bytes) {
  const int flags = ::fcntl(file, F_GETFL);
  if (::fcntl(file, F_SETFL, flags | O_DIRECT) == 0) {
    const double rate = read_rate(file, part, bytes);
    (void)::fcntl(file, F_SETFL, flags);
    if (rate > 0) return {rate, "past the cache"};
  }
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  if (cached_share(file, bytes) > 0.05) return {};
  return {read_rate(file, part, bytes), "with the cache emptied"};
}

void put_files(Check& check, double rate, std::string_view how) {
  check.measured = rate / 1e6;
  check.value = fmt::format("{:.0f} MB/s, {}", rate / 1e6, how);
}

}  // namespace

std::vector<Check> file_rates(const Place& place) {
  Check disk{.name = "file-read",
             .todo = "more DataLoader workers hide a slow disk; data on a local disk avoids it",
             .why = "data that is read for the first time comes at this rate to one reader",
             .unit = "MB/s"};
  Check cached{.name = "file-read-cached",
               .why = "data that is still in memory comes at this rate to one reader",
               .unit = "MB/s"};
  const auto not_measured = [&](const std::string& reason) {
    for (Check* check : {&disk, &cached}) {
      check->value = "not measured: " + reason;
      check->todo.clear();
    }
    return std::vector<Check>{disk, cached};
  };
  struct statvfs facts{};
  if (::statvfs(place.folder.c_str(), &facts) != 0) return not_measured("no such folder");
  const std::uint64_t free = facts.f_bavail * facts.f_frsize;
  const std::size_t bytes = std::min<std::uint64_t>(kMost, free / 8) / kPart * kPart;
  if (bytes < kLeast) return not_measured("the disk is nearly full");
  const Scratch scratch(place.folder);
  if (scratch.file() < 0) return not_measured("no file can be made in this folder");
  const Buffer part(std::aligned_alloc(kAlignment, kPart));
  if (!part) return not_measured("no memory");
  if (const base::Status filled = fill(scratch.file(), part.get(), bytes); !filled) {
    return not_measured(filled.error().message);
  }
  const Uncached uncached = read_past_cache(scratch.file(), part.get(), bytes);
  if (uncached.rate > 0) {
    put_files(disk, uncached.rate, uncached.how);
  } else {
    disk.value = "not measured: this file system keeps its files in memory";
    disk.todo.clear();
  }
  (void)read_rate(scratch.file(), part.get(), bytes);
  put_files(cached, read_rate(scratch.file(), part.get(), bytes), "from the cache");
  return {disk, cached};
}

}  // namespace stepscope::doctor
