// The tables of a comparison, and the sentences for what could not be compared.
#include "analysis/compare/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "analysis/compare/matched.h"
#include "analysis/steps/step_parts.h"
#include "base/table_line.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Null;
using base::TableLine;
using base::Type;
using base::Unit;

constexpr base::ColumnShape kChangeShare{"change_share", Type::kReal, Unit::kShare,
                                         "change, of what it was before"};

constexpr std::array kTimeColumns = std::to_array<base::ColumnShape>({
    {"quantity", Type::kText, Unit::kNone,
     "typical: the mean of the middle half of the steps; mean: of all of them"},
    {"before_ns", Type::kReal, Unit::kNanos, "of the first run"},
    {"after_ns", Type::kReal, Unit::kNanos, "of the second run"},
    {"change_ns", Type::kReal, Unit::kNanos, "after less before"},
    kChangeShare,
    {"low_share", Type::kReal, Unit::kShare,
     "the change is at least this, of before; in 95 of 100 cases between this and the next"},
    {"high_share", Type::kReal, Unit::kShare, "and at most this"},
    {"significant", Type::kBool, Unit::kNone,
     "whether it is more than steps and runs differ by themselves"},
    {"smallest_seen_share", Type::kReal, Unit::kShare,
     "a slowdown of at least this, of before, would be seen 95 times in 100"},
});
constexpr std::array kPartColumns = std::to_array<base::ColumnShape>({
    {"part", Type::kText, Unit::kNone, "as in the analysis `steps`; they add up to the step"},
    {"before_ns", Type::kReal, Unit::kNanos, "of the typical step"},
    {"after_ns", Type::kReal, Unit::kNanos, "of the typical step"},
    {"change_ns", Type::kReal, Unit::kNanos, "after less before"},
    kChangeShare,
});
constexpr std::array kKernelColumns = std::to_array<base::ColumnShape>({
    {"verdict", Type::kText, Unit::kNone, "added, removed, slower, faster or same"},
    {"kernel", Type::kText, Unit::kNone, "name of the kernel, copy or memset"},
    {"was", Type::kText, Unit::kNone,
     "name before, where the same operators launch another kernel now"},
    {"operator", Type::kText, Unit::kNone, "that launches most of it"},
    {"before_ns", Type::kReal, Unit::kNanos, "per step"},
    {"after_ns", Type::kReal, Unit::kNanos, "per step"},
    {"change_ns", Type::kReal, Unit::kNanos, "after less before"},
    kChangeShare,
    {"before_count", Type::kReal, Unit::kCount, "per step"},
    {"after_count", Type::kReal, Unit::kCount, "per step"},
    {"class", Type::kText, Unit::kNone, "compute, communication, memcpy or memset"},
});
constexpr std::array kOperatorColumns = std::to_array<base::ColumnShape>({
    {"verdict", Type::kText, Unit::kNone,
     "added, removed, slower, faster or same, by device or host, whichever changed more"},
    {"operator", Type::kText, Unit::kNone, "its name; in parentheses: work of no operator"},
    {"before_device_ns", Type::kReal, Unit::kNanos, "device work it launched itself, per step"},
    {"after_device_ns", Type::kReal, Unit::kNanos, "the same"},
    {"change_device_ns", Type::kReal, Unit::kNanos, "after less before"},
    {"before_host_ns", Type::kReal, Unit::kNanos, "host time of its own, per step"},
    {"after_host_ns", Type::kReal, Unit::kNanos, "the same"},
    {"change_host_ns", Type::kReal, Unit::kNanos, "after less before"},
    {"before_calls", Type::kReal, Unit::kCount, "per step"},
    {"after_calls", Type::kReal, Unit::kCount, "per step"},
});
constexpr std::array kMemoryColumns = std::to_array<base::ColumnShape>({
    {"device", Type::kInt, Unit::kId, "number of the device"},
    {"quantity", Type::kText, Unit::kNone, "peak of what tensors took, or of what PyTorch held"},
    {"before_bytes", Type::kInt, Unit::kBytes, "of the first run"},
    {"after_bytes", Type::kInt, Unit::kBytes, "of the second run"},
    {"change_bytes", Type::kInt, Unit::kBytes, "after less before"},
    kChangeShare,
});
constexpr std::array kSideColumns = std::to_array<base::ColumnShape>({
    {"side", Type::kText, Unit::kNone, "before or after"},
    {"run", Type::kText, Unit::kNone, "as it was given"},
    {"gpu", Type::kText, Unit::kNone, "name of its first device"},
    {"rank", Type::kInt, Unit::kId, "whose figures these are: the slowest of those chosen"},
    {"steps", Type::kInt, Unit::kCount, "that were compared"},
    {"warmup_steps", Type::kInt, Unit::kCount, "at the beginning, left out"},
});

constexpr std::array<std::string_view, 2> kBothTimes = {"before_ns", "after_ns"};
constexpr std::array<std::string_view, 1> kChange = {"change_ns"};
constexpr std::array kTables = std::to_array<base::TableShape>({
    {"times",
     "a length of a step, before and after",
     kTimeColumns,
     {base::Chart::kBars, "quantity", kBothTimes}},
    {"parts", "one part of the typical step", kPartColumns, {base::Chart::kBars, "part", kChange}},
    {"kernels", "one kernel, the largest change first", kKernelColumns},
    {"operators", "one operator, the largest change first", kOperatorColumns},
    {"memory", "the peak of one device", kMemoryColumns},
    {"sides", "one side of the comparison", kSideColumns},
});

const base::Table* table_of(const Answer& answer, std::string_view name) {
  const auto found = std::ranges::find(answer.tables, name, &base::Table::name);
  return found == answer.tables.end() ? nullptr : &*found;
}

template <class Visit>
void for_each_line(const Answer& answer, std::string_view table, std::int64_t rank, Visit visit) {
  const base::Table* found = table_of(answer, table);
  for (std::size_t r = 0; found != nullptr && r < found->rows(); ++r) {
    const TableLine line(*found, r);
    if (line.whole("rank") == rank) visit(line);
  }
}

SideRank side_rank(const Side& side) {
  SideRank out{.side = &side, .rank = slowest_rank(side.steps).value_or(0)};
  const std::vector<double> steps = step_lengths(side.steps, out.rank);
  out.steps = std::max(1.0, static_cast<double>(steps.size()));
  out.step_ns = estimate(steps, Average::kTypical).value;
  return out;
}

void add_time(base::Table& table, std::string_view quantity, const Difference& change) {
  Cell low = Null{};
  Cell high = Null{};
  Cell significant = Null{};
  Cell smallest = Null{};
  if (change.bounds && change.before > 0) {
    low = change.bounds->low / change.before;
    high = change.bounds->high / change.before;
    significant = change.bounds->low > 0 || change.bounds->high < 0;
    smallest = change.smallest_seen / change.before;
  }
  table.add({quantity, change.before, change.after, change.difference(), change.share(), low, high,
             significant, smallest});
}

void add_times(base::Table& table, const SideRank& before, const SideRank& after, bool one_run) {
  const std::vector<double> a = step_lengths(before.side->steps, before.rank);
  const std::vector<double> b = step_lengths(after.side->steps, after.rank);
  if (a.empty() || b.empty()) return;
  for (const auto& [name, average] :
       {std::pair("typical", Average::kTypical), std::pair("mean", Average::kMean)}) {
    const Certainty certainty{.spread = one_run ? 0 : spread_of(average)};
    const std::array<Estimate, 1> one = {estimate(a, average)};
    const std::array<Estimate, 1> other = {estimate(b, average)};
    add_time(table, name, compare(one, other, certainty));
  }
  if (a.size() == 1 && b.size() == 1) return;  // the others are all the same
  const auto at = [](std::vector<double> values, double share) {
    std::ranges::sort(values);
    const auto place = static_cast<std::size_t>(
        std::max(1.0, std::ceil(share * static_cast<double>(values.size()))));
    return values[place - 1];
  };
  for (const auto& [name, share] : {std::pair("median", 0.5), std::pair("95th percentile", 0.95),
                                    std::pair("shortest", 0.0), std::pair("longest", 1.0)}) {
    add_time(table, name, Difference{.before = at(a, share), .after = at(b, share)});
  }
}

// Of the steps that make the typical one, so that parts add up to it.
std::array<double, kPartCount> typical_parts(const SideRank& of) {
  std::array<double, kPartCount> sum{};
  const std::vector<double> lengths = step_lengths(of.side->steps, of.rank);
  const std::vector<std::size_t> middle = middle_half(lengths);
  const std::set<std::size_t> chosen(middle.begin(), middle.end());
  std::size_t place = 0;
  for_each_line(of.side->steps, "steps", of.rank, [&](const TableLine& line) {
    if (!chosen.contains(place++)) return;
    for (std::size_t part = 0; part < kPartCount; ++part) {
      sum[part] += line.number(std::string(kPartNames[part]) + "_ns");
    }
  });
  for (double& part : sum) part /= std::max(1.0, static_cast<double>(middle.size()));
  return sum;
}

void add_parts(base::Table& table, const SideRank& before, const SideRank& after) {
  const auto a = typical_parts(before);
  const auto b = typical_parts(after);
  for (std::size_t part = 0; part < kPartCount; ++part) {
    if (a[part] == 0 && b[part] == 0) continue;
    table.add({kPartNames[part], a[part], b[part], b[part] - a[part],
               a[part] > 0 ? Cell((b[part] - a[part]) / a[part]) : Cell(Null{})});
  }
}

void add_memory(base::Table& table, const SideRank& before, const SideRank& after) {
  using Peaks = std::map<std::pair<std::int64_t, std::string_view>, std::int64_t>;
  const auto peaks_of = [](const SideRank& of) {
    Peaks out;
    for_each_line(of.side->overview, "devices", of.rank, [&](const TableLine& line) {
      for (const auto& [column, quantity] : {std::pair("peak_allocated_bytes", "allocated"),
                                             std::pair("peak_reserved_bytes", "reserved")}) {
        if (line.has(column)) out[{line.whole("device"), quantity}] = line.whole(column);
      }
    });
    return out;
  };
  const Peaks a = peaks_of(before);
  const Peaks b = peaks_of(after);
  for (const auto& [key, was] : a) {
    const auto found = b.find(key);
    if (found == b.end()) continue;
    const std::int64_t change = found->second - was;
    table.add({key.first, key.second, was, found->second, change,
               static_cast<double>(change) / static_cast<double>(was)});
  }
}

void add_side(base::Table& table, std::string_view name, const SideRank& of) {
  std::string gpu;
  for_each_line(of.side->overview, "devices", of.rank, [&](const TableLine& line) {
    if (gpu.empty()) gpu = line.text("name");
  });
  table.add({name, of.side->name, gpu.empty() ? Cell(Null{}) : Cell(gpu), of.rank,
             step_lengths(of.side->steps, of.rank).size(), of.side->warmup});
}

void add_remarks(Answer& answer, const SideRank& before, const SideRank& after) {
  for (const SideRank* of : {&before, &after}) {
    const Side& side = *of->side;
    const std::size_t steps = step_lengths(side.steps, of->rank).size();
    if (steps == 0) {
      answer.remarks.push_back(side.name + " has no steps: nothing to compare.");
    } else if (steps == 1) {
      answer.remarks.push_back(side.name +
                               " has one step, so that nobody can say how much steps differ by "
                               "themselves: record five or more.");
    }
    for (const Remark& remark : side.steps.remarks) {
      answer.remarks.push_back(side.name + ": " + remark.text);
    }
  }
}

}  // namespace

std::vector<double> step_lengths(const Answer& steps, std::int64_t rank) {
  std::vector<double> out;
  for_each_line(steps, "steps", rank,
                [&](const TableLine& line) { out.push_back(line.number("step_ns")); });
  return out;
}

std::optional<std::int64_t> slowest_rank(const Answer& steps) {
  std::set<std::int64_t> ranks;
  const base::Table* table = table_of(steps, "times");
  for (std::size_t r = 0; table != nullptr && r < table->rows(); ++r) {
    ranks.insert(TableLine(*table, r).whole("rank"));
  }
  std::optional<std::int64_t> slowest;
  double longest = -1;
  for (const std::int64_t rank : ranks) {
    const double typical = estimate(step_lengths(steps, rank), Average::kTypical).value;
    if (typical <= longest) continue;
    longest = typical;
    slowest = rank;
  }
  return slowest;
}

std::vector<std::int64_t> warmup_numbers(const Answer& steps) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<std::int64_t, double>>>
      windows;
  const base::Table* table = table_of(steps, "steps");
  for (std::size_t r = 0; table != nullptr && r < table->rows(); ++r) {
    const TableLine line(*table, r);
    windows[{line.whole("rank"), line.whole("window")}].emplace_back(line.whole("step"),
                                                                     line.number("step_ns"));
  }
  std::set<std::int64_t> out;
  for (const auto& [window, list] : windows) {
    std::vector<double> lengths;
    for (const auto& [number, length] : list) lengths.push_back(length);
    for (std::size_t i = 0; i < warmup_steps(lengths); ++i) out.insert(list[i].first);
  }
  return {out.begin(), out.end()};
}

Answer diff(const Side& before, const Side& after, bool one_run) {
  Answer answer;
  for (const base::TableShape& shape : kTables) answer.tables.emplace_back(shape);
  const SideRank a = side_rank(before);
  const SideRank b = side_rank(after);
  add_times(answer.tables[0], a, b, one_run);
  if (answer.tables[0].rows() > 0) {
    add_parts(answer.tables[1], a, b);
    add_kernels(answer.tables[2], a, b);
    add_operators(answer.tables[3], a, b);
    add_memory(answer.tables[4], a, b);
  }
  add_side(answer.tables[5], "before", a);
  add_side(answer.tables[5], "after", b);
  add_remarks(answer, a, b);
  return answer;
}

const Analysis kDiff{
    .name = "diff",
    .title = "What changed",
    .question = "What is slower or faster, and what is new or gone?",
    .parameters = {},
    .tables = kTables,
    .run = nullptr,
};

}  // namespace stepscope::analysis
