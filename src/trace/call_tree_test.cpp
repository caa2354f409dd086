#include "trace/call_tree.h"

#include <vector>

#include <gtest/gtest.h>

#include "trace/key_index.h"

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
    const TreeCounts counts = link_calls({start, duration, kind, phase, flags, parent}, 0,
                                         static_cast<Row>(start.size()), {}, KeyIndex());
    EXPECT_EQ(parent, c.parents);
    EXPECT_EQ(counts.outliving, c.outliving);
    EXPECT_EQ(counts.overlapping, c.overlapping);
  }
}

}  // namespace
}  // namespace stepscope::trace
