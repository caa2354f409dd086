// A stretch of a track reduced to what 1024 columns can show. Aligned: a tile of level L has
// columns of 2^L ns and begins at a multiple of its own length, so that clients and servers keep
// them. Described in docs/formats/http-api.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/timeline/timeline.h"

namespace stepscope::session {

inline constexpr std::uint32_t kTileColumns = 1024;
inline constexpr std::uint32_t kHighestLevel = 52;  // a column of 52 days: no run is longer

struct TileAddress {
  std::uint32_t level = 0;
  std::uint64_t index = 0;
};

// An event at least one column long.
struct Slice {
  base::Nanos start = 0, duration = 0;
  std::uint32_t name = 0, ordinal = kNoOrdinal;
  std::uint16_t window = 0, depth = 0;
  std::uint8_t kind = 0, flags = 0;
};

// Events shorter than a column that begin in the same one.
struct Cell {
  std::uint32_t count = 0;
  std::uint32_t name = 0, ordinal = kNoOrdinal;  // of the longest
  std::uint16_t column = 0, depth = 0, window = 0;
  std::uint8_t kind = 0;
  std::uint8_t covered = 0;  // of 255, rounded up
};

struct TileGap {
  base::Nanos start = 0, duration = 0;
  std::uint8_t cause = 0;
};

struct TilePoint {
  double min = 0, max = 0, last = 0;
  std::uint16_t column = 0;
};

struct Tile {
  base::Nanos start = 0, column_ns = 1;
  std::vector<Slice> slices;       // by depth, then start
  std::vector<Cell> cells;         // by depth, then column
  std::vector<TileGap> gaps;       // by start
  std::vector<TilePoint> points;   // of a counter
  std::optional<double> before;    // the counter's value when the tile begins
  std::vector<std::string> names;  // of slices and cells, each once
};

// The level at which one tile holds the whole run.
std::uint32_t max_level(base::Nanos length);

// The level must not be above kHighestLevel.
Tile make_tile(const TimelineTrack& track, const TileAddress& address);

}  // namespace stepscope::session
