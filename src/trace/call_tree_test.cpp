#include "trace/call_tree.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::trace {
namespace {

// The tree of a track in stretches of some rows, the last walked first.
TreeCounts link_calls(const TreeColumns& columns, PythonRows& python, std::size_t rows) {
  std::ranges::fill(columns.parent, 0);
  TrackTree tree(columns, python, 0, static_cast<Row>(columns.start.size()), rows);
  for (std::size_t i = tree.stretches(); i > 0; --i) tree.walk(i - 1);
  tree.mark_outliving();
  return tree.counts();
}

struct Case {
  const char* name;
  std::vector<std::pair<base::Nanos, base::Nanos>> spans;  // start, duration, in row order
  std::vector<Row> parents;
  std::uint64_t outliving = 0, overlapping = 0;
};

const Case kCases[] = {
    {"nested and following", {{0, 100}, {10, 20}, {40, 20}}, {kNoRow, 0, 0}},
    {"one that begins where another ends follows it", {{0, 100}, {100, 50}}, {kNoRow, kNoRow}},
    {"an equal span is a child", {{0, 100}, {0, 100}}, {kNoRow, 0}},
    {"points hold nothing", {{0, 100}, {10, 0}, {10, 0}}, {kNoRow, 0, 0}},
    {"a callee may end 1 us late", {{0, 5000}, {1000, 5000}}, {kNoRow, 0}, 1, 0},
    {"but not more", {{0, 5000}, {1000, 5001}}, {kNoRow, kNoRow}, 0, 1},
    {"what overlaps is a child of who holds both",
     {{0, 9000}, {0, 3000}, {1000, 6000}},
     {kNoRow, 0, 0},
     0,
     1},
};

TEST(LinkCalls, NestsByTime) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    std::vector<base::Nanos> start;
    std::vector<base::Nanos> duration;
    for (const auto& [from, length] : c.spans) {
      start.push_back(from);
      duration.push_back(length);
    }
    const std::vector<Kind> kind(start.size(), Kind::kCpuOp);
    const std::vector<Phase> phase(start.size(), Phase::kSpan);
    std::vector<std::uint8_t> flags(start.size());
    std::vector<Row> parent(start.size(), kNoRow);
    const PythonIds no_ids;
    PythonRows no_rows(no_ids);
    for (std::size_t rows = 1; rows <= start.size(); ++rows) {
      SCOPED_TRACE(rows);
      const TreeCounts counts =
          link_calls({start, duration, kind, phase, flags, parent}, no_rows, rows);
      EXPECT_EQ(parent, c.parents);
      EXPECT_EQ(counts.outliving, c.outliving);
      EXPECT_EQ(counts.overlapping, c.overlapping);
    }
  }
}

struct Frame {
  base::Nanos start, duration;
  std::int64_t id = -1, parent_id = -1;  // an operator without an id
};

struct PythonCase {
  const char* name;
  std::vector<Frame> frames;
  std::vector<Row> parents;
};

const PythonCase kPythonCases[] = {
    {"a frame that lies around is the caller whatever the ids say",
     {{0, 9000, 1}, {1000, 5000, 2, 1}, {2000, 1000, 3, 1}},
     {kNoRow, 0, 1}},
    {"so is an operator, and a frame in it",
     {{0, 9000, 1}, {1000, 7000}, {2000, 5000, 2, 1}, {3000, 1000, 3, 1}},
     {kNoRow, 0, 1, 2}},
    {"of twins the ids choose",
     {{0, 9000, 1}, {1000, 2000, 2, 1}, {1000, 2000, 3, 1}},
     {kNoRow, 0, 0}},
    {"but not past an operator",
     {{0, 9000, 1}, {1000, 2000}, {1000, 2000, 2, 1}, {1000, 2000, 3, 1}},
     {kNoRow, 0, 1, 1}},
    {"a call that ends after the frame by clock noise is of whom the ids name",
     {{0, 9000, 1}, {1000, 2000, 2, 1}, {2000, 1500, 3, 1}},
     {kNoRow, 0, 0}},
    {"of frames that overlap the ids choose",
     {{0, 9000, 1}, {1000, 4000, 2, 1}, {3000, 5000, 3, 1}, {4000, 500, 4, 2}},
     {kNoRow, 0, 0, 1}},
    {"a frame that has ended calls nothing",
     {{0, 9000, 1}, {1000, 2000, 2, 1}, {4000, 500, 3, 2}},
     {kNoRow, 0, 0}},
};

TEST(LinkCalls, AsksPythonsIdsOnlyWhereTimesLeaveItOpen) {
  for (const PythonCase& c : kPythonCases) {
    SCOPED_TRACE(c.name);
    std::vector<base::Nanos> start;
    std::vector<base::Nanos> duration;
    std::vector<Kind> kind;
    std::vector<Row> rows;
    for (const Frame& frame : c.frames) {
      const Row row = static_cast<Row>(start.size());
      start.push_back(frame.start);
      duration.push_back(frame.duration);
      kind.push_back(frame.id < 0 ? Kind::kCpuOp : Kind::kPython);
      if (frame.id >= 0) rows.push_back(row);
    }
    PythonIds python{base::RowSet(start.size()), {rows.size(), {0, 9}}, {rows.size(), {-1, 9}}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      python.rows.add(rows[i]);
      python.id.set(i, c.frames[rows[i]].id);
      python.parent_id.set(i, c.frames[rows[i]].parent_id);
    }
    python.rows.seal();
    const std::vector<Phase> phase(start.size(), Phase::kSpan);
    std::vector<std::uint8_t> flags(start.size());
    std::vector<Row> parent(start.size(), kNoRow);
    PythonRows python_rows(python);
    for (std::size_t stretch = 1; stretch <= start.size(); ++stretch) {
      SCOPED_TRACE(stretch);
      link_calls({start, duration, kind, phase, flags, parent}, python_rows, stretch);
      EXPECT_EQ(parent, c.parents);
    }
  }
}

// Spans, operators and Python frames, mostly nested as calls are, with ids that now and then name
// another caller.
struct Calls {
  std::vector<base::Nanos> start, duration;
  std::vector<Kind> kind;
  std::vector<Phase> phase;
  PythonIds python;
};

Calls some_calls(std::size_t size, std::minstd_rand& random) {
  Calls calls;
  std::vector<base::Nanos> ends;
  base::Nanos now = 0;
  std::vector<std::int64_t> ids;
  const unsigned frames = random() % 4;
  for (std::size_t i = 0; i < size; ++i) {
    now += static_cast<base::Nanos>(random() % 3 == 0 ? random() % 3000 : 0);
    while (!ends.empty() && (ends.back() <= now || random() % 8 == 0)) {
      now = std::max(now, ends.back());
      ends.pop_back();
    }
    const base::Nanos most = ends.empty() ? 90'000 : std::max<base::Nanos>(ends.back() - now, 1);
    base::Nanos length = static_cast<base::Nanos>(random()) % (most + 1);
    if (random() % 16 == 0) length += static_cast<base::Nanos>(random() % 3000);  // outlives
    if (random() % 4 == 0) length = most;
    calls.start.push_back(now);
    calls.duration.push_back(length);
    ends.push_back(now + length);
    calls.kind.push_back(random() % 16 == 0 ? Kind::kOverhead : Kind::kCpuOp);
    calls.phase.push_back(random() % 16 == 0 ? Phase::kInstant : Phase::kSpan);
    ids.push_back(random() % 4 < frames ? static_cast<std::int64_t>(i) : -1);
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(calls.start[a], -calls.duration[a]) <
           std::pair(calls.start[b], -calls.duration[b]);
  });
  const std::vector<base::Nanos> start = calls.start;
  const std::vector<base::Nanos> duration = calls.duration;
  for (std::size_t i = 0; i < size; ++i) {
    calls.start[i] = start[order[i]];
    calls.duration[i] = duration[order[i]];
  }
  const auto count = static_cast<std::size_t>(
      std::count_if(ids.begin(), ids.end(), [](std::int64_t id) { return id >= 0; }));
  const auto most = static_cast<std::int64_t>(size);
  calls.python = {base::RowSet(size), {count, {-1, most}}, {count, {-1, most}}};
  std::size_t entry = 0;
  for (std::size_t row = 0; row < size; ++row) {
    if (ids[row] < 0) continue;
    calls.python.rows.add(static_cast<Row>(row));
    calls.python.id.set(entry, ids[row]);
    const auto back = static_cast<std::int64_t>(random() % 12);
    calls.python.parent_id.set(entry++, std::max<std::int64_t>(ids[row] - back, -1));
  }
  calls.python.rows.seal();
  return calls;
}

TEST(LinkCalls, ATrackInStretchesHasTheTreeOfTheWhole) {
  constexpr unsigned kSeed = 5;
  constexpr std::size_t kRows = 120;
  std::minstd_rand random(kSeed);
  std::uint64_t with_noise = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const Calls calls = some_calls(kRows, random);
    PythonRows python(calls.python);
    std::vector<std::uint8_t> flags(kRows);
    std::vector<Row> parent(kRows);
    const auto tree = [&](std::size_t stretch) {
      std::ranges::fill(flags, 0);
      return link_calls({calls.start, calls.duration, calls.kind, calls.phase, flags, parent},
                        python, stretch);
    };
    const TreeCounts expected = tree(kRows);
    const std::vector<Row> expected_parent = parent;
    const std::vector<std::uint8_t> expected_flags = flags;
    if (expected.outliving != 0 && expected.overlapping != 0) ++with_noise;
    for (const std::size_t stretch : {1U, 2U, 3U, 7U, 20U, 50U}) {
      SCOPED_TRACE(stretch);
      const TreeCounts counts = tree(stretch);
      ASSERT_EQ(parent, expected_parent);
      ASSERT_EQ(flags, expected_flags);
      EXPECT_EQ(counts.outliving, expected.outliving);
      EXPECT_EQ(counts.overlapping, expected.overlapping);
      EXPECT_EQ(counts.first_outliving, expected.first_outliving);
      EXPECT_EQ(counts.first_overlapping, expected.first_overlapping);
    }
  }
  EXPECT_GT(with_noise, 100U);
}

}  // namespace
}  // namespace stepscope::trace
