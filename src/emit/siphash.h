// SipHash-2-4 (Aumasson, Bernstein 2012): a keyed hash of 64 bits. Without the key its values tell
// nothing about the text, which is what redaction needs; with a fixed key it names Perfetto tracks.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::emit {

std::uint64_t siphash(std::uint64_t key_low, std::uint64_t key_high, std::string_view text);

}  // namespace stepscope::emit
