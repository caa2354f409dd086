// The ranges a user named, on the host and on the device. A range owns the device work that calls
// inside it start, on its own thread; what runs on the device meanwhile may belong to others.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/name_sign.h"
#include "analysis/registry.h"
#include "analysis/view.h"
#include "trace/step_names.h"
#include "trace/trace.h"

namespace stepscope::analysis {
namespace {

// For every host event, the named range around it and the forward operator it is the backward of.
// Found in one pass: a parent stands before its children.

class AnnotationTree {
 public:
  explicit AnnotationTree(const trace::Trace& trace);

  // The innermost annotation around a row, not the row itself; kNoRow for none.
  trace::Row around(trace::Row row) const { return around_[row]; }
  // The forward operator of the innermost backward operator at or around a row.
  trace::Row forward_of(trace::Row row) const { return forward_[row]; }

 private:
  std::vector<trace::Row> around_, forward_;
};

using trace::Row;

AnnotationTree::AnnotationTree(const trace::Trace& trace)
    : around_(trace.size(), trace::kNoRow), forward_(trace.size(), trace::kNoRow) {
  const trace::BackwardTable& backward = trace.backward();
  backward.rows.for_each(
      [&](Row row, std::uint32_t entry) { forward_[row] = backward.forward[entry]; });
  for (Row row = 0; row < trace.size(); ++row) {
    const Row parent = trace.parent()[row];
    if (parent == trace::kNoRow) continue;
    around_[row] = trace.kind()[parent] == trace::Kind::kAnnotation ? parent : around_[parent];
    if (forward_[row] == trace::kNoRow) forward_[row] = forward_[parent];
  }
}

using base::Nanos;
using base::Type;
using base::Unit;
using trace::Kind;
using trace::Row;

constexpr std::array kAnnotationsParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "30", "names per rank, the longest on the host. 0: all"},
    {"with-steps", ParameterType::kSwitch, "false", "the marks of the steps too"},
});

constexpr std::array kAnnotationsColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"name", Type::kText, Unit::kNone, "of the range"},
    {"count", Type::kInt, Unit::kCount, "ranges of this name on the host"},
    {"host_sum_ns", Type::kInt, Unit::kNanos, "their lengths, added"},
    {"host_mean_ns", Type::kReal, Unit::kNanos, "length of a range"},
    {"host_min_ns", Type::kInt, Unit::kNanos, "the shortest"},
    {"host_max_ns", Type::kInt, Unit::kNanos, "the longest"},
    {"host_self_ns", Type::kInt, Unit::kNanos, "host_sum_ns without the ranges inside them"},
    {"work_count", Type::kInt, Unit::kCount,
     "kernels, copies and memsets that calls inside them started"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of that work, added"},
    {"device_self_ns", Type::kInt, Unit::kNanos, "of it what no range inside them started"},
    {"backward_ns", Type::kInt, Unit::kNanos,
     "lengths of the work that the backward pass of their operators started"},
    {"device_range_count", Type::kInt, Unit::kCount,
     "ranges of this name that the profiler drew on the device"},
    {"device_range_ns", Type::kInt, Unit::kNanos,
     "their lengths, added: from the first to the last kernel, with gaps"},
});
constexpr std::array<std::string_view, 2> kAnnotationsBars = {"host_sum_ns", "device_ns"};
constexpr std::array kAnnotationsTables = std::to_array<base::TableShape>({
    {"annotations",
     "ranges of one name on one rank",
     kAnnotationsColumns,
     {base::Chart::kBars, "name", kAnnotationsBars, "rank"}},
});

struct Ranges {
  std::uint64_t count = 0;
  Nanos sum = 0, min = 0, max = 0, self = 0;
  std::uint64_t work = 0;
  Nanos device = 0, device_self = 0, backward = 0;
  std::uint64_t device_ranges = 0;
  Nanos device_range = 0;

  void add(Nanos length) {
    min = count == 0 ? length : std::min(min, length);
    max = std::max(max, length);
    sum += length;
    self += length;
    ++count;
  }
  void merge(const Ranges& other) {
    if (other.count > 0) min = count == 0 ? other.min : std::min(min, other.min);
    max = std::max(max, other.max);
    count += other.count;
    sum += other.sum;
    self += other.self;
    work += other.work;
    device += other.device;
    device_self += other.device_self;
    backward += other.backward;
    device_ranges += other.device_ranges;
    device_range += other.device_range;
  }
};

using AnnotationsNames = std::map<std::string_view, Ranges>;

class AnnotationsCounting {
 public:
  AnnotationsCounting(const WindowView& window, bool with_steps)
      : window_(window),
        trace_(*window.trace),
        with_steps_(with_steps),
        tree_(trace_),
        step_names_(trace_, trace::names_a_step) {
    steps_.reserve(trace_.steps().list.size());
    for (const trace::Step& step : trace_.steps().list) steps_.push_back(step.row);
    std::ranges::sort(steps_);
  }

  AnnotationsNames count() {
    by_name_.resize(trace_.strings().size());
    for (Row row = 0; row < trace_.size(); ++row) {
      if (trace_.kind()[row] == Kind::kAnnotation) add_host(row);
      if (trace_.kind()[row] == Kind::kGpuAnnotation) add_device(row);
    }
    for (const Work& piece : window_.work) {
      if (piece.launch != trace::kNoRow) add_work(piece);
    }
    AnnotationsNames out;
    for (std::size_t name = 0; name < by_name_.size(); ++name) {
      const Ranges& found = by_name_[name];
      if (found.count == 0 && found.device_ranges == 0) continue;
      out[trace_.text(static_cast<base::StringId>(name))].merge(found);
    }
    return out;
  }

 private:
  bool listed(Row row) {
    if (trace_.name()[row] == base::kNoString) return false;
    if ((trace_.flags()[row] & trace::kFarTime) != 0) return false;
    return with_steps_ || !is_step(row);
  }
  bool is_step(Row row) {
    return step_names_.matches_row(row) || std::ranges::binary_search(steps_, row);
  }
  // Whether the table has this range: it is listed, and in a step that was asked for.
  bool counts(Row row) { return listed(row) && window_.counts_at(trace_.start()[row]); }
  Ranges& ranges_of(Row row) { return by_name_[trace_.name()[row]]; }

  // The ranges around a row, from the inside out, that the table has.
  Row around(Row row) {
    for (row = tree_.around(row); row != trace::kNoRow && !listed(row);) row = tree_.around(row);
    return row;
  }

  void add_host(Row row) {
    if (trace_.phase()[row] != trace::Phase::kSpan || !counts(row)) return;
    ranges_of(row).add(trace_.duration()[row]);
    const Row outer = around(row);
    if (outer == trace::kNoRow || !counts(outer)) return;
    // A range may end a little after the one around it.
    const Nanos inside = std::min(trace_.end(row), trace_.end(outer)) - trace_.start()[row];
    ranges_of(outer).self -= std::max<Nanos>(inside, 0);
  }

  void add_device(Row row) {
    // Counted by its own time: the profiler does not say which host range it mirrors.
    if (!listed(row) || !window_.counts_at(trace_.start()[row])) return;
    ++ranges_of(row).device_ranges;
    ranges_of(row).device_range += trace_.duration()[row];
  }

  // Calls add(ranges) once for every name around a row.
  template <class Add>
  void for_names_around(Row row, Add add) {
    seen_.clear();
    for (Row range = around(row); range != trace::kNoRow; range = around(range)) {
      const base::StringId name = trace_.name()[range];
      if (!counts(range) || std::ranges::find(seen_, name) != seen_.end()) continue;
      seen_.push_back(name);
      add(by_name_[name]);
    }
  }

  void add_work(const Work& piece) {
    for_names_around(piece.launch, [&](Ranges& ranges) {
      ++ranges.work;
      ranges.device += piece.length();
    });
    if (const Row inner = around(piece.launch); inner != trace::kNoRow && counts(inner)) {
      ranges_of(inner).device_self += piece.length();
    }
    if (const Row forward = tree_.forward_of(piece.launch); forward != trace::kNoRow) {
      for_names_around(forward, [&](Ranges& ranges) { ranges.backward += piece.length(); });
    }
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  bool with_steps_;
  AnnotationTree tree_;
  NameSign step_names_;
  std::vector<Row> steps_;  // sorted
  std::vector<Ranges> by_name_;
  std::vector<base::StringId> seen_;
};

// How many names were left out.
std::size_t add_annotations_rank(base::Table& table, std::int32_t rank,
                                 const AnnotationsNames& names, std::size_t top) {
  std::vector<const std::pair<const std::string_view, Ranges>*> order;
  order.reserve(names.size());
  for (const auto& name : names) order.push_back(&name);
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto* name) {
    return std::pair(name->second.sum, name->second.device_range);
  });
  const std::size_t shown = top == 0 ? order.size() : std::min(top, order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, r] = *order[i];
    const base::Cell none = base::Null{};
    const bool host = r.count > 0;
    table.add({rank, name, r.count, r.sum,
               host ? static_cast<double>(r.sum) / static_cast<double>(r.count) : none,
               host ? base::Cell(r.min) : none, host ? base::Cell(r.max) : none, r.self, r.work,
               r.device, r.device_self, r.backward, r.device_ranges, r.device_range});
  }
  return order.size() - shown;
}

Answer run_annotations(const RunView& view, const Options& options) {
  const bool with_steps = options.on("with-steps");
  const auto partials = per_window<AnnotationsNames>(view, [&](const WindowView& window) {
    return AnnotationsCounting(window, with_steps).count();
  });
  std::map<std::int32_t, AnnotationsNames> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    for (const auto& [name, ranges] : partials[w]) {
      ranks[view.windows[w].rank][name].merge(ranges);
    }
  }
  Answer answer;
  base::Table table(kAnnotationsTables[0]);
  std::size_t left_out = 0;
  for (const auto& [rank, names] : ranks) {
    left_out = std::max(
        left_out,
        add_annotations_rank(table, rank, names, static_cast<std::size_t>(options.count("top"))));
  }
  if (ranks.empty()) {
    answer.remarks.emplace_back(
        "The trace has no ranges named by the user: torch.profiler.record_function makes them.");
  }
  const bool backward = std::ranges::any_of(ranks, [](const auto& rank) {
    return std::ranges::any_of(rank.second,
                               [](const auto& name) { return name.second.backward > 0; });
  });
  if (backward) {
    answer.remarks.emplace_back(
        "GPU work of the backward pass is in backward_ns of the ranges that hold the operators it "
        "belongs to: autograd starts it on a thread of its own, so that a range around backward() "
        "has next to none in device_ns.");
  }
  if (left_out > 0) {
    answer.remarks.push_back(Remark::on_limit(
        fmt::format("--top left out up to {} names of a rank; --top 0 lists all.", left_out)));
  }
  answer.tables.push_back(std::move(table));
  return answer;
}

}  // namespace

const Analysis kAnnotations{
    .name = "annotations",
    .title = "Annotated ranges",
    .question = "How long do the ranges named in the code take, on the host and on the GPU?",
    .parameters = kAnnotationsParameters,
    .tables = kAnnotationsTables,
    .run = run_annotations,
};

}  // namespace stepscope::analysis
