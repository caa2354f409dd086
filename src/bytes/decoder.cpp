// One face for plain text, gzip and zstd.
#include "bytes/decoder.h"

#include <algorithm>

namespace stepscope::bytes {

using base::Result;

Decoder::Decoder(Encoding encoding) {
  if (encoding == Encoding::kGzip) decoder_.emplace<GzipDecoder>();
  if (encoding == Encoding::kZstd) decoder_.emplace<ZstdDecoder>();
}

Result<std::size_t> Decoder::read(InputWindow& in, std::span<char> into) {
  if (auto* gzip = std::get_if<GzipDecoder>(&decoder_)) return gzip->read(in, into);
  if (auto* zstd = std::get_if<ZstdDecoder>(&decoder_)) return zstd->read(in, into);
  const std::span<char> unread = in.unread();
  if (unread.empty()) return in.read_past(into);
  const std::size_t count = std::min(unread.size(), into.size());
  std::copy_n(unread.data(), count, into.data());
  in.consume(count);
  return count;
}

std::optional<Damage> Decoder::damage() const {
  if (const auto* gzip = std::get_if<GzipDecoder>(&decoder_)) return gzip->damage();
  if (const auto* zstd = std::get_if<ZstdDecoder>(&decoder_)) return zstd->damage();
  return std::nullopt;
}

std::optional<Checkpoint> Decoder::checkpoint(const InputWindow& in, std::uint64_t text_position,
                                              std::uint64_t earliest) const {
  if (const auto* gzip = std::get_if<GzipDecoder>(&decoder_)) {
    if (text_position < earliest || !gzip->resumable()) return std::nullopt;
    return Checkpoint{text_position, in.position(), gzip->save()};
  }
  if (const auto* zstd = std::get_if<ZstdDecoder>(&decoder_)) {
    if (zstd->frame_text_offset() < earliest) return std::nullopt;
    return Checkpoint{zstd->frame_text_offset(), zstd->frame_file_offset(), {}};
  }
  return std::nullopt;
}

void Decoder::restore(const Checkpoint& from, InputWindow& in) {
  in.seek(from.file_offset);
  if (auto* gzip = std::get_if<GzipDecoder>(&decoder_)) {
    gzip->restore(from.decoder, from.text_offset);
  }
  if (auto* zstd = std::get_if<ZstdDecoder>(&decoder_)) zstd->restart(from.text_offset);
}

}  // namespace stepscope::bytes
