// What the time is spent on: operators by name and by call stack, with what they cost on the host,
// on the device and in memory, and whether tensor cores did the work.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/operators/op_groups.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/view.h"
#include "base/table.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::ColumnShape;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;

constexpr ColumnShape kOperatorName{
    "name", Type::kText, Unit::kNone,
    "of the operator; in parentheses: device work of no operator; null: all "
    "the others together"};
constexpr ColumnShape kOperatorCalls{"calls", Type::kInt, Unit::kCount, "how often it was called"};
constexpr std::array kOperatorCosts = std::to_array<ColumnShape>({
    {"device_self_ns", Type::kInt, Unit::kNanos,
     "lengths of the kernels, copies and memsets that it launched itself, added"},
    {"device_self_share", Type::kReal, Unit::kShare, "of device_self_ns of all rows of this rank"},
    {"device_total_ns", Type::kInt, Unit::kNanos,
     "the same, launched by operators inside it too; inside a call of its own name counted once"},
    {"tensor_cores", Type::kText, Unit::kNone,
     "whether its own kernels use tensor cores: yes, no, mixed, unknown (names do not say it); "
     "nothing where it multiplies no matrices and names leave no doubt"},
    {"host_self_ns", Type::kInt, Unit::kNanos,
     "time in it and not in an operator that it called; its calls into the GPU runtime included"},
    {"host_total_ns", Type::kInt, Unit::kNanos, "from its start to its end"},
    {"host_self_share", Type::kReal, Unit::kShare, "of host_self_ns of all rows of this rank"},
    {"tensor_core_share", Type::kReal, Unit::kShare,
     "of device_self_ns in kernels that use tensor cores; null: unknown"},
    {"tensor_core_eligible", Type::kBool, Unit::kNone,
     "whether it computes matrix products of types that this GPU's tensor cores take"},
    {"device_mean_ns", Type::kReal, Unit::kNanos,
     "device_total_ns of a call; inside one of its own name it is none"},
    {"host_mean_ns", Type::kReal, Unit::kNanos,
     "host_total_ns of a call; inside one of its own name it is none"},
    {"runtime_ns", Type::kInt, Unit::kNanos,
     "of host_self_ns in calls into the GPU's runtime and driver"},
    {"work_count", Type::kInt, Unit::kCount, "kernels, copies and memsets it launched itself"},
    {"host_memory_self_bytes", Type::kInt, Unit::kBytes,
     "host memory it allocated itself, less what it freed"},
    {"host_memory_bytes", Type::kInt, Unit::kBytes, "the same with the operators inside it"},
    {"device_memory_self_bytes", Type::kInt, Unit::kBytes,
     "device memory it allocated itself, less what it freed"},
    {"device_memory_bytes", Type::kInt, Unit::kBytes, "the same with the operators inside it"},
});

constexpr ColumnShape kOperatorTypes{"types", Type::kText, Unit::kNone, "of each input"};

template <std::size_t Before, std::size_t After = 0>
constexpr auto with_costs(const std::array<ColumnShape, Before>& before,
                          const std::array<ColumnShape, After>& after = {}) {
  std::array<ColumnShape, Before + kOperatorCosts.size() + After> all{};
  auto* next = std::ranges::copy(before, all.begin()).out;
  next = std::ranges::copy(kOperatorCosts, next).out;
  std::ranges::copy(after, next);
  return all;
}
constexpr auto kOperatorColumns =
    with_costs(std::to_array<ColumnShape>({key::kRank, kOperatorName, kOperatorCalls}));
constexpr auto kOperatorShapeColumns =
    with_costs(std::to_array<ColumnShape>(
                   {key::kRank,
                    kOperatorName,
                    {"shapes", Type::kText, Unit::kNone,
                     "dimensions of each input, [] for what is no tensor; null: not recorded"},
                    kOperatorCalls}),
               std::to_array<ColumnShape>({kOperatorTypes}));
constexpr auto kOperatorStackColumns = with_costs(std::to_array<ColumnShape>(
    {key::kRank,
     kOperatorName,
     {"stack", Type::kText, Unit::kNone,
      "Python frames around the call, the innermost first; null: none recorded"},
     kOperatorCalls}));
constexpr std::array kTensorCoreColumns = std::to_array<ColumnShape>({
    key::kRank,
    {"operators", Type::kText, Unit::kNone,
     "matrix products: operators that tensor cores can speed up; others: the rest"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of the device work they launched themselves"},
    {"used_ns", Type::kInt, Unit::kNanos, "of it in kernels that use tensor cores"},
    {"not_used_ns", Type::kInt, Unit::kNanos, "in kernels that do not, copies and memsets too"},
    {"plain_ns", Type::kInt, Unit::kNanos,
     "of not_used_ns in matrix products by plain multiply-add; the rest turns layouts round, adds "
     "parts up, copies"},
    {"unknown_ns", Type::kInt, Unit::kNanos, "in kernels whose name does not say it"},
    {"used_share", Type::kReal, Unit::kShare, "of device_ns in kernels that use tensor cores"},
});
constexpr std::array<std::string_view, 1> kOperatorBar = {"device_self_ns"};
constexpr std::array kOperatorTables = std::to_array<base::TableShape>({
    {"operators",
     "operators of one name on one rank, the longest on the device first",
     kOperatorColumns,
     {base::Chart::kBars, "name", kOperatorBar, "rank"}},
    {"shapes", "operators of one name with inputs of the same shapes and types",
     kOperatorShapeColumns},
    {"stacks", "operators of one name called from one place", kOperatorStackColumns},
    {"tensor_cores", "device work of operators that multiply matrices, or of the others",
     kTensorCoreColumns},
});

constexpr std::array kOperatorsParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20",
     "rows of each table per rank; the rest is one row. 0: all"},
    {"frames", ParameterType::kCount, "4",
     "innermost Python frames that make a call stack in the table stacks. 0: all"},
});

using OperatorsGroups = std::map<OpLabel, OpSums>;

struct OperatorsRank {
  OperatorsGroups names, shapes, stacks;
  std::array<OpSums, kNoOperators> outside;
  bool memory = false;
};

void add_groups(OperatorsGroups& groups, const OpCosts& costs, const OpKeys& keys) {
  const std::vector<OpSums> sums = costs.by_key(keys.key, keys.labels.size());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (!sums[k].empty()) groups[keys.labels[k]].merge(sums[k]);
  }
}

OperatorsRank compute_operators(const WindowView& window, std::size_t frames) {
  const OpCosts costs(window);
  OperatorsRank out;
  add_groups(out.names, costs, keys_by_name(window, costs.calls()));
  if (const OpKeys keys = keys_by_shape(window, costs.calls()); keys.has_details) {
    add_groups(out.shapes, costs, keys);
  }
  if (const OpKeys keys = keys_by_stack(window, costs.calls(), frames); keys.has_details) {
    add_groups(out.stacks, costs, keys);
  }
  std::ranges::copy(costs.outside(), out.outside.begin());
  out.memory = costs.has_memory();
  return out;
}

void merge_operators(OperatorsRank& into, const OperatorsRank& other) {
  for (const auto& [label, sums] : other.names) into.names[label].merge(sums);
  for (const auto& [label, sums] : other.shapes) into.shapes[label].merge(sums);
  for (const auto& [label, sums] : other.stacks) into.stacks[label].merge(sums);
  for (std::size_t i = 0; i < kNoOperators; ++i) into.outside[i].merge(other.outside[i]);
  into.memory |= other.memory;
}

// A little that is not known does not hide what is known of the rest.
constexpr Nanos kKnownEnough = 20;

Cell tensor_cores(const OpSums& sums) {
  if (sums.device_self == 0) return Null{};
  if (sums.tensor_used == sums.device_self) return "yes";
  if (sums.tensor_used > 0) return "mixed";
  if (kKnownEnough * sums.tensor_unknown > sums.device_self) return "unknown";
  return sums.eligible ? Cell("no") : Cell(Null{});
}

// Null where it is not known of all.
Cell tensor_core_share(const OpSums& sums) {
  if (sums.tensor_unknown > 0) return Null{};
  return share_of(sums.tensor_used, sums.device_self);
}

struct OperatorsLine {
  const OpLabel* label;
  const OpSums* sums;
  bool is_operator;
};

enum class Sort : std::uint8_t { kNames, kShapes, kStacks };  // in the order of the tables

// The rows of one table of one rank.
class OperatorsWriter {
 public:
  OperatorsWriter(base::Table& table, Sort sort, std::int32_t rank, const OperatorsRank& about)
      : table_(&table), sort_(sort), rank_(rank), memory_(about.memory) {}

  void write(const OperatorsGroups& groups, const std::array<OpSums, kNoOperators>& outside,
             std::size_t top) {
    std::array<OpLabel, kNoOperators> names;
    std::vector<OperatorsLine> lines;
    lines.reserve(groups.size() + kNoOperators);
    for (const auto& [label, sums] : groups) lines.push_back({&label, &sums, true});
    for (std::size_t i = 0; i < kNoOperators; ++i) {
      names[i].name = name_of(static_cast<NoOperator>(i));
      if (!outside[i].empty()) lines.push_back({&names[i], &outside[i], false});
    }
    for (const OperatorsLine& line : lines) {
      device_ += line.sums->device_self;
      host_ += line.sums->host_self;
    }
    std::ranges::stable_sort(lines, [](const OperatorsLine& a, const OperatorsLine& b) {
      return std::pair(a.sums->device_self, a.sums->host_self) >
             std::pair(b.sums->device_self, b.sums->host_self);
    });
    // One row more costs no more lines than "the others" would.
    const bool fits = top == 0 || lines.size() <= top + 1;
    const std::size_t shown = fits ? lines.size() : top;
    for (std::size_t i = 0; i < shown; ++i) add(lines[i]);
    if (!fits) add_rest(std::span(lines).subspan(shown));
  }

 private:
  void add(const OperatorsLine& line) {
    const OpSums& sums = *line.sums;
    std::vector<Cell> cells = first_cells(line.label->name);
    if (sort_ != Sort::kNames) cells.push_back(text(line.label->detail));
    const auto calls = static_cast<double>(sums.outermost);
    const auto host = [&](auto value) { return line.is_operator ? Cell(value) : Cell(Null{}); };
    const Cell costs[] = {host(sums.calls),
                          sums.device_self,
                          share_of(sums.device_self, device_),
                          sums.device_total,
                          tensor_cores(sums),
                          host(sums.host_self),
                          host(sums.host_total),
                          host(share_of(sums.host_self, host_)),
                          tensor_core_share(sums),
                          host(sums.eligible),
                          host(static_cast<double>(sums.device_total) / calls),
                          host(static_cast<double>(sums.host_total) / calls),
                          host(sums.runtime),
                          sums.work};
    cells.insert(cells.end(), std::begin(costs), std::end(costs));
    add_memory(cells, sums, true);
    if (sort_ == Sort::kShapes) cells.push_back(text(line.label->types));
    table_->add(cells);
  }
  // Totals of different names hold each other, so that their sum would mean nothing.
  void add_rest(std::span<const OperatorsLine> lines) {
    OpSums rest;
    for (const OperatorsLine& line : lines) rest.merge(*line.sums);
    std::vector<Cell> cells = first_cells(Null{});
    if (sort_ != Sort::kNames) cells.emplace_back("");  // of many, which is not "not recorded"
    const Cell costs[] = {rest.calls,
                          rest.device_self,
                          share_of(rest.device_self, device_),
                          Null{},
                          Null{},
                          rest.host_self,
                          Null{},
                          share_of(rest.host_self, host_),
                          tensor_core_share(rest),
                          Null{},
                          Null{},
                          Null{},
                          rest.runtime,
                          rest.work};
    cells.insert(cells.end(), std::begin(costs), std::end(costs));
    add_memory(cells, rest, false);
    if (sort_ == Sort::kShapes) cells.emplace_back(Null{});
    table_->add(cells);
  }
  static Cell text(const std::string& text) { return text.empty() ? Cell(Null{}) : Cell(text); }
  std::vector<Cell> first_cells(const Cell& name) const {
    std::vector<Cell> cells;
    cells.reserve(table_->width());
    cells.emplace_back(rank_);
    cells.push_back(name);
    return cells;
  }
  void add_memory(std::vector<Cell>& cells, const OpSums& sums, bool totals) const {
    const auto cell = [&](base::Bytes bytes, bool known) {
      return memory_ && known ? Cell(bytes) : Cell(Null{});
    };
    cells.push_back(cell(sums.memory_self.host, true));
    cells.push_back(cell(sums.memory_total.host, totals));
    cells.push_back(cell(sums.memory_self.device, true));
    cells.push_back(cell(sums.memory_total.device, totals));
  }
  base::Table* table_;
  Sort sort_;
  std::int32_t rank_;
  bool memory_;
  Nanos device_ = 0, host_ = 0;
};

void add_tensor_cores(base::Table& table, std::int32_t rank, const OperatorsRank& about) {
  OpSums products;
  OpSums others;
  for (const auto& [label, sums] : about.names) {
    (sums.eligible ? products : others).merge(sums);
  }
  for (const OpSums& sums : about.outside) others.merge(sums);
  const auto add = [&](std::string_view which, const OpSums& sums) {
    if (sums.work == 0) return;
    table.add({rank, which, sums.device_self, sums.tensor_used,
               sums.device_self - sums.tensor_used - sums.tensor_unknown, sums.tensor_plain,
               sums.tensor_unknown, share_of(sums.tensor_used, sums.device_self)});
  };
  add("matrix products", products);
  add("others", others);
}

Answer run_operators(const RunView& view, const Options& options) {
  const auto frames = static_cast<std::size_t>(options.count("frames"));
  const auto top = static_cast<std::size_t>(options.count("top"));
  const auto partials = per_window<OperatorsRank>(
      view, [&](const WindowView& window) { return compute_operators(window, frames); });
  std::map<std::int32_t, OperatorsRank> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    merge_operators(ranks[view.windows[w].rank], partials[w]);
  }

  Answer answer;
  for (const base::TableShape& shape : kOperatorTables) answer.tables.emplace_back(shape);
  bool operators = false;
  for (const auto& [rank, about] : ranks) {
    const std::array<const OperatorsGroups*, 3> groups = {&about.names, &about.shapes,
                                                          &about.stacks};
    for (std::size_t t = 0; t < groups.size(); ++t) {
      if (t > 0 && groups[t]->empty()) continue;
      OperatorsWriter(answer.tables[t], static_cast<Sort>(t), rank, about)
          .write(*groups[t], about.outside, top);
    }
    add_tensor_cores(answer.tables[3], rank, about);
    operators |= !about.names.empty();
  }
  const bool empty = std::ranges::all_of(
      view.windows, [](const WindowView& window) { return window.trace->size() == 0; });
  const bool elsewhere = std::ranges::any_of(
      view.windows, [](const WindowView& window) { return !op_calls(window).calls.empty(); });
  if (!operators && elsewhere) {
    answer.remarks.emplace_back(
        "No operator began in the chosen steps; the trace has some in others.");
  } else if (!operators && !empty) {
    answer.remarks.emplace_back("The trace has no operators: record it with the CPU activity.");
  } else if (operators) {
    if (answer.tables[1].rows() == 0) {
      answer.remarks.push_back(Remark::on_table(
          "shapes",
          "Shapes of inputs were not recorded (record_shapes=True would), so the table shapes is "
          "empty."));
    }
    if (answer.tables[2].rows() == 0) {
      answer.remarks.push_back(Remark::on_table(
          "stacks",
          "Call stacks were not recorded (with_stack=True would), so the table stacks is empty."));
    }
  }
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  return answer;
}

}  // namespace

const Analysis kOperators{
    .name = "operators",
    .title = "Operators",
    .question = "Which operators take the time, on the host and on the GPU?",
    .parameters = kOperatorsParameters,
    .tables = kOperatorTables,
    .run = run_operators,
};

}  // namespace stepscope::analysis
