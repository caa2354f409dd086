// The tables of a comparison, and the sentences for what could not be compared.
#include "analysis/compare/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/analysis.h"
#include "analysis/compare/matched.h"
#include "analysis/compare/step_samples.h"
#include "analysis/operators/op_calls.h"
#include "analysis/steps/step_parts.h"
#include "base/table_line.h"

namespace stepscope::analysis {
namespace {

// The chosen steps of a window by their index in it: which of them is how manieth, or kNone.
constexpr std::size_t kStepSumsNone = static_cast<std::size_t>(-1);
std::vector<std::size_t> step_sums_places_of(const WindowView& window, std::size_t& count) {
  std::vector<std::size_t> places;
  places.reserve(window.steps.size());
  for (const StepTime& step : window.steps)
    places.push_back(step.selected ? count++ : kStepSumsNone);
  return places;
}

// By the number of the name: names are compared once per window, not once per event.
class ByNumber {
 public:
  explicit ByNumber(std::size_t steps) : steps_(steps) {}
  void add(base::StringId name, std::size_t place, base::Nanos time) {
    std::vector<double>& sums = sums_[name];
    sums.resize(steps_);
    sums[place] += static_cast<double>(time);
  }
  void give(const trace::Trace& trace, SumsByStep& out) const {
    for (const auto& [name, own] : sums_) {
      std::vector<double>& sums = out[std::string(trace.text(name))];
      sums.resize(steps_);
      std::ranges::transform(own, sums, sums.begin(), std::plus{});
    }
  }

 private:
  std::size_t steps_;
  std::unordered_map<base::StringId, std::vector<double>> sums_;
};

StepSums step_sums_of(const WindowView& window) {
  StepSums out;
  const std::vector<std::size_t> places = step_sums_places_of(window, out.steps);
  const OpCalls& ops = op_calls(window);
  const trace::Trace& trace = *window.trace;
  const auto place_of = [&](std::int32_t step) {
    return step < 0 ? kStepSumsNone : places[static_cast<std::size_t>(step)];
  };
  ByNumber kernels(out.steps);
  ByNumber on_device(out.steps);
  ByNumber on_host(out.steps);
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    const std::size_t place = place_of(piece.step);
    if (place == kStepSumsNone) continue;
    kernels.add(trace.name()[piece.row], place, piece.length());
    if (const std::uint32_t call = ops.of_work[i]; call != OpCall::kNone) {
      on_device.add(trace.name()[ops.calls[call].row], place, piece.length());
    } else {
      std::vector<double>& sums =
          out.operators_device[std::string(name_of(why_no_operator(window, piece)))];
      sums.resize(out.steps);
      sums[place] += static_cast<double>(piece.length());
    }
  }
  const OpHostTimes times = op_host_times(trace, ops);
  for (std::size_t call = 0; call < ops.calls.size(); ++call) {
    const trace::Row row = ops.calls[call].row;
    const std::size_t place = place_of(step_at(window.steps, trace.start()[row]));
    if (place != kStepSumsNone) on_host.add(trace.name()[row], place, times.self[call]);
  }
  kernels.give(trace, out.kernels);
  on_device.give(trace, out.operators_device);
  on_host.give(trace, out.operators_host);
  return out;
}

// The steps of a window after those of the windows before it.
void append(StepSums& all, const StepSums& window) {
  const std::size_t steps = all.steps + window.steps;
  for (const auto sums :
       {&StepSums::kernels, &StepSums::operators_device, &StepSums::operators_host}) {
    for (const auto& [name, own] : window.*sums) {
      std::vector<double>& list = (all.*sums)[name];
      list.resize(all.steps);
      list.insert(list.end(), own.begin(), own.end());
    }
    for (auto& [name, list] : all.*sums) list.resize(steps);
  }
  all.steps = steps;
}

}  // namespace

std::map<std::int64_t, StepSums> sums_by_step(const RunView& view) {
  const auto partials =
      per_window<StepSums>(view, [](const WindowView& window) { return step_sums_of(window); });
  std::map<std::int64_t, StepSums> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    append(ranks[view.windows[w].rank], partials[w]);
  }
  return ranks;
}

namespace {

using base::Cell;
using base::Null;
using base::TableLine;
using base::Type;
using base::Unit;

constexpr base::ColumnShape kChangeShare{"change_share", Type::kReal, Unit::kShare,
                                         "change, of what it was before"};
// Of rows of which there are many: noise makes the largest of them look large.
constexpr base::ColumnShape kErrorNs{
    "error_ns", Type::kReal, Unit::kNanos,
    "± of the change that decides; in 95 of 100 comparisons that of every row lies within; null: "
    "too few steps, or on one side alone"};

constexpr std::array kDiffTimeColumns = std::to_array<base::ColumnShape>({
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
constexpr std::array kDiffPartColumns = std::to_array<base::ColumnShape>({
    {"part", Type::kText, Unit::kNone, "as in the analysis `steps`; they add up to the step"},
    {"before_ns", Type::kReal, Unit::kNanos, "of the typical step"},
    {"after_ns", Type::kReal, Unit::kNanos, "of the typical step"},
    {"change_ns", Type::kReal, Unit::kNanos, "after less before"},
    kChangeShare,
});
constexpr std::array kDiffKernelColumns = std::to_array<base::ColumnShape>({
    {"verdict", Type::kText, Unit::kNone, "added, removed, slower, faster, same or unsure"},
    {"kernel", Type::kText, Unit::kNone, "name of the kernel, copy or memset"},
    {"was", Type::kText, Unit::kNone,
     "name before, where the same operators launch another kernel now"},
    {"operator", Type::kText, Unit::kNone, "that launches most of it"},
    {"before_ns", Type::kReal, Unit::kNanos, "per step"},
    {"after_ns", Type::kReal, Unit::kNanos, "per step"},
    {"change_ns", Type::kReal, Unit::kNanos, "after less before"},
    kChangeShare,
    kErrorNs,
    {"before_count", Type::kReal, Unit::kCount, "per step"},
    {"after_count", Type::kReal, Unit::kCount, "per step"},
    {"class", Type::kText, Unit::kNone, "compute, communication, memcpy or memset"},
});
constexpr std::array kDiffOperatorColumns = std::to_array<base::ColumnShape>({
    {"verdict", Type::kText, Unit::kNone,
     "added, removed, slower, faster, same or unsure, by device or host, whichever changed more"},
    {"operator", Type::kText, Unit::kNone, "its name; in parentheses: work of no operator"},
    {"before_device_ns", Type::kReal, Unit::kNanos, "device work it launched itself, per step"},
    {"after_device_ns", Type::kReal, Unit::kNanos, "the same"},
    {"change_device_ns", Type::kReal, Unit::kNanos, "after less before"},
    {"before_host_ns", Type::kReal, Unit::kNanos, "host time of its own, per step"},
    {"after_host_ns", Type::kReal, Unit::kNanos, "the same"},
    {"change_host_ns", Type::kReal, Unit::kNanos, "after less before"},
    kErrorNs,
    {"before_calls", Type::kReal, Unit::kCount, "per step"},
    {"after_calls", Type::kReal, Unit::kCount, "per step"},
});
constexpr std::array kDiffMemoryColumns = std::to_array<base::ColumnShape>({
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
    {"kind", Type::kText, Unit::kNone,
     "of the steps that were compared: untraced, or traced, which costs time"},
    {"traced_steps", Type::kInt, Unit::kCount,
     "that parts, kernels and operators are of; nothing: of the steps that were compared"},
    {"window_steps", Type::kInt, Unit::kCount,
     "in trace windows, before them and in which they were closed, left out of those compared"},
});

constexpr std::array<std::string_view, 2> kBothTimes = {"before_ns", "after_ns"};
constexpr std::array kDiffTables = std::to_array<base::TableShape>({
    {"times",
     "a length of a step, before and after",
     kDiffTimeColumns,
     {base::Chart::kBars, "quantity", kBothTimes}},
    {"parts",
     "one part of the typical step",
     kDiffPartColumns,
     {base::Chart::kBars, "part", kBothTimes}},
    {"kernels", "one kernel, the largest change first", kDiffKernelColumns},
    {"operators", "one operator, the largest change first", kDiffOperatorColumns},
    {"memory", "the peak of one device", kDiffMemoryColumns},
    {"sides", "one side of the comparison", kSideColumns},
});

template <class Visit>
void for_each_line(const Answer& answer, std::string_view table, std::int64_t rank, Visit visit) {
  const base::Table* found = table_of(answer, table);
  for (std::size_t r = 0; found != nullptr && r < found->rows(); ++r) {
    const TableLine line(*found, r);
    if (line.whole("rank") == rank) visit(line);
  }
}

// A side as it is compared.
struct Compared {
  const Side* side = nullptr;
  RunSamples samples = {};
  StepKind kind = StepKind::kTraced;  // of the steps whose lengths are compared
  std::vector<double> lengths = {};   // of those
  std::int64_t rank = 0;              // whose they are
  std::size_t warmup = 0;             // left out before them
  SideRank inside = {};               // what parts, kernels and operators are of
  bool is_other_inside = false;       // they are of other steps: those that were traced
};

RunSteps steps_in(const Side& side) { return {&side.steps, &side.untraced, side.is_traced}; }

SideRank inside_of(const Side& side, std::int64_t rank) {
  SideRank out{.side = &side, .rank = rank};
  if (step_lengths(side.steps, rank).empty()) out.rank = slowest_rank(side.steps).value_or(rank);
  const std::vector<double> steps = step_lengths(side.steps, out.rank);
  out.steps = std::max(1.0, static_cast<double>(steps.size()));
  out.step_ns = estimate(steps, Average::kTypical).value;
  return out;
}

Compared compared(const Side& side) {
  Compared out{.side = &side};
  out.samples.name = side.name;
  add_step_times(steps_in(side), out.samples);
  return out;
}

void take_steps(Compared& of, StepKind chosen) {
  const Sample* steps = steps_of(of.samples, chosen);
  of.rank = rank_of_steps(steps_in(*of.side), chosen).value_or(0);
  of.inside = inside_of(*of.side, of.rank);
  if (steps == nullptr) return;
  of.lengths = steps->values;
  of.kind = steps->kind;
  const bool untraced = of.kind == StepKind::kUntraced;
  of.warmup = untraced ? of.side->untraced.warmup : of.side->warmup;
  of.is_other_inside = untraced && of.side->is_traced;
}

void add_diff_time(base::Table& table, std::string_view quantity, const Difference& change) {
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

void add_diff_times(base::Table& table, const Compared& before, const Compared& after,
                    bool one_run) {
  const std::vector<double>& a = before.lengths;
  const std::vector<double>& b = after.lengths;
  if (a.empty() || b.empty()) return;
  for (const auto& [name, average] :
       {std::pair("typical", Average::kTypical), std::pair("mean", Average::kMean)}) {
    const Certainty certainty{.spread = one_run ? 0 : spread_of(average)};
    const std::array<Estimate, 1> one = {estimate(a, average)};
    const std::array<Estimate, 1> other = {estimate(b, average)};
    Difference change = compare(one, other, certainty);
    // What a profiler costs is in one of them, and how much that is is not known.
    if (before.kind != after.kind) change.bounds.reset();
    add_diff_time(table, name, change);
  }
  if (a.size() == 1 && b.size() == 1) return;  // the others are all the same
  const auto at = [](std::vector<double> values, double share) {
    std::ranges::sort(values);
    const auto place = static_cast<std::size_t>(
        std::max(1.0, std::ceil(share * static_cast<double>(values.size()))));
    return values[place - 1];
  };
  add_diff_time(table, "median", Difference{.before = median_of(a), .after = median_of(b)});
  for (const auto& [name, share] : {std::pair("95th percentile", 0.95), std::pair("shortest", 0.0),
                                    std::pair("longest", 1.0)}) {
    add_diff_time(table, name, Difference{.before = at(a, share), .after = at(b, share)});
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

void add_diff_parts(base::Table& table, const SideRank& before, const SideRank& after) {
  const auto a = typical_parts(before);
  const auto b = typical_parts(after);
  for (std::size_t part = 0; part < kPartCount; ++part) {
    if (a[part] == 0 && b[part] == 0) continue;
    table.add({kPartNames[part], a[part], b[part], b[part] - a[part],
               a[part] > 0 ? Cell((b[part] - a[part]) / a[part]) : Cell(Null{})});
  }
}

void add_diff_memory(base::Table& table, const SideRank& before, const SideRank& after) {
  using Peaks = std::map<std::pair<std::int64_t, std::string_view>, std::int64_t>;
  const auto peaks_of = [](const SideRank& of) {
    Peaks out;
    for_each_line(of.side->overview, "devices", of.rank, [&](const TableLine& line) {
      for (const auto& [column, quantity] : {std::pair("peak_allocated_bytes", "allocated"),
                                             std::pair("peak_reserved_bytes", "reserved")}) {
        if (line.has_value(column)) out[{line.whole("device"), quantity}] = line.whole(column);
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

void add_side(base::Table& table, std::string_view name, const Compared& of) {
  std::string gpu;
  for_each_line(of.side->overview, "devices", of.inside.rank, [&](const TableLine& line) {
    if (gpu.empty()) gpu = line.text("name");
  });
  const std::size_t inside = step_lengths(of.side->steps, of.inside.rank).size();
  table.add({name, of.side->name, gpu.empty() ? Cell(Null{}) : Cell(gpu), of.rank,
             of.lengths.size(), of.warmup, name_of(of.kind),
             of.is_other_inside ? Cell(inside) : Cell(Null{}),
             of.kind == StepKind::kUntraced ? of.side->untraced.in_windows : 0});
}

std::string sentence_of(std::string words) {
  if (words.front() >= 'a' && words.front() <= 'z') {
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
  }
  return words + ".";
}

// Why there is nothing about what steps are made of; empty where there is.
std::string why_nothing_inside(const Compared& before, const Compared& after) {
  for (const auto& [one, other] : {std::pair(&before, &after), std::pair(&after, &before)}) {
    const bool traced = one->side->is_traced && slowest_rank(one->side->steps).has_value();
    const bool other_traced =
        other->side->is_traced && slowest_rank(other->side->steps).has_value();
    if (traced || !other_traced) continue;
    return "No step of " + one->side->name +
           " was traced: what steps are made of, kernels and operators cannot be compared.";
  }
  return {};
}

void add_diff_remarks(Answer& answer, const Compared& before, const Compared& after) {
  for (const Compared* of : {&before, &after}) {
    const Side& side = *of->side;
    if (of->lengths.empty()) {
      answer.remarks.push_back(side.name + " has no steps: nothing to compare.");
    } else if (of->lengths.size() == 1) {
      answer.remarks.push_back(side.name +
                               " has one step, so it is not known how much steps differ by "
                               "themselves: record five or more.");
    }
    for (const Remark& remark : side.steps.remarks) {
      answer.remarks.push_back(side.name + ": " + remark.text);
    }
  }
  const bool is_about_traced = before.is_other_inside || after.is_other_inside;
  if (!is_about_traced || answer.tables[1].rows() == 0) return;
  answer.remarks.push_back(Remark::on_table(
      "parts",
      "Parts, kernels and operators are of the steps that were traced; the lengths above are of "
      "the others, which no profiler slowed down."));
}

}  // namespace

Answer diff(const Side& before, const Side& after, bool one_run) {
  Answer answer;
  for (const base::TableShape& shape : kDiffTables) answer.tables.emplace_back(shape);
  Compared a = compared(before);
  Compared b = compared(after);
  const StepChoice choice = choose_steps(std::span(&a.samples, 1), std::span(&b.samples, 1));
  take_steps(a, choice.kind);
  take_steps(b, choice.kind);
  add_diff_times(answer.tables[0], a, b, one_run);
  const std::string why_not = why_nothing_inside(a, b);
  if (answer.tables[0].rows() > 0) {
    if (why_not.empty()) {
      add_diff_parts(answer.tables[1], a.inside, b.inside);
      add_kernels(answer.tables[2], a.inside, b.inside, one_run);
      add_operators(answer.tables[3], a.inside, b.inside, one_run);
    } else {
      answer.remarks.push_back(Remark::on_table("parts", why_not));
    }
    add_diff_memory(answer.tables[4], a.inside, b.inside);
  }
  add_side(answer.tables[5], "before", a);
  add_side(answer.tables[5], "after", b);
  if (!choice.remark.empty()) answer.remarks.push_back(sentence_of(choice.remark));
  add_diff_remarks(answer, a, b);
  return answer;
}

const Analysis kDiff{
    .name = "diff",
    .title = "What changed",
    .question = "What is slower or faster, and what is new or gone?",
    .parameters = {},
    .tables = kDiffTables,
    .run = nullptr,
};

namespace {

using base::Type;
using base::Unit;

constexpr std::array kLaunchedColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"operator", Type::kText, Unit::kNone, "that launched it; in parentheses: none did"},
    {"kernel", Type::kText, Unit::kNone, "name of the kernel, copy or memset"},
    {"class", Type::kText, Unit::kNone, "compute, communication, memcpy or memset"},
    {"count", Type::kInt, Unit::kCount, "how often it ran"},
    {"sum_ns", Type::kInt, Unit::kNanos, "time it ran, all runs together"},
});
constexpr base::TableShape kShape{"launched", "work of one name under one operator",
                                  kLaunchedColumns};

struct LaunchedSum {
  std::int64_t count = 0;
  base::Nanos time = 0;
};
using LaunchedKey = std::tuple<std::string_view, std::string_view, WorkClass>;  // operator, kernel
using LaunchedSums = std::map<LaunchedKey, LaunchedSum>;

LaunchedSums launched_sums_of(const WindowView& window) {
  const OpCalls& ops = op_calls(window);
  const trace::Trace& trace = *window.trace;
  // By number first: names are compared once per pair, not once per event.
  std::map<std::tuple<base::StringId, base::StringId, WorkClass>, LaunchedSum> of_operators;
  LaunchedSums out;
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (!window.counts(piece)) continue;
    const std::uint32_t call = ops.of_work[i];
    const base::StringId kernel = trace.name()[piece.row];
    LaunchedSum& sum =
        call == OpCall::kNone
            ? out[{name_of(why_no_operator(window, piece)), trace.text(kernel), piece.work_class}]
            : of_operators[{trace.name()[ops.calls[call].row], kernel, piece.work_class}];
    ++sum.count;
    sum.time += piece.length();
  }
  for (const auto& [key, sum] : of_operators) {
    const auto& [op, kernel, work_class] = key;
    LaunchedSum& all = out[{trace.text(op), trace.text(kernel), work_class}];
    all.count += sum.count;
    all.time += sum.time;
  }
  return out;
}

}  // namespace

base::Table launched_work(const RunView& view) {
  const auto partials = per_window<LaunchedSums>(
      view, [](const WindowView& window) { return launched_sums_of(window); });
  std::map<std::int32_t, LaunchedSums> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    for (const auto& [key, sum] : partials[w]) {
      LaunchedSum& all = ranks[view.windows[w].rank][key];
      all.count += sum.count;
      all.time += sum.time;
    }
  }
  base::Table table(kShape);
  for (const auto& [rank, sums] : ranks) {
    for (const auto& [key, sum] : sums) {
      const auto& [op, kernel, work_class] = key;
      table.add({rank, op, kernel, name_of(work_class), sum.count, sum.time});
    }
  }
  return table;
}

}  // namespace stepscope::analysis
