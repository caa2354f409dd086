// The rules by which torch's caching allocator cuts memory, as figures and small functions. They
// are the same for CUDA and HIP and have held since torch 2.1; what a setting can change is a
// member of Rules.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/units.h"
#include "memory/snapshot.h"

namespace stepscope::analysis::allocator {

using base::Bytes;

inline constexpr Bytes kMiB = Bytes{1} << 20;
inline constexpr Bytes kSmallestBlock = 512;        // every block is a multiple of it
inline constexpr Bytes kLargestSmall = kMiB;        // rounded requests up to this are "small"
inline constexpr Bytes kSmallSegment = 2 * kMiB;    // what the small pool takes from the driver
inline constexpr Bytes kLargeSegment = 20 * kMiB;   // for requests below kOwnSegment
inline constexpr Bytes kOwnSegment = 10 * kMiB;     // from here on a segment is made to measure
inline constexpr Bytes kOwnSegmentStep = 2 * kMiB;  // and rounded up to a multiple of this
inline constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max();

constexpr Bytes up_to_multiple(Bytes size, Bytes unit) { return (size + unit - 1) / unit * unit; }
// The next of `divisions` equal steps between two powers of two.
Bytes up_to_division(Bytes size, std::int64_t divisions);

struct Rules {
  bool expandable_segments = false;
  // Larger free blocks are not cut, nor given to smaller requests.
  Bytes max_split_size = kNoLimit;
  // By how much an uncuttable block may be larger than its request.
  Bytes max_unsplit_surplus = kLargeSegment;
  Bytes large_segment = kLargeSegment;
  // Requests of [2^i, 2^(i+1)) MiB are rounded to one of this many sizes between two powers of two;
  // 0 and 1: to multiples of 512. The first also holds for everything smaller, the last for larger.
  std::array<std::int64_t, 16> divisions = {};
  // Above this share of the memory limit unused segments are returned; 0: never.
  double collect_above = 0;

  Bytes rounded(Bytes requested) const {
    if (requested < kSmallestBlock) return kSmallestBlock;
    const int power = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(requested))) - 1;
    const std::int64_t parts = divisions[static_cast<std::size_t>(std::clamp(power - 20, 0, 15))];
    if (parts > 1 && requested > kSmallestBlock * parts) return up_to_division(requested, parts);
    return up_to_multiple(requested, kSmallestBlock);
  }
  bool is_small(Bytes rounded_size) const { return rounded_size <= kLargestSmall; }
  // How much is taken from the driver for a request no cached block can serve.
  Bytes segment_for(Bytes rounded_size) const;
  // The unit in which an expandable segment grows.
  Bytes page(bool small) const { return small ? kSmallSegment : large_segment; }
  // Whether a free block of this size is kept for others: what may not be cut is for requests that
  // need nearly all of it.
  bool spares(Bytes block, Bytes rounded_size) const {
    if (rounded_size < max_split_size) return block >= max_split_size;
    return block >= rounded_size + max_unsplit_surplus;
  }
  // Whether a free block of this size is cut to serve the request.
  bool cuts(Bytes block, Bytes rounded_size, bool small, bool expandable) const {
    const Bytes rest = block - rounded_size;
    if (small || expandable) return rest >= kSmallestBlock;
    return rounded_size < max_split_size && rest > kLargestSmall;
  }
};

// As the snapshot records them. Where it does not, torch's defaults.
Rules rules_of(const memory::Settings& settings);

// "name:value" of PYTORCH_CUDA_ALLOC_CONF.
std::optional<std::string> conf_value(std::string_view conf, std::string_view name);

}  // namespace stepscope::analysis::allocator
