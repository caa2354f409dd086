// Cuts tiles from the timeline: columns of a zoom level with what they hold.
#include "session/timeline/tile.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace stepscope::session {
namespace {

using base::Nanos;

constexpr std::size_t kMostNameBytes = 256;

// Cut at a character, not within one.
std::string short_name(std::string_view name) {
  if (name.size() <= kMostNameBytes) return std::string(name);
  std::size_t size = kMostNameBytes - 3;
  while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xC0U) == 0x80U) --size;
  return std::string(name.substr(0, size)) + "…";
}

// Columns of the tile in the time of one window.
struct Grid {
  Nanos start, column;
  Nanos end() const { return start + column * kTileColumns; }
  std::uint16_t column_of(Nanos time) const {
    return static_cast<std::uint16_t>((time - start) / column);
  }
};

class TileMaker {
 public:
  TileMaker(Nanos start, Nanos column) {
    tile_.start = start;
    tile_.column_ns = column;
  }

  void add_lane(const TimelineTrack& track, const TrackPart& part, std::uint16_t depth) {
    const Lane& lane = part.lanes[depth];
    const Grid grid{tile_.start - part.offset, tile_.column_ns};
    std::size_t begin = lane.first_at(grid.start);
    const std::size_t end = lane.first_at(grid.end(), begin);
    if (begin > 0 && lane.end(begin - 1) > grid.start && lane.duration(begin - 1) >= grid.column) {
      add_slice(part, lane, begin - 1, depth);
    }
    std::vector<std::size_t> wide;
    lane.at_least(grid.column, begin, end, [&](std::size_t position) { wide.push_back(position); });
    auto next_wide = wide.begin();
    const bool gravest = track.kind == TrackKind::kLog;
    while (begin < end) {
      const std::uint16_t column = grid.column_of(lane.start(begin));
      const std::size_t stop =
          std::min(end, lane.first_at(grid.start + (Nanos{column} + 1) * grid.column, begin));
      Sum sum;
      for (; next_wide != wide.end() && *next_wide < stop; ++next_wide) {
        sum.add(part, lane, begin, *next_wide, gravest);
        add_slice(part, lane, *next_wide, depth);
        begin = *next_wide + 1;
      }
      sum.add(part, lane, begin, stop, gravest);
      if (sum.count > 0) add_cell(part, lane, sum, column, depth);
      begin = stop;
    }
  }

  // Gaps too short to be seen stand in one of their column, as long as they are together: a device
  // that waits often and briefly must not look busy from afar.
  void add_gaps(const GapLane& gaps) {
    if (!gaps.lane) return;
    const Lane& lane = *gaps.lane;
    const Grid grid{tile_.start, tile_.column_ns};
    std::size_t begin = lane.first_at(grid.start);
    const std::size_t end = lane.first_at(grid.end(), begin);
    if (begin > 0 && lane.end(begin - 1) > grid.start && lane.duration(begin - 1) >= grid.column) {
      add_gap(gaps, begin - 1, lane.start(begin - 1), lane.duration(begin - 1));
    }
    std::vector<std::size_t> wide;
    lane.at_least(grid.column, begin, end, [&](std::size_t position) { wide.push_back(position); });
    auto next_wide = wide.begin();
    while (begin < end) {
      const std::uint16_t column = grid.column_of(lane.start(begin));
      const Nanos from = grid.start + Nanos{column} * grid.column;
      const std::size_t stop = std::min(end, lane.first_at(from + grid.column, begin));
      Nanos total = 0;
      std::size_t longest = begin;
      const auto add = [&](std::size_t first, std::size_t end) {
        if (first >= end) return;
        const std::size_t best = lane.longest(first, end);
        if (total == 0 || lane.duration(best) > lane.duration(longest)) longest = best;
        total += lane.total(first, end);
      };
      for (; next_wide != wide.end() && *next_wide < stop; ++next_wide) {
        add(begin, *next_wide);
        add_gap(gaps, *next_wide, lane.start(*next_wide), lane.duration(*next_wide));
        begin = *next_wide + 1;
      }
      add(begin, stop);
      // Shorter than its column, so that it differs from a single gap.
      if (total > 0) add_gap(gaps, longest, from, std::min(total, grid.column - 1));
      begin = stop;
    }
    std::ranges::stable_sort(tile_.gaps, {}, &TileGap::start);
  }

  void add_line(const CounterLine& line) {
    const Grid grid{tile_.start, tile_.column_ns};
    std::size_t begin = line.first_at(grid.start);
    if (begin > 0) tile_.before = line[begin - 1].value;
    const std::size_t end = line.first_at(grid.end());
    while (begin < end) {
      const std::uint16_t column = grid.column_of(line[begin].time);
      const std::size_t stop =
          std::min(end, line.first_at(grid.start + (Nanos{column} + 1) * grid.column));
      const Extent extent = line.extent(begin, stop);
      tile_.points.push_back({extent.min, extent.max, line[stop - 1].value, column});
      begin = stop;
    }
  }

  // Parts of several windows and lanes come one after the other.
  Tile take(std::size_t parts) && {
    if (parts > 1) {
      std::ranges::stable_sort(tile_.slices, [](const Slice& a, const Slice& b) {
        return std::pair(a.depth, a.start) < std::pair(b.depth, b.start);
      });
      std::ranges::stable_sort(tile_.cells, [](const Cell& a, const Cell& b) {
        return std::pair(a.depth, a.column) < std::pair(b.depth, b.column);
      });
    }
    return std::move(tile_);
  }

 private:
  struct Sum {
    std::uint64_t count = 0;
    Nanos total = 0;
    std::size_t longest = 0;

    void add(const TrackPart& part, const Lane& lane, std::size_t begin, std::size_t end,
             bool gravest) {
      if (begin >= end) return;
      std::size_t best = lane.longest(begin, end);
      const auto grave = [&](std::size_t position) { return part.kind(lane.item(position)); };
      // Lines of a log are few, and all of them are as short.
      for (std::size_t i = begin; gravest && i < end; ++i) {
        if (grave(i) > grave(best)) best = i;
      }
      const bool better = gravest ? count > 0 && grave(best) > grave(longest)
                                  : count > 0 && lane.duration(best) > lane.duration(longest);
      if (count == 0 || better) longest = best;
      count += end - begin;
      total += lane.total(begin, end);
    }
  };

  void add_gap(const GapLane& gaps, std::size_t position, Nanos start, Nanos duration) {
    tile_.gaps.push_back({start, duration, gaps.gaps->kinds[gaps.lane->item(position)]});
  }

  void add_slice(const TrackPart& part, const Lane& lane, std::size_t position,
                 std::uint16_t depth) {
    const std::uint32_t item = lane.item(position);
    tile_.slices.push_back({.start = lane.start(position) + part.offset,
                            .duration = lane.duration(position),
                            .name = name_index(part.name(item)),
                            .ordinal = part.ordinal(item),
                            .window = static_cast<std::uint16_t>(part.window),
                            .depth = depth,
                            .kind = part.kind(item),
                            .flags = part.flags(item)});
  }

  void add_cell(const TrackPart& part, const Lane& lane, const Sum& sum, std::uint16_t column,
                std::uint16_t depth) {
    const std::uint32_t item = lane.item(sum.longest);
    const Nanos total = std::min(sum.total, tile_.column_ns);
    const Nanos covered = (total * 255 + tile_.column_ns - 1) / tile_.column_ns;
    tile_.cells.push_back({.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(
                               sum.count, std::numeric_limits<std::uint32_t>::max())),
                           .name = name_index(part.name(item)),
                           .ordinal = part.ordinal(item),
                           .column = column,
                           .depth = depth,
                           .window = static_cast<std::uint16_t>(part.window),
                           .kind = part.kind(item),
                           .covered = static_cast<std::uint8_t>(covered)});
  }

  // The texts live as long as the track.
  std::uint32_t name_index(std::string_view name) {
    const auto [found, fresh] =
        names_.try_emplace(name, static_cast<std::uint32_t>(tile_.names.size()));
    if (fresh) tile_.names.push_back(short_name(name));
    return found->second;
  }

  Tile tile_;
  std::unordered_map<std::string_view, std::uint32_t> names_;
};

}  // namespace

std::uint32_t max_level(Nanos length) {
  std::uint32_t level = 0;
  while (level < kHighestLevel && (Nanos{kTileColumns} << level) <= length) ++level;
  return level;
}

Tile make_tile(const TimelineTrack& track, const TileAddress& address) {
  const Nanos column = Nanos{1} << address.level;
  constexpr Nanos kForever = std::numeric_limits<Nanos>::max();
  const auto tiles = static_cast<std::uint64_t>(kForever / column / Nanos{kTileColumns});
  const Nanos start = address.index < tiles
                          ? static_cast<Nanos>(address.index) * column * Nanos{kTileColumns}
                          : kForever;
  TileMaker maker(start, column);
  // After the end there is nothing, and no more room in a number.
  if (start > track.last) return std::move(maker).take(0);
  if (track.kind == TrackKind::kCounter) {
    maker.add_line(track.line);
    return std::move(maker).take(1);
  }
  for (const TrackPart& part : track.parts) {
    for (std::size_t depth = 0; depth < part.lanes.size(); ++depth) {
      maker.add_lane(track, part, static_cast<std::uint16_t>(depth));
    }
  }
  maker.add_gaps(track.gaps);
  return std::move(maker).take(track.parts.size());
}

}  // namespace stepscope::session
