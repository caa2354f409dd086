// Model FLOPs utilisation: the multiply-adds a step needs, per second of the step, of what the
// devices can do. Honest about what it does not see: the share of kernel time whose FLOPs are known
// stands beside it.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/costs/call_costs.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 2> kCausal = {"half", "full"};
constexpr std::array kParameters = std::to_array<Parameter>({
    {"causal", ParameterType::kChoice, "half",
     "causal attention counts the pairs its mask lets through, or all of them", kCausal},
});

constexpr std::array kStepColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"step", Type::kInt, Unit::kId, "its number; null: all steps together"},
    {"step_ns", Type::kInt, Unit::kNanos, "time it took"},
    {"mfu_share", Type::kReal, Unit::kShare, "model_flops per step_ns, of the devices' peak"},
    {"hfu_share", Type::kReal, Unit::kShare, "the same with what was computed twice"},
    {"known_share", Type::kReal, Unit::kShare,
     "of the time of compute kernels: their model FLOPs are known; the rest counts as none"},
    {"arithmetic", Type::kText, Unit::kNone, "that did most of the FLOPs; its peak is meant"},
    {"peak_tflop_per_second", Type::kReal, Unit::kNone, "of all devices in use, without sparsity"},
    {"tflop_per_second", Type::kReal, Unit::kNone, "model_flops per step_ns"},
    {"model_flops", Type::kInt, Unit::kCount,
     "of matrix products, convolutions and attention, without what was computed twice"},
    {"recomputed_flops", Type::kInt, Unit::kCount,
     "what attention's backward and checkpointing computed twice"},
    {"compute_ns", Type::kInt, Unit::kNanos, "lengths of its compute kernels, added"},
});
constexpr std::array kTypeColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"arithmetic", Type::kText, Unit::kNone, "bf16, tf32, fp32; null: a type without a peak"},
    {"flops", Type::kInt, Unit::kCount, "of matrix products, convolutions and attention"},
    {"share", Type::kReal, Unit::kShare, "of all their FLOPs"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of their kernels, added"},
    {"tflop_per_second", Type::kReal, Unit::kNone, "flops per device_ns"},
    {"peak_share", Type::kReal, Unit::kShare, "of what the device can do in it"},
});
constexpr std::array kUnknownColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"missing", Type::kText, Unit::kNone, "what would be needed to know the FLOPs"},
    {"operator", Type::kText, Unit::kNone, "that launched the kernels"},
    {"calls", Type::kInt, Unit::kCount, "of it, or kernels where there is no operator"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of their compute kernels, added"},
    {"share", Type::kReal, Unit::kShare, "of the time of all compute kernels"},
});
constexpr std::array kProfilerColumns = std::to_array<base::ColumnShape>({
    {"rank", Type::kInt, Unit::kId, "rank of the process"},
    {"operator", Type::kText, Unit::kNone, "with a count of the profiler (with_flops=True)"},
    {"calls", Type::kInt, Unit::kCount, "with such a count"},
    {"profiler_flops", Type::kInt, Unit::kCount, "as the profiler counted"},
    {"known_calls", Type::kInt, Unit::kCount, "of the calls: ours are known too"},
    {"flops", Type::kInt, Unit::kCount, "ours, of the known calls"},
    {"ratio", Type::kReal, Unit::kNone, "ours to the profiler's, over the known calls"},
});
constexpr std::array<std::string_view, 2> kBars = {"mfu_share", "hfu_share"};
constexpr std::array kTables = std::to_array<base::TableShape>({
    {"steps",
     "one step of one rank, then all of them",
     kStepColumns,
     {base::Chart::kBars, "step", kBars, "rank"}},
    {"types", "one sort of arithmetic on one rank", kTypeColumns},
    {"unknown", "operators whose model FLOPs are not known, the longest first", kUnknownColumns},
    {"profiler", "the profiler's own counts beside ours", kProfilerColumns},
});

constexpr std::size_t kNoArithmetic = kArithmetics;

struct TypeSums {
  Amount flops = 0;
  Nanos device_ns = 0;
  double roof_ns = 0;
};

struct StepSums {
  Nanos step_ns = 0, compute_ns = 0, known_ns = 0;
  Amount model = 0, recomputed = 0;
  std::array<Amount, kArithmetics + 1> by_type = [] {
    std::array<Amount, kArithmetics + 1> zeros = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    return zeros;
  }();

  void merge(const StepSums& other) {
    step_ns += other.step_ns;
    compute_ns += other.compute_ns;
    known_ns += other.known_ns;
    model += other.model;
    recomputed += other.recomputed;
    for (std::size_t i = 0; i < by_type.size(); ++i) by_type[i] += other.by_type[i];
  }
};

struct UnknownSums {
  std::uint64_t calls = 0;
  Nanos device_ns = 0;
};

struct ProfilerSums {
  std::uint64_t calls = 0, known = 0;
  Amount theirs = 0, ours = 0, theirs_of_known = 0;
};

struct Partial {
  std::vector<std::pair<std::int64_t, StepSums>> steps;  // by number, in order
  std::array<TypeSums, kArithmetics + 1> types = {};
  std::map<std::pair<Missing, std::string>, UnknownSums> unknown;
  std::map<std::string, ProfilerSums> profiler;
  std::vector<Peaks> devices;  // in use, with what they can do
  bool all_known = true;       // the peaks of all of them
};

class Counting {
 public:
  Counting(const RunView& view, const WindowView& window, bool full)
      : view_(view),
        window_(window),
        full_(full),
        costs_(call_costs(window)),
        times_(op_times(window)) {}

  Partial count() {
    steps_.resize(window_.steps.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].step_ns = window_.steps[i].span.length();
    }
    find_peaks_in_use();
    add_work();
    add_calls();
    add_profiler();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (window_.steps[i].selected) {
        out_.steps.emplace_back(window_.steps[i].number, steps_[i]);
      }
    }
    return std::move(out_);
  }

 private:
  void find_peaks_in_use() {
    for (const DeviceView& device : window_.devices) {
      if (device.compute.empty()) continue;
      const FoundPeaks found = peaks_of(view_, window_, device.device);
      out_.all_known = out_.all_known && found.peaks.has_value();
      if (found.peaks) out_.devices.push_back(*found.peaks);
    }
  }

  StepSums* step_of(std::int32_t step) {
    return step < 0 ? nullptr : &steps_[static_cast<std::size_t>(step)];
  }

  bool in_chosen_step(std::int32_t step) const {
    return step >= 0 && window_.steps[static_cast<std::size_t>(step)].selected;
  }

  void add_work() {
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      if (piece.work_class != WorkClass::kCompute) continue;
      if (StepSums* step = step_of(piece.step)) step->compute_ns += piece.length();
      if (costs_.of_work[i] != CallCosts::kNone || !in_chosen_step(piece.step)) continue;
      const std::string why(name_of(why_no_operator(window_, piece)));
      UnknownSums& sums = out_.unknown[{Missing::kOperator, why}];
      ++sums.calls;
      sums.device_ns += piece.length();
    }
  }

  void add_calls() {
    for (const CostedCall& call : costs_.calls) {
      const Cost& cost = costs_.cost(call);
      StepSums* step = step_of(call.step);
      // What is known to multiply no matrices has no model FLOPs, whatever its inputs.
      const bool none = call.family != Family::kCount && !multiplies_matrices(call.family);
      if (!none && !cost.flops.known()) {
        if (!in_chosen_step(call.step)) continue;
        const auto row = times_.calls[call.call].row;
        UnknownSums& sums =
            out_.unknown[{cost.missing, std::string(window_.trace->name_text(row))}];
        ++sums.calls;
        sums.device_ns += call.compute_ns;
        continue;
      }
      if (step != nullptr) step->known_ns += call.compute_ns;
      if (none) continue;
      const auto arithmetic = arithmetic_of(call);
      const std::size_t type = arithmetic ? static_cast<std::size_t>(*arithmetic) : kNoArithmetic;
      const Amount masked = full_ ? cost.masked_flops : Amount(0);
      const Amount once =
          call.recomputed ? Amount(0) : cost.flops + cost.recomputed_flops * -1 + masked;
      const Amount again = call.recomputed ? cost.flops + masked : cost.recomputed_flops;
      if (step != nullptr) {
        step->model += once;
        step->recomputed += again;
        step->by_type[type] += once;
      }
      if (!in_chosen_step(call.step)) continue;
      out_.types[type].flops += cost.flops;
      out_.types[type].device_ns += call.compute_ns;
      if (arithmetic && !out_.devices.empty()) {
        const double peak = out_.devices.front().matrix_flops(*arithmetic);
        out_.types[type].roof_ns += static_cast<double>(*cost.flops.value()) / peak * 1e9;
      }
    }
  }

  void add_profiler() {
    const trace::FlopsTable& recorded = window_.trace->flops();
    recorded.rows.for_each([&](trace::Row row, std::uint32_t entry) {
      if (!window_.counts_at(window_.trace->start()[row])) return;
      const std::string_view name = window_.trace->name_text(row);
      ProfilerSums& sums = out_.profiler[std::string(name)];
      ++sums.calls;
      sums.theirs += recorded.flops[entry];
      const Formula* formula = find_formula(name);
      if (formula == nullptr) return;
      const Cost cost = cost_of(*formula, name, inputs_of(*window_.trace, row));
      if (!cost.flops.known()) return;
      ++sums.known;
      sums.ours += cost.flops;
      sums.theirs_of_known += recorded.flops[entry];
    });
  }

  const RunView& view_;
  const WindowView& window_;
  bool full_;
  const CallCosts& costs_;
  const OpTimes& times_;
  std::vector<StepSums> steps_;
  Partial out_;
};

double real(const Amount& amount) { return static_cast<double>(*amount.value()); }

base::Cell ratio(double part, double whole) {
  return whole > 0 ? base::Cell(part / whole) : base::Null{};
}

void add_step(base::Table& table, std::int32_t rank, base::Cell number, const StepSums& sums,
              const std::vector<Peaks>& devices, bool all_known) {
  std::size_t most = kNoArithmetic;
  for (std::size_t i = 0; i < kArithmetics; ++i) {
    const auto flops = sums.by_type[i].value().value_or(0);
    if (flops > 0 && (most == kNoArithmetic || flops > *sums.by_type[most].value())) most = i;
  }
  double peak = 0;
  if (most != kNoArithmetic && all_known) {
    for (const Peaks& device : devices) peak += device.matrix_flops(static_cast<Arithmetic>(most));
  }
  const base::Cell none = base::Null{};
  const auto seconds = static_cast<double>(sums.step_ns) / 1e9;
  const bool known = sums.model.known() && sums.recomputed.known();
  const double model = known ? real(sums.model) : 0;
  const double hardware = known ? model + real(sums.recomputed) : 0;
  table.add({rank, number, sums.step_ns, known && peak > 0 ? ratio(model, seconds * peak) : none,
             known && peak > 0 ? ratio(hardware, seconds * peak) : none,
             ratio(static_cast<double>(sums.known_ns), static_cast<double>(sums.compute_ns)),
             most == kNoArithmetic ? none : base::Cell(name_of(static_cast<Arithmetic>(most))),
             peak > 0 ? base::Cell(peak / 1e12) : none, known ? ratio(model / 1e12, seconds) : none,
             sums.model.value(), sums.recomputed.value(), sums.compute_ns});
}

void add_types(base::Table& table, std::int32_t rank, const Partial& sums) {
  Amount all = 0;
  for (const TypeSums& type : sums.types) all += type.flops;
  for (std::size_t i = 0; i < sums.types.size(); ++i) {
    const TypeSums& type = sums.types[i];
    if (type.device_ns == 0 && type.flops.value() == 0) continue;
    const base::Cell none = base::Null{};
    const bool known = type.flops.known() && all.known();
    const auto taken = static_cast<double>(type.device_ns);
    table.add({rank, i == kNoArithmetic ? none : base::Cell(name_of(static_cast<Arithmetic>(i))),
               type.flops.value(), known ? ratio(real(type.flops), real(all)) : none,
               type.device_ns, known ? ratio(real(type.flops) / 1e3, taken) : none,
               type.roof_ns > 0 ? ratio(type.roof_ns, taken) : none});
  }
}

void add_unknown(base::Table& table, std::int32_t rank, const Partial& sums, Nanos compute) {
  std::vector<const decltype(sums.unknown)::value_type*> order;
  order.reserve(sums.unknown.size());
  for (const auto& row : sums.unknown) order.push_back(&row);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* row) { return row->second.device_ns; });
  for (const auto* row : order) {
    table.add({rank, name_of(row->first.first), row->first.second, row->second.calls,
               row->second.device_ns,
               ratio(static_cast<double>(row->second.device_ns), static_cast<double>(compute))});
  }
}

void merge(Partial& into, const Partial& other) {
  into.steps.insert(into.steps.end(), other.steps.begin(), other.steps.end());
  for (std::size_t i = 0; i < into.types.size(); ++i) {
    into.types[i].flops += other.types[i].flops;
    into.types[i].device_ns += other.types[i].device_ns;
    into.types[i].roof_ns += other.types[i].roof_ns;
  }
  for (const auto& [key, sums] : other.unknown) {
    into.unknown[key].calls += sums.calls;
    into.unknown[key].device_ns += sums.device_ns;
  }
  for (const auto& [key, sums] : other.profiler) {
    ProfilerSums& mine = into.profiler[key];
    mine.calls += sums.calls;
    mine.known += sums.known;
    mine.theirs += sums.theirs;
    mine.ours += sums.ours;
    mine.theirs_of_known += sums.theirs_of_known;
  }
  if (into.devices.empty()) into.devices = other.devices;
  into.all_known = into.all_known && other.all_known;
}

void add_rank(std::vector<base::Table>& tables, std::int32_t rank, const Partial& sums) {
  StepSums all;
  for (const auto& [number, step] : sums.steps) {
    add_step(tables[0], rank, number, step, sums.devices, sums.all_known);
    all.merge(step);
  }
  if (sums.steps.size() > 1) {
    add_step(tables[0], rank, base::Null{}, all, sums.devices, sums.all_known);
  }
  add_types(tables[1], rank, sums);
  add_unknown(tables[2], rank, sums, all.compute_ns);
  for (const auto& [name, p] : sums.profiler) {
    const bool known = p.known > 0 && p.ours.known() && p.theirs_of_known.known();
    const base::Cell none = base::Null{};
    tables[3].add({rank, name, p.calls, p.theirs.value(), p.known,
                   known ? base::Cell(p.ours.value()) : none,
                   known ? ratio(real(p.ours), real(p.theirs_of_known)) : none});
  }
}

Answer run(const RunView& view, const Options& options) {
  const bool full = options.text("causal") == "full";
  const auto partials = per_window<Partial>(
      view, [&](const WindowView& window) { return Counting(view, window, full).count(); });
  std::map<std::int32_t, Partial> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    merge(ranks[view.windows[w].rank], partials[w]);
  }
  Answer answer;
  for (const base::TableShape& shape : kTables) answer.tables.emplace_back(shape);
  Nanos compute = 0, known = 0;
  bool any_flops = false;
  for (const auto& [rank, sums] : ranks) {
    add_rank(answer.tables, rank, sums);
    for (const auto& [number, step] : sums.steps) {
      compute += step.compute_ns;
      known += step.known_ns;
      any_flops = any_flops || step.model.value().value_or(1) > 0;
    }
  }
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  if (std::string why = why_no_steps(view); !why.empty()) answer.remarks.push_back(std::move(why));
  std::set<std::string> said;
  for (const WindowView& window : view.windows) {
    for (const DeviceView& device : window.devices) {
      const FoundPeaks found = peaks_of(view, window, device.device);
      if (found.peaks) continue;
      const std::string name = device.name.empty() ? fmt::format("device {}", device.device)
                                                   : fmt::format("\"{}\"", device.name);
      said.insert(fmt::format("What {} can do at best is not known: it {}. --peaks FILE tells.",
                              name, found.why_not));
    }
  }
  answer.remarks.insert(answer.remarks.end(), said.begin(), said.end());
  if (compute > 0 && !any_flops) {
    answer.remarks.emplace_back(
        "No FLOPs are known: profile with record_shapes=True to have the inputs of operators.");
  } else if (compute > 0 && known * 10 < compute * 9) {
    answer.remarks.push_back(
        fmt::format("Model FLOPs are known for {:.1f} % of the time of compute kernels: what the "
                    "rest computes is "
                    "not counted, so the true utilisation may be higher.",
                    100.0 * static_cast<double>(known) / static_cast<double>(compute)));
  }
  return answer;
}

}  // namespace

const Analysis kMfu{
    .name = "mfu",
    .title = "Model FLOPs utilisation",
    .question = "How much of what the GPU could compute does training use?",
    .parameters = kParameters,
    .tables = kTables,
    .run = run,
};

}  // namespace stepscope::analysis
