// The bytes of a pickle as a window that moves forward. The machine reads an opcode and its short
// argument without asking whether they are there: kSlack bytes after the window's end are always
// readable, and look() says when the window runs short.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "bytes/source.h"

namespace stepscope::ingest::pickle {

class Feed {
 public:
  static constexpr std::size_t kSlack = 512;

  explicit Feed(std::unique_ptr<bytes::ByteSource> source, std::size_t window = 1u << 20);

  const char* at = nullptr;   // the next byte
  const char* end = nullptr;  // of what is here

  // Makes `wanted` bytes lie at `at`, or all there are; false at an error of the source.
  bool fill(std::size_t wanted);
  // Passes over bytes without keeping them; how many there were.
  std::uint64_t skip(std::uint64_t count);

  std::uint64_t offset() const { return base_ + static_cast<std::uint64_t>(at - buffer_.data()); }
  bool at_end() const { return ended_; }
  const base::Error* error() const { return failed_ ? &error_ : nullptr; }
  bytes::ByteSource& source() { return *source_; }

 private:
  std::unique_ptr<bytes::ByteSource> source_;
  std::string buffer_;
  std::uint64_t base_ = 0;  // of the buffer's first byte
  bool ended_ = false, failed_ = false;
  base::Error error_{};
};

}  // namespace stepscope::ingest::pickle
