// Files for the tests of this room: text, gzip and zstd made in memory, and a place on disk that
// goes away again.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include "bytes/source.h"

namespace stepscope::bytes {

using Sizes = std::vector<std::size_t>;

inline std::minstd_rand random_from(unsigned seed) { return std::minstd_rand(seed); }

// Looks like a trace: repetitive, with numbers that never repeat.
inline std::string synthetic_text(std::size_t size, unsigned seed = 1) {
  std::minstd_rand random(seed);
  std::string text;
  text.reserve(size + 128);
  while (text.size() < size) {
    text += R"({"ph":"X","cat":"kernel","name":"gemm_)" + std::to_string(random() % 97) +
            R"(","ts":)" + std::to_string(random()) + R"(,"dur":)" +
            std::to_string(random() % 5000) + "},\n";
  }
  text.resize(size);
  return text;
}

inline std::string noise(std::size_t size, unsigned seed = 1) {
  std::minstd_rand random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random() >> 8);
  return text;
}

// One deflate stream; level 0 to 3 of ISA-L.
inline std::string deflate_with(std::string_view text, std::uint32_t level, std::uint16_t wrapper) {
  const auto stream = std::make_unique<isal_zstream>();
  isal_deflate_init(stream.get());
  std::vector<std::uint8_t> level_buffer(ISAL_DEF_LVL3_DEFAULT);
  std::string out(text.size() + text.size() / 2 + 4096, '\0');
  std::string in(text);
  stream->level = level;
  stream->level_buf = level_buffer.data();
  stream->level_buf_size = static_cast<std::uint32_t>(level_buffer.size());
  stream->gzip_flag = wrapper;
  stream->end_of_stream = 1;
  stream->next_in = reinterpret_cast<std::uint8_t*>(in.data());
  stream->avail_in = static_cast<std::uint32_t>(in.size());
  stream->next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream->avail_out = static_cast<std::uint32_t>(out.size());
  if (isal_deflate(stream.get()) != COMP_OK || stream->avail_in != 0) std::abort();
  out.resize(stream->total_out);
  return out;
}

inline std::string gzip_of(std::string_view text, std::uint32_t level = 1) {
  return deflate_with(text, level, IGZIP_GZIP);
}

// A member with the given header flags and the optional fields they announce.
inline std::string gzip_with_header(std::string_view text, int flags, std::string_view fields) {
  std::string member = "\x1f\x8b\x08";
  member += static_cast<char>(flags);
  member += std::string(6, '\0');
  member += fields;
  return member + gzip_of(text).substr(10);
}

inline std::string zstd_of(std::string_view text, bool checksum = false, int level = 1) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, checksum ? 1 : 0);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), out.data(), out.size(), text.data(), text.size());
  if (ZSTD_isError(size) != 0) std::abort();
  out.resize(size);
  return out;
}

// Frames of so many bytes of text, each with its sum.
inline std::string zstd_frames_of(std::string_view text, std::size_t frame_bytes) {
  std::string file;
  for (std::size_t at = 0; at == 0 || at < text.size(); at += frame_bytes) {
    file += zstd_of(text.substr(at, frame_bytes), true);
  }
  return file;
}

inline std::string zstd_skippable(std::string_view content) {
  std::string frame = "\x53\x2a\x4d\x18";
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>(content.size() >> shift);
  return frame.append(content);
}

struct ReadAll {
  std::string text;
  std::optional<Damage> damage;
  std::optional<base::Error> error;
  std::string what() const { return error ? error->message : damage ? damage->what : ""; }
};

inline ReadAll read_all(ByteSource& source, std::size_t span_bytes = 1 << 16) {
  ReadAll all;
  std::vector<char> buffer(span_bytes);
  while (true) {
    const auto got = source.read(buffer);
    if (!got) {
      all.error = got.error();
      return all;
    }
    if (*got == 0) break;
    all.text.append(buffer.data(), *got);
  }
  all.damage = source.damage();
  return all;
}

}  // namespace stepscope::bytes
