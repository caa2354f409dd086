// CRC-32C: finds damage, proves nothing about intent.
#pragma once

#include <cstdint>
#include <span>

namespace stepscope::wire {

// `so_far` continues a checksum.
std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t so_far = 0);

}  // namespace stepscope::wire
