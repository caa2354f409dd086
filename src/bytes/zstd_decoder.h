// zstd frames to text. Bad bytes are not an error: whole blocks before them are delivered, then the
// stream ends and damage() says why. A frame that wants a larger window than zstd's own default
// limit is an error: it could demand gigabytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "bytes/input_window.h"
#include "bytes/source.h"

struct ZSTD_DCtx_s;

namespace stepscope::bytes {

class ZstdDecoder {
 public:
  ZstdDecoder();
  ZstdDecoder(ZstdDecoder&&) noexcept;
  ~ZstdDecoder();

  // Some text, or 0 at the end.
  base::Result<std::size_t> read(InputWindow& in, std::span<char> into);
  const std::optional<Damage>& damage() const { return damage_; }

  // The start of the frame that is being read: only there can another decoder go on.
  std::uint64_t frame_text_offset() const { return frame_text_; }
  std::uint64_t frame_file_offset() const { return frame_start_; }
  void restart(std::uint64_t text_offset);

 private:
  void begin_frame();
  void end_with(std::uint64_t file_offset, std::string what);
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::size_t wanted_ = 0;  // input bytes that bring zstd to its next step
  bool flushing_ = false;   // zstd holds text that did not fit
  bool between_frames_ = true;
  std::uint64_t frame_start_ = 0;  // in the file
  std::uint64_t frame_text_ = 0;
  bool ended_ = false;
  std::uint64_t text_ = 0;  // delivered
  std::optional<Damage> damage_;
};

}  // namespace stepscope::bytes
