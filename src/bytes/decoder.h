// The three encodings with one interface, for the first pass and for reading again later.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <variant>

#include "base/result.h"
#include "bytes/gzip_decoder.h"
#include "bytes/input_window.h"
#include "bytes/seek_index.h"
#include "bytes/source.h"
#include "bytes/zstd_decoder.h"

namespace stepscope::bytes {

class Decoder {
 public:
  explicit Decoder(Encoding encoding);

  base::Result<std::size_t> read(InputWindow& in, std::span<char> into);
  std::optional<Damage> damage() const;

  // The last place to go on from, unless it is before `earliest`: here in gzip, the start of the
  // frame in zstd.
  std::optional<Checkpoint> checkpoint(const InputWindow& in, std::uint64_t text_position,
                                       std::uint64_t earliest) const;
  void restore(const Checkpoint& from, InputWindow& in);

 private:
  struct Plain {};
  std::variant<Plain, GzipDecoder, ZstdDecoder> decoder_;
};

}  // namespace stepscope::bytes
