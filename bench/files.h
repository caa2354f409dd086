// Files for the benchmarks: whole in memory, plain or unpacked, chosen by content.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace stepscope::bench {

// Throws std::runtime_error; "-" is standard input.
std::string read_file(const std::string& path);

enum class Packing : std::uint8_t { kPlain, kGzip, kZstd };
Packing packing_of(std::string_view bytes);

// Hands the unpacked text on in pieces, which are valid only during the call.
using Piece = std::function<void(std::string_view)>;
void inflate_gzip(std::string_view bytes, std::span<char> window, const Piece& piece);
void inflate_zstd(std::string_view bytes, std::span<char> window, const Piece& piece);

// The text of a file, unpacked if need be.
std::string read_text(const std::string& path);

}  // namespace stepscope::bench
