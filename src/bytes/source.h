// Where bytes come from. A ByteSource is a one-way stream of the *decompressed* text, whatever the
// file is: plain, gzip, zstd, or standard input. Which one it is is decided by content, never by
// name.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepscope::bytes {

enum class Encoding : std::uint8_t { kPlain, kGzip, kZstd };
std::string_view name_of(Encoding encoding);  // "plain", "gzip", "zstd"

// What a file that starts with these bytes is. Four bytes are enough; also of use on decompressed
// text, to say that a file was compressed twice.
Encoding sniff(std::span<const char> head);

// A stream that ended before it should have. What came before it was delivered.
struct Damage {
  std::uint64_t text_offset;  // decompressed bytes delivered up to the damage
  std::uint64_t file_offset;  // where in the file
  std::string what;  // "gzip stream ends in the middle of a block", "checksum does not match"
};

struct SeekIndex;  // bytes/seek_index.h

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills at most into.size() bytes; 0 means the end. Short reads before the end are allowed.
  // Fails when the file cannot be read or changed while it was read; never because of bad bytes.
  virtual base::Result<std::size_t> read(std::span<char> into) = 0;

  virtual const std::string& name()
      const = 0;  // for messages: as the user wrote it, or "standard input"
  virtual Encoding encoding() const = 0;
  virtual std::uint64_t text_position() const = 0;  // decompressed bytes delivered so far
  virtual std::uint64_t file_position() const = 0;  // bytes taken from the file so far
  virtual std::optional<std::uint64_t> file_size() const = 0;  // unknown for a pipe
  virtual std::optional<Damage> damage() const = 0;  // set only once read() has returned 0
  // Text that lies in a file as it is: any part of it can be read, by several threads at once.
  // These two are for such text only.
  virtual bool reads_anywhere() const = 0;
  // Fills `into` whole: it lies within file_size(). Fails when the file has become shorter.
  virtual base::Status read_at(std::uint64_t text_offset, std::span<char> into) const = 0;
  virtual void skip_to(std::uint64_t text_offset) = 0;  // read() goes on there

  // Can the same text be read again from the file (see open_text)? False for pipes.
  virtual bool rereadable() const = 0;
  // What open_text needs for it; complete once read() has returned 0, null where not rereadable.
  virtual std::shared_ptr<const SeekIndex> seek_index() const = 0;
};

struct SourceOptions {
  std::size_t input_window_bytes = 256 * 1024;                // of compressed input held
  std::uint64_t checkpoint_spacing_bytes = 32 * 1024 * 1024;  // of text, for seek_index()
  // Set by a signal: waiting for a silent pipe ends with kCancelled. Files are never waited for.
  const std::atomic<bool>* stop = nullptr;
};

// Opens a path ("-" is standard input) and looks at its first bytes.
base::Result<std::unique_ptr<ByteSource>> open_source(const std::string& path,
                                                      SourceOptions options = {});

// For tests and fuzzing: the bytes of a file, as if read from disk under that name.
std::unique_ptr<ByteSource> memory_source(std::string name, std::string file_bytes,
                                          SourceOptions options = {});

}  // namespace stepscope::bytes
