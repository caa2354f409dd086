// The bytes of a file as they lie on disk, from a descriptor or from memory. Never mapped: a mapped
// file that shrinks kills the process. A regular file remembers its size and time, so that a file
// still being written is noticed instead of half read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace stepscope::bytes {

struct FileFacts {
  std::uint64_t size;
  std::int64_t mtime_ns;
  bool operator==(const FileFacts&) const = default;
};

class RawFile {
 public:
  // "-" is standard input. Waiting for a pipe ends with kCancelled soon after `stop` is set.
  // Nothing outside of the folder `within` is opened, where one is given (bytes/beneath.h).
  static base::Result<RawFile> open(const std::string& path,
                                    const std::atomic<bool>* stop = nullptr,
                                    const std::string& within = {});
  static RawFile in_memory(std::string name, std::string file_bytes);

  RawFile(RawFile&& other) noexcept;
  RawFile& operator=(RawFile&&) = delete;
  ~RawFile();

  const std::string& name() const { return name_; }  // for messages
  const std::string& within() const { return within_; }
  const std::optional<FileFacts>& facts() const { return facts_; }  // none for a pipe
  std::optional<std::uint64_t> size() const;
  bool rereadable() const;  // by opening the same path again
  bool reads_anywhere() const { return fd_ < 0 || rereadable(); }

  // What comes next; 0 at the end. A regular file ends at the size it had when it was opened.
  base::Result<std::size_t> read(std::span<char> into);
  base::Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const;
  std::uint64_t position() const { return position_; }
  void seek(std::uint64_t offset) { position_ = offset; }  // regular files and memory only

  // An error if the file is no longer the one that was opened.
  base::Status check_unchanged() const;
  // An error if the file is not the one described, which an earlier pass read.
  base::Status check_same_as(const FileFacts& earlier) const;

 private:
  explicit RawFile(std::string name) : name_(std::move(name)) {}
  base::Result<std::size_t> read_stream(std::span<char> into) const;
  base::Status wait_for_more() const;

  std::string name_, within_;
  int fd_ = -1;              // -1: memory_ is the file
  bool positioned_ = false;  // pread works and starts at 0
  bool reached_end_ = false;
  const std::atomic<bool>* stop_ = nullptr;
  std::optional<FileFacts> facts_;
  std::uint64_t position_ = 0;
  std::string memory_;
};

}  // namespace stepscope::bytes
