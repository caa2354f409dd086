#include "analysis/compare/matched.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/table_line.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Null;
using base::TableLine;

struct Kernel {
  double count = 0, time_ns = 0;  // per step
  std::string_view work_class;
  std::string op;         // the operator that launches most of it
  double op_time_ns = 0;  //
};
using Kernels = std::map<std::string, Kernel, std::less<>>;

Kernels kernels_of(const SideRank& of) {
  Kernels out;
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
  return out;
}

// Kernels of one side that the other side does not have, under one family of operators.
struct Group {
  double count = 0, time_ns = 0, longest_ns = -1;
  std::string longest, op;
  std::string_view work_class;
  std::size_t names = 0;
  void add(const std::string& name, const Kernel& kernel) {
    count += kernel.count;
    time_ns += kernel.time_ns;
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

struct Row {
  std::string kernel, was, op;
  std::string_view work_class, verdict;
  double before_ns = 0, after_ns = 0, before_count = 0, after_count = 0;
};

void sort_by_change(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Row& row) { return std::abs(row.after_ns - row.before_ns); });
}

// What has a partner of another name under the same operators.
using Groups = std::map<std::pair<std::string, std::string_view>, Group>;
Groups groups_of(const Kernels& own, const Kernels& other) {
  Groups out;
  for (const auto& [name, kernel] : own) {
    if (other.contains(name)) continue;
    out[{operator_family(kernel.op), kernel.work_class}].add(name, kernel);
  }
  return out;
}

bool is_operator(std::string_view name) { return !name.empty() && name.front() != '('; }

Row row_of(const Group* before, const Group* after, double step_ns) {
  const Group& shown = after != nullptr ? *after : *before;
  Row row{.kernel = shown.name(),
          .was = {},
          .op = shown.op,
          .work_class = shown.work_class,
          .verdict = {}};
  if (before != nullptr) {
    row.before_ns = before->time_ns;
    row.before_count = before->count;
    if (after != nullptr) row.was = before->name();
  }
  if (after != nullptr) {
    row.after_ns = after->time_ns;
    row.after_count = after->count;
  }
  row.verdict = before == nullptr  ? "added"
                : after == nullptr ? "removed"
                                   : verdict_of(row.before_ns, row.after_ns, step_ns);
  return row;
}

// Kernels of the one side alone: a row for each.
void add_alone(std::vector<Row>& rows, const Kernels& own, const Kernels& other,
               const Groups& partners, bool is_before, double step_ns) {
  for (const auto& [name, kernel] : own) {
    if (other.contains(name)) continue;
    const std::pair key(operator_family(kernel.op), kernel.work_class);
    if (is_operator(kernel.op) && partners.contains(key)) continue;
    Group one;
    one.add(name, kernel);
    rows.push_back(is_before ? row_of(&one, nullptr, step_ns) : row_of(nullptr, &one, step_ns));
  }
}

struct Operator {
  double calls = 0, device_ns = 0, host_ns = 0;  // per step
};
using Operators = std::map<std::string, Operator, std::less<>>;

Operators operators_of(const SideRank& of) {
  Operators out;
  for (const base::Table& table : of.side->operators.tables) {
    if (table.name() != "operators") continue;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      const TableLine line(table, r);
      if (line.whole("rank") != of.rank || !line.has("name")) continue;
      Operator& op = out[std::string(line.text("name"))];
      op.calls += line.number("calls") / of.steps;
      op.device_ns += line.number("device_self_ns") / of.steps;
      op.host_ns += line.number("host_self_ns") / of.steps;
    }
  }
  return out;
}

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
    Operator& into = out[found == wanted.end() ? name : found->second];
    into.calls += op.calls;
    into.device_ns += op.device_ns;
    into.host_ns += op.host_ns;
  }
  before = std::move(out);
}

}  // namespace

std::string_view verdict_of(double before_ns, double after_ns, double step_ns) {
  const double change = after_ns - before_ns;
  const double least =
      std::max(kLeastOfStep * step_ns, kLeastOfItself * std::max(before_ns, after_ns));
  if (std::abs(change) <= least) return "same";
  return change > 0 ? "slower" : "faster";
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

void add_kernels(base::Table& table, const SideRank& before, const SideRank& after) {
  const Kernels old = kernels_of(before);
  const Kernels now = kernels_of(after);
  const double step_ns = std::max(before.step_ns, after.step_ns);
  std::vector<Row> rows;
  for (const auto& [name, kernel] : old) {
    const auto partner = now.find(name);
    if (partner == now.end()) continue;
    rows.push_back({.kernel = name,
                    .was = {},
                    .op = partner->second.op,
                    .work_class = kernel.work_class,
                    .verdict = verdict_of(kernel.time_ns, partner->second.time_ns, step_ns),
                    .before_ns = kernel.time_ns,
                    .after_ns = partner->second.time_ns,
                    .before_count = kernel.count,
                    .after_count = partner->second.count});
  }
  const Groups gone = groups_of(old, now);
  const Groups come = groups_of(now, old);
  for (const auto& [key, group] : gone) {
    const auto partner = come.find(key);
    if (partner == come.end() || !is_operator(group.op)) continue;
    rows.push_back(row_of(&group, &partner->second, step_ns));
  }
  add_alone(rows, old, now, come, true, step_ns);
  add_alone(rows, now, old, gone, false, step_ns);
  sort_by_change(rows);
  for (const Row& row : rows) {
    table.add({row.verdict, row.kernel, row.was.empty() ? Cell(Null{}) : Cell(row.was), row.op,
               row.before_ns, row.after_ns, row.after_ns - row.before_ns,
               (row.after_ns - row.before_ns) / row.before_ns, row.before_count, row.after_count,
               row.work_class});
  }
}

void add_operators(base::Table& table, const SideRank& before, const SideRank& after) {
  Operators old = operators_of(before);
  const Operators now = operators_of(after);
  rename_alike(old, now);
  std::vector<std::string> names;
  for (const auto& [name, op] : old) names.push_back(name);
  for (const auto& [name, op] : now) {
    if (!old.contains(name)) names.push_back(name);
  }
  const auto of = [](const Operators& side, const std::string& name) {
    const auto found = side.find(name);
    return found == side.end() ? Operator{} : found->second;
  };
  std::ranges::stable_sort(names, std::ranges::greater{}, [&](const std::string& name) {
    const Operator a = of(old, name);
    const Operator b = of(now, name);
    return std::max(std::abs(b.device_ns - a.device_ns), std::abs(b.host_ns - a.host_ns));
  });
  const double step_ns = std::max(before.step_ns, after.step_ns);
  for (const std::string& name : names) {
    const Operator a = of(old, name);
    const Operator b = of(now, name);
    // Whichever of the two changed more decides.
    const bool on_device = std::abs(b.device_ns - a.device_ns) >= std::abs(b.host_ns - a.host_ns);
    const std::string_view verdict = !old.contains(name)   ? "added"
                                     : !now.contains(name) ? "removed"
                                     : on_device ? verdict_of(a.device_ns, b.device_ns, step_ns)
                                                 : verdict_of(a.host_ns, b.host_ns, step_ns);
    table.add({verdict, name, a.device_ns, b.device_ns, b.device_ns - a.device_ns, a.host_ns,
               b.host_ns, b.host_ns - a.host_ns, a.calls, b.calls});
  }
}

}  // namespace stepscope::analysis
