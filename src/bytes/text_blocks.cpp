// Keeps text that cannot be read again, compressed in pieces.
#include "bytes/text_blocks.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <zstd.h>

namespace stepscope::bytes {

using base::Code;
using base::Done;
using base::fail;
using base::Result;
using base::Status;

namespace {

constexpr int kLevel = 1;  // it stands in the way of a pipe; higher levels gain little on 64 KiB

}  // namespace

TextBlocks::TextBlocks()
    : compressor_(ZSTD_createCCtx(), ZSTD_freeCCtx),
      decompressor_(ZSTD_createDCtx(), ZSTD_freeDCtx) {}

TextBlocks::~TextBlocks() = default;

Status TextBlocks::append(std::uint64_t text_offset, std::span<const char> text) {
  if (text_offset < text_end()) {
    return fail(
        Code::kInvalidArgument,
        fmt::format("text at offset {} comes after text that ends at {}", text_offset, text_end()));
  }
  if (text.empty()) return Done{};
  if (text_offset > text_end()) {
    SCOPE_TRY([[maybe_unused]] const Done closed, close_tail());
    tail_start_ = text_offset;
  }
  if (!tail_.empty()) {
    const std::size_t count = std::min(text.size(), kPieceBytes - tail_.size());
    tail_.append(text.data(), count);
    text = text.subspan(count);
    if (tail_.size() == kPieceBytes) {
      SCOPE_TRY([[maybe_unused]] const Done closed, close_tail());
    }
  }
  while (text.size() >= kPieceBytes) {
    SCOPE_TRY([[maybe_unused]] const Done added, add_piece(tail_start_, text.first(kPieceBytes)));
    tail_start_ += kPieceBytes;
    text = text.subspan(kPieceBytes);
  }
  tail_.append(text.data(), text.size());
  return Done{};
}

Status TextBlocks::close_tail() {
  if (tail_.empty()) return Done{};
  SCOPE_TRY([[maybe_unused]] const Done added, add_piece(tail_start_, tail_));
  tail_start_ += tail_.size();
  tail_.clear();
  return Done{};
}

Status TextBlocks::add_piece(std::uint64_t text_offset, std::span<const char> text) {
  scratch_.resize(ZSTD_compressBound(kPieceBytes));
  const std::size_t size = ZSTD_compressCCtx(compressor_.get(), scratch_.data(), scratch_.size(),
                                             text.data(), text.size(), kLevel);
  if (ZSTD_isError(size) != 0) {
    return fail(Code::kLimit, fmt::format("text at offset {} cannot be kept: {}", text_offset,
                                          ZSTD_getErrorName(size)));
  }
  std::unique_ptr<char[]> compressed(new char[size]);
  std::copy_n(scratch_.data(), size, compressed.get());
  pieces_.push_back({text_offset, static_cast<std::uint32_t>(text.size()),
                     static_cast<std::uint32_t>(size), std::move(compressed)});
  pieces_bytes_ += size;
  return Done{};
}

Result<std::size_t> TextBlocks::read_at(std::uint64_t text_offset, std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size() && text_offset + filled < text_end()) {
    SCOPE_TRY(const std::span<const char> kept, kept_at(text_offset + filled));
    if (kept.empty()) {
      if (filled > 0) break;
      return fail(Code::kNotFound, fmt::format("text at offset {} was not kept", text_offset));
    }
    const std::size_t count = std::min(kept.size(), into.size() - filled);
    std::copy_n(kept.data(), count, into.data() + filled);
    filled += count;
  }
  return filled;
}

Result<std::span<const char>> TextBlocks::kept_at(std::uint64_t text_offset) {
  if (text_offset >= tail_start_) {
    return std::span<const char>(tail_).subspan(
        static_cast<std::size_t>(text_offset - tail_start_));
  }
  const auto after = std::upper_bound(
      pieces_.begin(), pieces_.end(), text_offset,
      [](std::uint64_t offset, const Piece& piece) { return offset < piece.text_offset; });
  if (after == pieces_.begin()) return std::span<const char>();
  const auto piece = std::prev(after);
  const std::uint64_t from = text_offset - piece->text_offset;
  if (from >= piece->text_size) return std::span<const char>();

  const auto number = static_cast<std::size_t>(piece - pieces_.begin());
  if (number != unpacked_piece_) {
    unpacked_piece_ = kNone;
    unpacked_.resize(kPieceBytes);
    const std::size_t size =
        ZSTD_decompressDCtx(decompressor_.get(), unpacked_.data(), unpacked_.size(),
                            piece->compressed.get(), piece->compressed_size);
    if (size != piece->text_size) {
      return fail(Code::kFormat, fmt::format("text kept at offset {} is damaged", text_offset));
    }
    unpacked_piece_ = number;
  }
  return std::span<const char>(unpacked_)
      .first(piece->text_size)
      .subspan(static_cast<std::size_t>(from));
}

std::size_t TextBlocks::memory_bytes() const {
  return sizeof(*this) + pieces_.capacity() * sizeof(Piece) + pieces_bytes_ + tail_.capacity() +
         scratch_.capacity() + unpacked_.capacity() + ZSTD_sizeof_CCtx(compressor_.get()) +
         ZSTD_sizeof_DCtx(decompressor_.get());
}

}  // namespace stepscope::bytes
