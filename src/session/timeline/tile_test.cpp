// Tiles against a count of every event: whatever the level, nothing is lost and nothing doubled.
#include "session/timeline/tile.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::session {
namespace {

using base::Nanos;

struct Random {
  std::mt19937_64 engine;
  Nanos up_to(Nanos most) {
    return static_cast<Nanos>(engine() % static_cast<std::uint64_t>(most + 1));
  }
};

// Lengths and pauses of very different sizes, instants and touching events among them.
std::unique_ptr<OwnEvents> random_events(Random& random, std::size_t count) {
  auto events = std::make_unique<OwnEvents>();
  Nanos at = random.up_to(5000);
  for (std::size_t i = 0; i < count; ++i) {
    const Nanos length = random.up_to(4) == 0 ? 0 : random.up_to(Nanos{1} << random.up_to(14));
    events->add(at, length, "event " + std::to_string(i % 7), static_cast<std::uint8_t>(i % 5));
    const Nanos pause = random.up_to(2) == 0 ? 0 : random.up_to(Nanos{1} << random.up_to(12));
    at += length + pause;
  }
  return events;
}

TimelineTrack random_track(Random& random, std::size_t lanes, std::size_t count) {
  TimelineTrack track;
  track.depth = static_cast<std::uint32_t>(lanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    // A part per lane keeps each row's events apart; rows above it are empty.
    TrackPart part;
    part.own = random_events(random, count);
    part.offset = random.up_to(300);
    for (std::size_t above = 0; above < i; ++above) {
      part.lanes.emplace_back(part.own->start, part.own->duration, std::vector<std::uint32_t>());
    }
    part.lanes.push_back(part.own->lane());
    track.last = std::max(track.last, part.own->start.back() + part.own->duration.back() + 300);
    track.parts.push_back(std::move(part));
  }
  return track;
}

struct Expected {
  std::vector<std::tuple<std::uint16_t, Nanos, Nanos, std::string>> slices;
  struct Sum {
    std::uint32_t count = 0;
    Nanos total = 0, longest = -1;
    std::string name;
  };
  std::map<std::pair<std::uint16_t, std::uint16_t>, Sum> cells;
};

Expected by_hand(const TimelineTrack& track, const TileAddress& address) {
  Expected out;
  const Nanos column = Nanos{1} << address.level;
  const Nanos start = static_cast<Nanos>(address.index) * column * Nanos{kTileColumns};
  const Nanos end = start + column * Nanos{kTileColumns};
  for (std::size_t p = 0; p < track.parts.size(); ++p) {
    const TrackPart& part = track.parts[p];
    const auto depth = static_cast<std::uint16_t>(p);
    for (std::size_t i = 0; i < part.own->start.size(); ++i) {
      const Nanos at = part.own->start[i] + part.offset;
      const Nanos length = part.own->duration[i];
      const std::string& name = part.own->names[i];
      if (length >= column) {
        if (at < end && (at >= start || at + length > start)) {
          out.slices.emplace_back(depth, at, length, name);
        }
      } else if (at >= start && at < end) {
        auto& sum = out.cells[{depth, static_cast<std::uint16_t>((at - start) / column)}];
        ++sum.count;
        sum.total += length;
        if (length > sum.longest) {
          sum.longest = length;
          sum.name = name;
        }
      }
    }
  }
  return out;
}

void expect_as_by_hand(const TimelineTrack& track, const TileAddress& address) {
  const Tile tile = make_tile(track, address);
  const Expected expected = by_hand(track, address);
  ASSERT_EQ(tile.slices.size(), expected.slices.size());
  for (std::size_t i = 0; i < tile.slices.size(); ++i) {
    const Slice& slice = tile.slices[i];
    EXPECT_EQ(std::tuple(slice.depth, slice.start, slice.duration, tile.names[slice.name]),
              expected.slices[i]);
  }
  ASSERT_EQ(tile.cells.size(), expected.cells.size());
  std::size_t i = 0;
  for (const auto& [place, sum] : expected.cells) {
    const Cell& cell = tile.cells[i++];
    EXPECT_EQ(std::pair(cell.depth, cell.column), place);
    EXPECT_EQ(cell.count, sum.count);
    EXPECT_EQ(tile.names[cell.name], sum.name);
    const Nanos filled = std::min(sum.total, tile.column_ns);
    EXPECT_GE(Nanos{cell.covered} * tile.column_ns, filled * 255);
    EXPECT_LT((Nanos{cell.covered} - 1) * tile.column_ns, filled * 255 + (filled == 0 ? 1 : 0));
  }
}

TEST(Tile, IsWhatACountOfEveryEventGives) {
  Random random{std::mt19937_64(7)};
  for (const std::size_t count : {1UL, 3UL, 16UL, 17UL, 300UL, 5000UL}) {
    const TimelineTrack track = random_track(random, 3, count);
    const std::uint32_t highest = max_level(track.last);
    for (std::uint32_t level = 0; level <= highest; ++level) {
      const Nanos tile_ns = Nanos{kTileColumns} << level;
      const auto tiles = static_cast<std::uint64_t>(track.last / tile_ns + 1);
      for (std::uint64_t index = 0; index <= tiles; index += 1 + tiles / 24) {
        SCOPED_TRACE(testing::Message() << count << " events, " << level << "/" << index);
        expect_as_by_hand(track, {level, index});
      }
    }
  }
}

TEST(Tile, HoldsTheWholeRunAtTheHighestLevel) {
  EXPECT_EQ(max_level(0), 0U);
  EXPECT_EQ(max_level(1023), 0U);
  EXPECT_EQ(max_level(1024), 1U);
  EXPECT_EQ(max_level(Nanos{1} << 40), 31U);
}

TEST(Tile, IsEmptyBehindTheEnd) {
  Random random{std::mt19937_64(1)};
  const TimelineTrack track = random_track(random, 1, 20);
  for (const std::uint64_t index : {std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
    for (const std::uint32_t level : {0U, 20U, kHighestLevel}) {
      const Tile tile = make_tile(track, {level, index});
      EXPECT_TRUE(tile.slices.empty() && tile.cells.empty());
    }
  }
}

TEST(Tile, CutsLongNamesAtACharacter) {
  TimelineTrack track;
  track.last = 100;
  TrackPart part;
  part.own = std::make_unique<OwnEvents>();
  std::string name(252, 'x');
  for (int i = 0; i < 10; ++i) name += "é";
  part.own->add(0, 50, name, 0);
  part.lanes.push_back(part.own->lane());
  track.parts.push_back(std::move(part));
  EXPECT_EQ(make_tile(track, {0, 0}).names.at(0), std::string(252, 'x') + "…");
}

TEST(Tile, OfALogNamesTheGravestLine) {
  TimelineTrack track;
  track.kind = TrackKind::kLog;
  track.last = 100;
  TrackPart part;
  part.own = std::make_unique<OwnEvents>();
  part.own->numbered = true;
  part.own->add(1, 0, "info", 2);
  part.own->add(2, 0, "error", 4);
  part.own->add(3, 0, "warning", 3);
  part.lanes.push_back(part.own->lane());
  track.parts.push_back(std::move(part));
  const Tile tile = make_tile(track, {4, 0});
  ASSERT_EQ(tile.cells.size(), 1U);
  EXPECT_EQ(tile.cells[0].count, 3U);
  EXPECT_EQ(tile.cells[0].ordinal, 1U);
  EXPECT_EQ(tile.names[tile.cells[0].name], "error");
  EXPECT_EQ(tile.cells[0].covered, 0);
}

TEST(Tile, KeepsGapsThatCanBeSeenAndAddsUpTheOthers) {
  TimelineTrack track;
  track.last = 100000;
  track.gaps.gaps = std::make_unique<OwnEvents>();
  track.gaps.gaps->add(0, 40, "", 1);
  track.gaps.gaps->add(50, 5, "", 2);
  track.gaps.gaps->add(60, 90000, "", 3);
  track.gaps.lane = track.gaps.gaps->lane();
  const Tile first = make_tile(track, {3, 0});
  ASSERT_EQ(first.gaps.size(), 3U);
  EXPECT_EQ(first.gaps[0].cause, 1);
  EXPECT_EQ(first.gaps[1].start, 48);  // of its column
  EXPECT_EQ(first.gaps[1].duration, 5);
  EXPECT_EQ(first.gaps[1].cause, 2);
  EXPECT_EQ(first.gaps[2].cause, 3);
  const Tile second = make_tile(track, {3, 1});
  ASSERT_EQ(second.gaps.size(), 1U);
  EXPECT_EQ(second.gaps[0].start, 60);
  // From afar both short ones are one, for the cause of the longer.
  const Tile far = make_tile(track, {7, 0});
  ASSERT_EQ(far.gaps.size(), 2U);
  EXPECT_EQ(far.gaps[0].start, 0);
  EXPECT_EQ(far.gaps[0].duration, 45);
  EXPECT_EQ(far.gaps[0].cause, 1);
  EXPECT_EQ(far.gaps[1].start, 60);
}

TEST(Tile, OfACounterIsWhatACountOfEverySampleGives) {
  Random random{std::mt19937_64(3)};
  std::vector<CounterLine::Sample> samples;
  Nanos at = 10;
  for (int i = 0; i < 3000; ++i) {
    samples.push_back({at, static_cast<double>(random.up_to(1000))});
    at += random.up_to(200);
  }
  TimelineTrack track;
  track.kind = TrackKind::kCounter;
  track.last = at;
  track.line = CounterLine(samples);
  for (std::uint32_t level = 0; level <= max_level(at); ++level) {
    const Nanos column = Nanos{1} << level;
    for (std::uint64_t index = 0; index < 3; ++index) {
      const Nanos start = static_cast<Nanos>(index) * column * Nanos{kTileColumns};
      std::map<std::uint16_t, TilePoint> expected;
      std::optional<double> before;
      for (const CounterLine::Sample& sample : samples) {
        if (sample.time < start) before = sample.value;
        if (sample.time < start || sample.time >= start + column * Nanos{kTileColumns}) continue;
        const auto place = static_cast<std::uint16_t>((sample.time - start) / column);
        const auto [found, fresh] =
            expected.try_emplace(place, TilePoint{sample.value, sample.value, sample.value, place});
        found->second.min = std::min(found->second.min, sample.value);
        found->second.max = std::max(found->second.max, sample.value);
        found->second.last = sample.value;
      }
      const Tile tile = make_tile(track, {level, index});
      if (start <= at) {
        EXPECT_EQ(tile.before, before);
      }
      ASSERT_EQ(tile.points.size(), expected.size());
      for (const TilePoint& point : tile.points) {
        const TilePoint& right = expected.at(point.column);
        EXPECT_EQ(std::tuple(point.min, point.max, point.last),
                  std::tuple(right.min, right.max, right.last));
      }
    }
  }
}

TEST(CounterLine, MeanIsByTime) {
  const CounterLine line({{10, 1.0}, {20, 3.0}});
  EXPECT_EQ(line.mean(0, 10), std::nullopt);
  EXPECT_EQ(line.mean(0, 20), 1.0);
  EXPECT_EQ(line.mean(15, 25), 2.0);
  EXPECT_EQ(line.mean(100, 200), 3.0);
}

}  // namespace
}  // namespace stepscope::session
