// Text that cannot be read again, as from a pipe, kept in memory: in small zstd pieces that are
// compressed each for itself, so that one event costs one small decompression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bytes/text_reader.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace stepscope::bytes {

class TextBlocks final : public TextReader {
 public:
  static constexpr std::size_t kPieceBytes = 64 * 1024;

  TextBlocks();
  ~TextBlocks() override;
  TextBlocks(const TextBlocks&) = delete;
  TextBlocks& operator=(const TextBlocks&) = delete;

  // Blocks of any size, at ascending offsets; what is left out between two is not kept.
  base::Status append(std::uint64_t text_offset, std::span<const char> text);

  // As TextReader says, and: short at text that was left out, an error inside it.
  base::Result<std::size_t> read_at(std::uint64_t text_offset, std::span<char> into) override;

  std::uint64_t text_end() const { return tail_start_ + tail_.size(); }
  std::size_t memory_bytes() const;

 private:
  struct Piece {
    std::uint64_t text_offset;
    std::uint32_t text_size;
    std::uint32_t compressed_size;
    std::unique_ptr<char[]> compressed;
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  base::Status add_piece(std::uint64_t text_offset, std::span<const char> text);
  base::Status close_tail();
  // The kept text from that offset on, as far as it lies in one piece; empty where there is none.
  base::Result<std::span<const char>> kept_at(std::uint64_t text_offset);

  std::vector<Piece> pieces_;
  std::size_t pieces_bytes_ = 0;
  std::string tail_;  // the end of the text, less than a piece, not compressed yet
  std::uint64_t tail_start_ = 0;
  std::vector<char> scratch_;   // a piece while it is compressed
  std::vector<char> unpacked_;  // the piece that was read last
  std::size_t unpacked_piece_ = kNone;
  std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> compressor_;
  std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> decompressor_;
};

}  // namespace stepscope::bytes
