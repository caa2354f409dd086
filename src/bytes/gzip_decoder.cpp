// Members of gzip, inflated by ISA-L.
#include "bytes/gzip_decoder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <isa-l/igzip_lib.h>

namespace stepscope::bytes {

using base::Result;

namespace {

constexpr int kMagic1 = 0x1f, kMagic2 = 0x8b, kDeflate = 8;
constexpr int kHasHeaderCrc = 2, kHasExtra = 4, kHasName = 8, kHasComment = 16;
constexpr const char* kCutHeader = "gzip stream ends in the middle of a header";

Result<bool> skip(InputWindow& in, std::size_t count) {
  while (count > 0) {
    SCOPE_TRY(const bool more, in.fill());
    if (!more) return false;
    const std::size_t step = std::min(count, in.unread().size());
    in.consume(step);
    count -= step;
  }
  return true;
}

Result<bool> skip_string(InputWindow& in) {
  while (true) {
    SCOPE_TRY(const bool more, in.fill());
    if (!more) return false;
    const std::span<char> unread = in.unread();
    const void* zero = std::memchr(unread.data(), 0, unread.size());
    if (zero != nullptr) {
      in.consume(static_cast<std::size_t>(static_cast<const char*>(zero) - unread.data()) + 1);
      return true;
    }
    in.consume(unread.size());
  }
}

const char* describe_corruption(int isal_error) {
  switch (isal_error) {
    case ISAL_INVALID_BLOCK:
      return "gzip data is corrupt: a block that cannot be";
    case ISAL_INVALID_SYMBOL:
      return "gzip data is corrupt: a symbol that cannot be";
    case ISAL_INVALID_LOOKBACK:
      return "gzip data is corrupt: a reference to before the start";
    default:
      return "gzip data is corrupt";
  }
}

// Inflated, but not delivered.
std::size_t leftover(const inflate_state& state) {
  return static_cast<std::size_t>(state.tmp_out_valid - state.tmp_out_processed);
}

}  // namespace

GzipDecoder::GzipDecoder() : state_(std::make_unique<inflate_state>()) {}
GzipDecoder::GzipDecoder(GzipDecoder&&) noexcept = default;
GzipDecoder::~GzipDecoder() = default;

Result<std::size_t> GzipDecoder::read(InputWindow& in, std::span<char> into) {
  if (into.empty()) return std::size_t{0};
  while (stage_ != Stage::kEnd) {
    std::size_t got = 0;
    switch (stage_) {
      case Stage::kHeader: {
        SCOPE_TRY(const bool opened, open_member(in));
        stage_ = opened ? Stage::kMember : Stage::kEnd;
        break;
      }
      case Stage::kMember: {
        SCOPE_TRY(got, inflate(in, into));
        break;
      }
      case Stage::kLeftover:
        got = take_leftover(into);
        break;
      case Stage::kEnd:
        break;
    }
    text_ += got;
    if (got > 0) return got;
  }
  return std::size_t{0};
}

// False where the stream ends here, well or badly.
Result<bool> GzipDecoder::open_member(InputWindow& in) {
  int first = 0;
  do {  // tapes and some writers pad the last member with zeros
    SCOPE_TRY(first, in.take());
  } while (first == 0 && !first_member_);
  if (first < 0) return false;
  const std::uint64_t start = in.position() - 1;
  SCOPE_TRY(const int second, in.take());
  if (first != kMagic1 || (second >= 0 && second != kMagic2)) {
    note(start, "what follows the gzip data is not gzip");
    return false;
  }
  SCOPE_TRY(const int method, in.take());
  if (method >= 0 && method != kDeflate) {
    note(start, "gzip member with an unknown compression method");
    return false;
  }
  SCOPE_TRY(const bool whole, skip_header(in));
  if (!whole) {
    note(start, kCutHeader);
    return false;
  }
  first_member_ = false;
  isal_inflate_init(state_.get());
  state_->crc_flag = ISAL_GZIP_NO_HDR_VER;
  return true;
}

// The header's own checksum is not compared: a wrong file name must not cost the text, which has
// a checksum of its own. The same goes for flags that are not defined yet.
Result<bool> GzipDecoder::skip_header(InputWindow& in) {
  SCOPE_TRY(const int flags, in.take());
  SCOPE_TRY(bool whole, skip(in, 6));  // time, extra flags, operating system
  if (flags < 0 || !whole) return false;
  if ((flags & kHasExtra) != 0) {
    SCOPE_TRY(const int low, in.take());
    SCOPE_TRY(const int high, in.take());
    if (low < 0 || high < 0) return false;
    SCOPE_TRY(whole, skip(in, static_cast<std::size_t>(low | (high << 8))));
  }
  for (const int text : {kHasName, kHasComment}) {
    if (!whole || (flags & text) == 0) continue;
    SCOPE_TRY(whole, skip_string(in));
  }
  if (whole && (flags & kHasHeaderCrc) != 0) {
    SCOPE_TRY(whole, skip(in, 2));
  }
  return whole;
}

Result<std::size_t> GzipDecoder::inflate(InputWindow& in, std::span<char> into) {
  SCOPE_TRY(const bool more, in.fill());
  const std::span<char> unread = in.unread();
  const std::size_t room = std::min<std::size_t>(into.size(), std::numeric_limits<int>::max());
  state_->next_in = reinterpret_cast<std::uint8_t*>(unread.data());
  state_->avail_in = static_cast<std::uint32_t>(unread.size());
  state_->next_out = reinterpret_cast<std::uint8_t*>(into.data());
  state_->avail_out = static_cast<std::uint32_t>(room);
  const int outcome = isal_inflate(state_.get());
  // At corrupt data ISA-L may count input beyond the end, which wraps what is left of it.
  const std::size_t used =
      state_->avail_in <= unread.size() ? unread.size() - state_->avail_in : unread.size();
  const std::size_t got = room - std::min<std::size_t>(state_->avail_out, room);
  in.consume(used);

  if (outcome == ISAL_INCORRECT_CHECKSUM) {
    // The frame around the data is whole, so the next member is still worth reading.
    if (!damage_) damage_ = Damage{text_ + got, in.position(), "gzip checksum does not match"};
    stage_ = Stage::kHeader;
  } else if (outcome < 0) {
    return stop_at_corruption(outcome, in.position(), got);
  } else if (state_->block_state == ISAL_BLOCK_FINISH) {
    stage_ = Stage::kHeader;
  } else if (got == 0 && used == 0) {
    note(in.position(), more ? "gzip data is corrupt: it leads nowhere"
                             : (state_->block_state == ISAL_CHECKSUM_CHECK
                                    ? "gzip stream ends in the middle of a checksum"
                                    : "gzip stream ends in the middle of a block"));
    stage_ = Stage::kEnd;
  }
  return got;
}

// ISA-L inflates the first 32 KiB or so of a call into its own buffer; at an error a part of the
// good text is still there. Returns how much of what the call delivered is text.
std::size_t GzipDecoder::stop_at_corruption(int isal_error, std::uint64_t file_offset,
                                            std::size_t got) {
  std::size_t left = leftover(*state_);
  if (isal_error == ISAL_INVALID_LOOKBACK || isal_error == ISAL_INVALID_SYMBOL) {
    // It may have counted a copy that it then could not make, of unknown length: those bytes are
    // whatever was in memory. Better to lose a few good ones than to deliver them.
    std::size_t doubtful = ISAL_DEF_MAX_MATCH;
    const std::size_t from_left = std::min(doubtful, left);
    left -= from_left;
    doubtful -= from_left;
    got -= std::min(doubtful, got);
    state_->tmp_out_valid -= static_cast<std::int32_t>(from_left);
  }
  const auto ahead = static_cast<std::uint64_t>(std::clamp(state_->read_in_length, 0, 64)) / 8;
  if (!damage_) {
    damage_ = Damage{text_ + got + left, file_offset - ahead, describe_corruption(isal_error)};
  }
  stage_ = Stage::kLeftover;
  return got;
}

std::size_t GzipDecoder::take_leftover(std::span<char> into) {
  const std::size_t left = leftover(*state_);
  const std::size_t count = std::min(left, into.size());
  std::memcpy(into.data(), state_->tmp_out_buffer + state_->tmp_out_processed, count);
  state_->tmp_out_processed += static_cast<std::int32_t>(count);
  if (count == left) stage_ = Stage::kEnd;
  return count;
}

void GzipDecoder::note(std::uint64_t file_offset, std::string what) {
  if (!damage_) damage_ = Damage{text_, file_offset, std::move(what)};
}

std::string GzipDecoder::save() const {
  if (stage_ != Stage::kMember) return {};
  // The output buffer is the last field, so the part in use is a prefix of the struct.
  const std::size_t used =
      offsetof(inflate_state, tmp_out_buffer) + static_cast<std::size_t>(state_->tmp_out_valid);
  return {reinterpret_cast<const char*>(state_.get()), used};
}

void GzipDecoder::restore(std::string_view saved, std::uint64_t text_offset) {
  text_ = text_offset;
  damage_.reset();
  first_member_ = saved.empty() && text_offset == 0;
  stage_ = saved.empty() ? Stage::kHeader : Stage::kMember;
  if (!saved.empty()) std::memcpy(state_.get(), saved.data(), saved.size());
}

}  // namespace stepscope::bytes
