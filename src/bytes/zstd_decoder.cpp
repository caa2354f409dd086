// Frames of zstd, read block by block; libzstd compares their checksums.
#include "bytes/zstd_decoder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace stepscope::bytes {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr int kWindowLogMax = 27;  // 128 MiB: what the zstd program itself accepts unasked
constexpr std::size_t kBlockHeader = 3;
constexpr std::size_t kFirstBytes = 5;  // of a frame: enough to know its kind

std::string words_of(ZSTD_ErrorCode why) {
  if (why == ZSTD_error_prefix_unknown) return "what follows the zstd data is not zstd";
  if (why == ZSTD_error_dictionary_wrong) {
    return "packed with a dictionary; unpack it with `zstd -d -D DICTIONARY` first";
  }
  return fmt::format("zstd data is corrupt: {}", ZSTD_getErrorString(why));
}

// On an error zstd forgets what it wrote in the same call. So a call gets one block, without the
// header of the next one that is included in the size zstd asks for, and nothing while text of the
// last block waits for room.
//
// The call gets the block whole. zstd would take a stored block in pieces too, but then a block
// that is longer than its frame may be gives as many pieces as fit, and none in one: how much of it
// is text would depend on where a window ends.
std::size_t one_step(std::size_t wanted) {
  return wanted > kBlockHeader ? wanted - kBlockHeader : std::max<std::size_t>(wanted, 1);
}

}  // namespace

void ZstdDecoder::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ZstdDecoder::ZstdDecoder() : context_(ZSTD_createDCtx()) {
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kWindowLogMax);
  begin_frame();
}
ZstdDecoder::ZstdDecoder(ZstdDecoder&&) noexcept = default;
ZstdDecoder::~ZstdDecoder() = default;

void ZstdDecoder::begin_frame() {
  ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
  wanted_ = kFirstBytes;
  flushing_ = false;
  between_frames_ = true;
}

void ZstdDecoder::restart(std::uint64_t text_offset) {
  begin_frame();
  text_ = text_offset;
  ended_ = false;
  damage_.reset();
}

void ZstdDecoder::end_with(std::uint64_t file_offset, std::string what) {
  if (!damage_) damage_ = Damage{text_, file_offset, std::move(what)};
  ended_ = true;
}

Result<std::size_t> ZstdDecoder::read(InputWindow& in, std::span<char> into) {
  if (into.empty()) return std::size_t{0};
  while (!ended_) {
    const std::size_t wanted = flushing_ ? 0 : one_step(wanted_);
    // More than a block is wanted of frames that are skipped.
    SCOPE_TRY(const bool more, in.fill(std::clamp<std::size_t>(wanted, 1, ZSTD_BLOCKSIZE_MAX)));
    if (!more && between_frames_) {
      ended_ = true;
      break;
    }
    if (between_frames_) {
      frame_start_ = in.position();
      frame_text_ = text_;
    }
    const std::span<char> unread = in.unread();
    const std::size_t step = std::min(unread.size(), wanted);
    ZSTD_inBuffer source{unread.data(), step, 0};
    ZSTD_outBuffer target{into.data(), into.size(), 0};
    const std::size_t outcome = ZSTD_decompressStream(context_.get(), &target, &source);
    if (ZSTD_isError(outcome) != 0) {
      const ZSTD_ErrorCode why = ZSTD_getErrorCode(outcome);
      if (why == ZSTD_error_frameParameter_windowTooLarge) {
        return fail(Code::kLimit,
                    fmt::format("{}: the zstd frame at byte {} needs a window of more than {} MiB "
                                "to decompress; compress it again without --long or --ultra",
                                in.file().name(), frame_start_, 1 << (kWindowLogMax - 20)));
      }
      if (why == ZSTD_error_checksum_wrong) {
        // The frame is whole, so the next one is still worth reading.
        in.consume(step);
        if (!damage_) damage_ = Damage{text_, in.position(), "zstd checksum does not match"};
        begin_frame();
        continue;
      }
      end_with(in.position(), words_of(why));
      break;
    }
    in.consume(source.pos);
    text_ += target.pos;
    if (!more && !flushing_ && target.pos == 0 && outcome != 0) {
      end_with(in.position(), "zstd stream ends in the middle of a frame");
      break;
    }
    flushing_ = target.pos == target.size;
    between_frames_ = outcome == 0;
    wanted_ = between_frames_ ? kFirstBytes : outcome;
    if (target.pos > 0) return target.pos;
  }
  return std::size_t{0};
}

}  // namespace stepscope::bytes
