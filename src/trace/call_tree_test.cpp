#include "trace/call_tree.h"

#include <vector>

#include <gtest/gtest.h>

namespace stepscope::trace {
namespace {

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
    const TreeCounts counts = link_calls({start, duration, kind, phase, flags, parent}, 0,
                                         static_cast<Row>(start.size()), no_rows);
    EXPECT_EQ(parent, c.parents);
    EXPECT_EQ(counts.outliving, c.outliving);
    EXPECT_EQ(counts.overlapping, c.overlapping);
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
    link_calls({start, duration, kind, phase, flags, parent}, 0, static_cast<Row>(start.size()),
               python_rows);
    EXPECT_EQ(parent, c.parents);
  }
}

}  // namespace
}  // namespace stepscope::trace
