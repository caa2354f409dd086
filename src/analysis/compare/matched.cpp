// Matches rows of two sides by name, and judges each pair.
#include "analysis/compare/matched.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "base/table_line.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Null;
using base::TableLine;

// What a name took in each step of a side; nothing where it is not known.
std::vector<double> matched_steps_of(const SideRank& of, SumsByStep StepSums::* sums,
                                     std::string_view name) {
  const auto rank = of.side->by_step.find(of.rank);
  if (rank == of.side->by_step.end()) return {};
  const SumsByStep& all = rank->second.*sums;
  const auto found = all.find(name);
  return found == all.end() ? std::vector<double>(rank->second.steps) : found->second;
}

void add_matched_steps(std::vector<double>& into, std::span<const double> own) {
  into.resize(std::max(into.size(), own.size()));
  for (std::size_t i = 0; i < own.size(); ++i) into[i] += own[i];
}

struct Kernel {
  double count = 0, time_ns = 0;  // per step
  std::string_view work_class;
  std::string op;         // the operator that launches most of it
  double op_time_ns = 0;  //
  std::vector<double> steps = {};
};
using MatchedKernels = std::map<std::string, Kernel, std::less<>>;

MatchedKernels kernels_of(const SideRank& of) {
  MatchedKernels out;
  const base::Table& table = of.side->launched;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const TableLine line(table, r);
    if (line.whole("rank") != of.rank) continue;
    Kernel& kernel = out[std::string(line.text("kernel"))];
    const double time = line.number("sum_ns") / of.steps;
    kernel.count += line.number("count") / of.steps;
    kernel.time_ns += time;
    kernel.work_class = line.text("class");
    if (kernel.op.empty() || time > kernel.op_time_ns) {
      kernel.op = line.text("operator");
      kernel.op_time_ns = time;
    }
  }
  for (auto& [name, kernel] : out) kernel.steps = matched_steps_of(of, &StepSums::kernels, name);
  return out;
}

// Kernels of one side that the other side does not have, under one family of operators.
struct MatchedGroup {
  double count = 0, time_ns = 0, longest_ns = -1;
  std::string longest, op;
  std::string_view work_class;
  std::size_t names = 0;
  std::vector<double> steps = {};
  void add(const std::string& name, const Kernel& kernel) {
    count += kernel.count;
    time_ns += kernel.time_ns;
    add_matched_steps(steps, kernel.steps);
    ++names;
    if (kernel.time_ns <= longest_ns) return;
    longest_ns = kernel.time_ns;
    longest = name;
    op = kernel.op;
    work_class = kernel.work_class;
  }
  std::string name() const {
    return names < 2 ? longest : longest + " and " + std::to_string(names - 1) + " more";
  }
};

Cell matched_cell_of(std::optional<double> value) { return value ? Cell(*value) : Cell(Null{}); }

// Whether it is long enough to be judged at all.
bool matters(const RowTimes& times, double step_ns) {
  return std::max(times.before_ns, times.after_ns) > kLeastOfStep * step_ns;
}

struct MatchedRow {
  std::string kernel, was, op;
  std::string_view work_class, verdict;  // the latter: empty before it is judged
  RowTimes times = {};
  double before_count = 0, after_count = 0;
  std::optional<double> error_ns = {};

  double change_ns() const { return times.after_ns - times.before_ns; }
};

void sort_by_change(std::vector<MatchedRow>& rows) {
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const MatchedRow& row) { return std::abs(row.change_ns()); });
}

// What has a partner of another name under the same operators.
using MatchedGroups = std::map<std::pair<std::string, std::string_view>, MatchedGroup>;
MatchedGroups matched_groups_of(const MatchedKernels& own, const MatchedKernels& other) {
  MatchedGroups out;
  for (const auto& [name, kernel] : own) {
    if (other.contains(name)) continue;
    out[{operator_family(kernel.op), kernel.work_class}].add(name, kernel);
  }
  return out;
}

bool is_operator_in_matched(std::string_view name) { return !name.empty() && name.front() != '('; }

MatchedRow row_of(const MatchedGroup* before, const MatchedGroup* after) {
  const MatchedGroup& shown = after != nullptr ? *after : *before;
  MatchedRow row{.kernel = shown.name(),
                 .was = {},
                 .op = shown.op,
                 .work_class = shown.work_class,
                 .verdict = {}};
  if (before != nullptr) {
    row.times.before_ns = before->time_ns;
    row.times.steps.before = before->steps;
    row.before_count = before->count;
    if (after != nullptr) row.was = before->name();
  }
  if (after != nullptr) {
    row.times.after_ns = after->time_ns;
    row.times.steps.after = after->steps;
    row.after_count = after->count;
  }
  if (before == nullptr) row.verdict = "added";
  if (after == nullptr) row.verdict = "removed";
  return row;
}

// Kernels of the one side alone: a row for each.
void add_alone(std::vector<MatchedRow>& rows, const MatchedKernels& own,
               const MatchedKernels& other, const MatchedGroups& partners, bool is_before) {
  for (const auto& [name, kernel] : own) {
    if (other.contains(name)) continue;
    const std::pair key(operator_family(kernel.op), kernel.work_class);
    if (is_operator_in_matched(kernel.op) && partners.contains(key)) continue;
    MatchedGroup one;
    one.add(name, kernel);
    rows.push_back(is_before ? row_of(&one, nullptr) : row_of(nullptr, &one));
  }
}

struct Operator {
  double calls = 0, device_ns = 0, host_ns = 0;  // per step
  std::vector<double> device_steps = {}, host_steps = {};

  void add(const Operator& other) {
    calls += other.calls;
    device_ns += other.device_ns;
    host_ns += other.host_ns;
    add_matched_steps(device_steps, other.device_steps);
    add_matched_steps(host_steps, other.host_steps);
  }
  bool is_nothing() const { return calls == 0 && device_ns == 0 && host_ns == 0; }
};
using Operators = std::map<std::string, Operator, std::less<>>;

Operators operators_of(const SideRank& of) {
  Operators out;
  for (const base::Table& table : of.side->operators.tables) {
    if (table.name() != "operators") continue;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      const TableLine line(table, r);
      if (line.whole("rank") != of.rank || !line.has_value("name")) continue;
      Operator& op = out[std::string(line.text("name"))];
      op.calls += line.number("calls") / of.steps;
      op.device_ns += line.number("device_self_ns") / of.steps;
      op.host_ns += line.number("host_self_ns") / of.steps;
    }
  }
  for (auto& [name, op] : out) {
    op.device_steps = matched_steps_of(of, &StepSums::operators_device, name);
    op.host_steps = matched_steps_of(of, &StepSums::operators_host, name);
  }
  return out;
}

// One operator, on either side or on both.
struct OperatorRow {
  const std::string* name;
  const Operator *before, *after;

  double change(double Operator::* figure) const {
    return std::abs((after != nullptr ? after->*figure : 0) -
                    (before != nullptr ? before->*figure : 0));
  }
  bool is_nothing() const {
    return (before == nullptr || before->is_nothing()) && (after == nullptr || after->is_nothing());
  }
  // Of one that is on both: whichever of device and host changed more decides.
  RowTimes times() const {
    if (change(&Operator::device_ns) >= change(&Operator::host_ns)) {
      return {before->device_ns, after->device_ns, {before->device_steps, after->device_steps}};
    }
    return {before->host_ns, after->host_ns, {before->host_steps, after->host_steps}};
  }
};

// Names that only one side has take those of their family, where the other side has one of it and
// lacks this one.
void rename_alike(Operators& before, const Operators& after) {
  std::map<std::string, std::string> wanted;  // family → name on the other side
  for (const auto& [name, op] : after) {
    if (!before.contains(name)) wanted.emplace(operator_family(name), name);
  }
  Operators out;
  for (auto& [name, op] : before) {
    const auto found = after.contains(name) ? wanted.end() : wanted.find(operator_family(name));
    out[found == wanted.end() ? name : found->second].add(op);
  }
  before = std::move(out);
}

}  // namespace

Verdicts::Verdicts(double step_ns, std::size_t rows, bool one_run) : step_ns_(step_ns) {
  certainty_.tail /= std::max(1.0, static_cast<double>(rows));
  certainty_.spread = one_run ? 0 : kMeanSpread;
}

RowVerdict Verdicts::judge(const RowTimes& row) const {
  const double change = row.after_ns - row.before_ns;
  const double least =
      std::max(kLeastOfStep * step_ns_, kLeastOfItself * std::max(row.before_ns, row.after_ns));
  RowVerdict out{.verdict = std::abs(change) <= least ? "same" : "unsure"};
  const auto& [before, after] = row.steps;
  if (before.empty() || after.empty()) return out;
  const std::array<Estimate, 1> was = {estimate(before, Average::kMean)};
  const std::array<Estimate, 1> is = {estimate(after, Average::kMean)};
  const Difference found = compare(was, is, certainty_);
  if (!found.bounds) return out;
  const double above = found.bounds->high - found.difference();
  const double below = found.difference() - found.bounds->low;
  out.error_ns = std::max(above, below);
  if (std::abs(change) <= least) return out;
  if (change > below) out.verdict = "slower";
  if (-change > above) out.verdict = "faster";
  return out;
}

std::string operator_family(std::string_view name) {
  std::string out(name);
  if (out.find("attention") != std::string::npos) {
    const bool backward = out.find("backward") != std::string::npos;
    return backward ? "attention backward" : "attention";
  }
  static constexpr std::array<std::string_view, 6> kBackends = {"cudnn_", "miopen_", "mkldnn_",
                                                                "mps_",   "xpu_",    "hip_"};
  for (const std::string_view backend : kBackends) {
    for (std::size_t at = out.find(backend); at != std::string::npos; at = out.find(backend)) {
      out.erase(at, backend.size());
    }
  }
  return out;
}

void add_kernels(base::Table& table, const SideRank& before, const SideRank& after, bool one_run) {
  const MatchedKernels old = kernels_of(before);
  const MatchedKernels now = kernels_of(after);
  std::vector<MatchedRow> rows;
  for (const auto& [name, kernel] : old) {
    const auto partner = now.find(name);
    if (partner == now.end()) continue;
    rows.push_back({.kernel = name,
                    .was = {},
                    .op = partner->second.op,
                    .work_class = kernel.work_class,
                    .verdict = {},
                    .times = {.before_ns = kernel.time_ns,
                              .after_ns = partner->second.time_ns,
                              .steps = {kernel.steps, partner->second.steps}},
                    .before_count = kernel.count,
                    .after_count = partner->second.count});
  }
  const MatchedGroups gone = matched_groups_of(old, now);
  const MatchedGroups come = matched_groups_of(now, old);
  for (const auto& [key, group] : gone) {
    const auto partner = come.find(key);
    if (partner == come.end() || !is_operator_in_matched(group.op)) continue;
    rows.push_back(row_of(&group, &partner->second));
  }
  add_alone(rows, old, now, come, true);
  add_alone(rows, now, old, gone, false);
  sort_by_change(rows);
  const double step_ns = std::max(before.step_ns, after.step_ns);
  const auto judged = std::ranges::count_if(rows, [&](const MatchedRow& row) {
    return row.verdict.empty() && matters(row.times, step_ns);
  });
  const Verdicts verdicts(step_ns, static_cast<std::size_t>(judged), one_run);
  for (MatchedRow& row : rows) {
    if (!row.verdict.empty()) continue;
    const RowVerdict found = verdicts.judge(row.times);
    row.verdict = found.verdict;
    row.error_ns = found.error_ns;
  }
  for (const MatchedRow& row : rows) {
    table.add({row.verdict, row.kernel, row.was.empty() ? Cell(Null{}) : Cell(row.was), row.op,
               row.times.before_ns, row.times.after_ns, row.change_ns(),
               row.change_ns() / row.times.before_ns, matched_cell_of(row.error_ns),
               row.before_count, row.after_count, row.work_class});
  }
}

void add_operators(base::Table& table, const SideRank& before, const SideRank& after,
                   bool one_run) {
  Operators old = operators_of(before);
  const Operators now = operators_of(after);
  rename_alike(old, now);
  std::vector<OperatorRow> rows;
  for (const auto& [name, op] : old) {
    const auto partner = now.find(name);
    rows.push_back({&name, &op, partner == now.end() ? nullptr : &partner->second});
  }
  for (const auto& [name, op] : now) {
    if (!old.contains(name)) rows.push_back({&name, nullptr, &op});
  }
  std::erase_if(rows, [](const OperatorRow& row) { return row.is_nothing(); });
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const OperatorRow& row) {
    return std::max(row.change(&Operator::device_ns), row.change(&Operator::host_ns));
  });
  const double step_ns = std::max(before.step_ns, after.step_ns);
  const auto judged = std::ranges::count_if(rows, [&](const OperatorRow& row) {
    return row.before != nullptr && row.after != nullptr && matters(row.times(), step_ns);
  });
  const Verdicts verdicts(step_ns, static_cast<std::size_t>(judged), one_run);
  for (const OperatorRow& row : rows) {
    RowVerdict found{.verdict = row.before == nullptr ? "added" : "removed"};
    if (row.before != nullptr && row.after != nullptr) found = verdicts.judge(row.times());
    static const Operator kNothing;
    const Operator& a = row.before != nullptr ? *row.before : kNothing;
    const Operator& b = row.after != nullptr ? *row.after : kNothing;
    table.add({found.verdict, *row.name, a.device_ns, b.device_ns, b.device_ns - a.device_ns,
               a.host_ns, b.host_ns, b.host_ns - a.host_ns, matched_cell_of(found.error_ns),
               a.calls, b.calls});
  }
}

}  // namespace stepscope::analysis
