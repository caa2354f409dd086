#include "bytes/zstd_decoder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
// For ZSTD_d_forceIgnoreChecksum, which is asked for and not relied on.
#define ZSTD_STATIC_LINKING_ONLY  // NOLINT(readability-identifier-naming): zstd's name
#include <zstd.h>
#include <zstd_errors.h>

#include "bytes/text_checks.h"

namespace stepscope::bytes {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr int kWindowLogMax = 27;  // 128 MiB: what the zstd program itself accepts unasked
constexpr std::size_t kBlockHeader = 3;
constexpr std::size_t kFirstBytes = 5;  // of a frame: enough to know its kind
constexpr unsigned char kHasSum = 4;    // in the last of them
constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";

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
  edges_ = {};
}

bool ZstdDecoder::check_apart(TextChecks& checks) {
  const std::size_t outcome =
      ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_forceIgnoreChecksum, ZSTD_d_ignoreChecksum);
  if (ZSTD_isError(outcome) != 0) return false;
  checks_ = &checks;
  return true;
}

void ZstdDecoder::Edges::add(std::span<const char> bytes) {
  for (const char c : bytes.first(std::min(bytes.size(), kFirstBytes - first_.size()))) first_ += c;
  for (const char c : bytes.last(std::min(bytes.size(), sizeof(last_)))) {
    last_ = last_ >> 8 | std::uint32_t{static_cast<unsigned char>(c)} << 24;
  }
}

bool ZstdDecoder::Edges::has_first() const { return first_.size() == kFirstBytes; }

// Frames that are skipped have none, and those of before 2015 are checked by zstd.
bool ZstdDecoder::Edges::has_sum() const {
  return has_first() && first_.starts_with(kMagic) && (first_[4] & kHasSum) != 0;
}

// Tells `checks_` what these bytes say of sums.
void ZstdDecoder::check_frame(std::span<const char> read, std::uint64_t file_offset, bool ends) {
  const bool knew = edges_.has_first();
  edges_.add(read);
  if (!knew && edges_.has_first() && edges_.has_sum()) checks_->begin(frame_text_);
  if (!ends) return;
  if (edges_.has_sum()) checks_->end(text_, file_offset, edges_.sum());
  edges_ = {};
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
    if (checks_ != nullptr) check_frame(unread.first(source.pos), in.position(), outcome == 0);
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
