// How much evidence a rule itself gives. advise() cuts the rest off, so only asking the rule alone
// shows that it counts well.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "advice/facts.h"
#include "advice/rule.h"
#include "analysis/analysis.h"

namespace stepscope::advice {
namespace {

using Row = std::vector<std::pair<std::string_view, base::Cell>>;

analysis::Answer answer_of(std::string_view analysis) {
  return analysis::unanswered(*analysis::find_analysis(analysis), "");
}

// Columns that are not named are null.
void add(analysis::Answer& answer, std::string_view table, const Row& row) {
  const auto found = std::ranges::find(answer.tables, table, &base::Table::name);
  ASSERT_NE(found, answer.tables.end()) << table;
  std::vector<base::Cell> cells;
  for (const base::ColumnShape& column : found->shape().columns) {
    const auto cell = std::ranges::find(row, column.name, &Row::value_type::first);
    cells.push_back(cell == row.end() ? base::Cell(base::Null{}) : cell->second);
  }
  found->add(cells);
}

analysis::Answer four_steps() {
  analysis::Answer steps = answer_of("steps");
  add(steps, "times", {{"rank", 0}, {"steps", 4}, {"mean_ns", 10e6}, {"median_ns", 10'000'000}});
  return steps;
}

TEST(Evidence, OfManyCollectivesTheFirstAreShown) {
  const analysis::Answer steps = four_steps();
  analysis::Answer overlap = answer_of("overlap");
  add(overlap, "devices", {{"rank", 0}, {"device", 0}, {"exposed_ns", 16'000'000}});
  for (const char* name : {"hidden", "a", "b", "c", "d", "e"}) {
    const int exposed = name == std::string_view("hidden") ? 0 : 3'000'000;
    add(overlap, "collectives", {{"rank", 0}, {"collective", name}, {"exposed_ns", exposed}});
  }
  const Facts facts({{"steps", &steps}, {"overlap", &overlap}}, {}, Framework::kPyTorch);
  const std::vector<Finding> findings = kExposedCommunication.judge(facts);
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), kMostEvidence);
  EXPECT_EQ(findings[0].evidence[0].text.figures[0].text, "a");
  EXPECT_EQ(findings[0].evidence[2].text.figures[0].text, "c");
}

TEST(Evidence, OfManyFullDevicesAllRanksAreNamed) {
  constexpr std::int64_t kGiB = 1 << 30;
  analysis::Answer overview = answer_of("overview");
  for (int rank = 0; rank < 5; ++rank) {
    add(overview, "devices",
        {{"rank", rank},
         {"device", 0},
         {"peak_reserved_bytes", (95 + rank) * kGiB},
         {"memory_bytes", 100 * kGiB}});
  }
  const Facts facts({{"overview", &overview}}, {}, Framework::kPyTorch);
  const std::vector<Finding> findings = kMemoryPressure.judge(facts);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].evidence.size(), kMostEvidence);
  EXPECT_EQ(findings[0].evidence[0].rank, 4);  // the fullest first
  EXPECT_EQ(findings[0].ranks, (std::vector<std::int32_t>{4, 3, 2, 1, 0}));
}

}  // namespace
}  // namespace stepscope::advice
