// Model FLOPs utilisation: the multiply-adds a step needs, per second of the step, of what the
// devices can do. Honest about what it does not see: the share of kernel time whose FLOPs are known
// stands beside it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/costs/call_costs.h"
#include "analysis/costs/device_peaks.h"
#include "analysis/costs/peaks.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// What model FLOPs utilisation adds up: FLOPs and time by step, by arithmetic, and of what is not
// known; the profiler's counts beside ours.

// The place of types without a peak, after all arithmetics.
constexpr std::size_t kNoPeak = kArithmetics;

struct MfuTypeSums {
  Amount flops = 0;
  base::Nanos device_ns = 0;
  double roof_ns = 0;
};

struct MfuStepSums {
  base::Nanos step_ns = 0, compute_ns = 0, known_ns = 0;
  base::Nanos recomputed_ns = 0;  // of compute_ns: of forward calls that ran again
  base::Nanos recomputed_host_ns = 0;
  Amount model = 0, recomputed = 0;
  Amount by_profiler = 0;  // of model
  bool products = false;   // some call's model FLOPs are known
  std::array<Amount, kArithmetics + 1> by_type = [] {
    std::array<Amount, kArithmetics + 1> zeros = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    return zeros;
  }();

  // Some product's FLOPs are known, or there is no kernel that could have been one.
  bool tells() const { return products || known_ns == compute_ns; }

  void merge(const MfuStepSums& other) {
    step_ns += other.step_ns;
    compute_ns += other.compute_ns;
    known_ns += other.known_ns;
    recomputed_ns += other.recomputed_ns;
    recomputed_host_ns += other.recomputed_host_ns;
    model += other.model;
    recomputed += other.recomputed;
    by_profiler += other.by_profiler;
    products = products || other.products;
    for (std::size_t i = 0; i < by_type.size(); ++i) by_type[i] += other.by_type[i];
  }
};

struct MfuUnknownSums {
  std::uint64_t calls = 0;
  base::Nanos device_ns = 0;
};

struct MfuProfilerSums {
  std::uint64_t calls = 0, known = 0, differing = 0;
  Amount theirs = 0, ours = 0, theirs_of_known = 0;
};

// Of one window, or of all windows of a rank.
struct MfuSums {
  std::vector<std::pair<std::int64_t, MfuStepSums>> steps;  // by number, in order
  std::array<MfuTypeSums, kArithmetics + 1> types = {};
  std::map<std::pair<Missing, std::string>, MfuUnknownSums> unknown;
  std::map<std::string, MfuProfilerSums> profiler;
  std::vector<Peaks> devices;  // in use, with what they can do
  bool all_known = true;       // the peaks of all of them
  bool on_device = false;      // something ran on one
  std::uint64_t calls_by_profiler = 0;

  void merge(const MfuSums& other);
};

trace::SignatureId mfu_sums_signature_of(const trace::Trace& trace, trace::Row row) {
  const std::uint32_t entry = trace.ops().rows.find(row);
  return entry == base::RowSet::kNone ? trace::kNoSignature : trace.ops().signature[entry];
}

// Biases and the like, which one side counts and the other does not, are no difference.
bool differ(std::int64_t ours, std::int64_t theirs) {
  const double apart = static_cast<double>(ours) - static_cast<double>(theirs);
  return std::abs(apart) > 0.01 * static_cast<double>(theirs);
}

class MfuSumsCounting {
 public:
  MfuSumsCounting(const RunView& view, const WindowView& window, bool full)
      : view_(view),
        window_(window),
        full_(full),
        costs_(call_costs(window)),
        ops_(op_calls(window)) {}

  MfuSums count() {
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
      out_.on_device = true;
      const FoundPeaks found = peaks_of(view_, window_, device.device);
      out_.all_known = out_.all_known && found.peaks.has_value();
      if (found.peaks) out_.devices.push_back(*found.peaks);
    }
  }

  MfuStepSums* step_of(std::int32_t step) {
    return step < 0 ? nullptr : &steps_[static_cast<std::size_t>(step)];
  }

  bool in_chosen_step(std::int32_t step) const {
    return step >= 0 && window_.steps[static_cast<std::size_t>(step)].selected;
  }

  void add_work() {
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      if (piece.work_class != WorkClass::kCompute) continue;
      if (MfuStepSums* step = step_of(piece.step)) step->compute_ns += piece.length();
      if (costs_.of_work[i] != CallCosts::kNone || !in_chosen_step(piece.step)) continue;
      const NoOperator why = why_no_operator(window_, piece);
      MfuUnknownSums& sums = out_.unknown[{missing_of(why), std::string(name_of(why))}];
      ++sums.calls;
      sums.device_ns += piece.length();
    }
  }

  void add_calls() {
    for (const RecomputedStretch& again : costs_.recomputed) {
      MfuStepSums* const step = step_of(step_at(window_.steps, again.start));
      if (step != nullptr) step->recomputed_host_ns += again.end - again.start;
    }
    for (const CostedCall& call : costs_.calls) {
      const Cost& cost = costs_.cost(call);
      MfuStepSums* step = step_of(call.step);
      if (step != nullptr && call.recomputed) step->recomputed_ns += call.compute_ns;
      // What is known to multiply no matrices has no model FLOPs, whatever its inputs. Nor has what
      // a product does beside the products inside it.
      const bool none = (call.family != Family::kCount && !multiplies_matrices(call.family)) ||
                        cost.missing == Missing::kParts;
      if (!none && !cost.flops.known()) {
        if (!in_chosen_step(call.step)) continue;
        const auto row = ops_.calls[call.call].row;
        MfuUnknownSums& sums =
            out_.unknown[{cost.missing, std::string(window_.trace->name_text(row))}];
        ++sums.calls;
        sums.device_ns += call.compute_ns;
        continue;
      }
      if (step != nullptr) step->known_ns += call.compute_ns;
      if (none) continue;
      const auto arithmetic = arithmetic_of(call);
      const std::size_t type = arithmetic ? static_cast<std::size_t>(*arithmetic) : kNoPeak;
      const Amount masked = full_ ? cost.masked_flops : Amount(0);
      const Amount once =
          call.recomputed ? Amount(0) : cost.flops + cost.recomputed_flops * -1 + masked;
      const Amount masked_again = full_ ? cost.masked_recomputed_flops : Amount(0);
      const Amount again =
          call.recomputed ? cost.flops + masked : cost.recomputed_flops + masked_again;
      if (step != nullptr) {
        step->products = true;
        step->model += once;
        step->recomputed += again;
        step->by_type[type] += once;
        if (cost.by_profiler) step->by_profiler += once;
      }
      if (!in_chosen_step(call.step)) continue;
      if (cost.by_profiler) ++out_.calls_by_profiler;
      out_.types[type].flops += cost.flops;
      out_.types[type].device_ns += call.compute_ns;
      if (arithmetic && !out_.devices.empty()) {
        const double peak = out_.devices.front().matrix_flops(*arithmetic);
        if (peak > 0) {
          out_.types[type].roof_ns += static_cast<double>(*cost.flops.value()) / peak * 1e9;
        }
      }
    }
  }

  void add_profiler() {
    const trace::FlopsTable& recorded = window_.trace->flops();
    PairNumbers inputs;
    std::vector<Counted> counted;  // by inputs
    recorded.rows.for_each([&](trace::Row row, std::uint32_t entry) {
      if (!window_.counts_at(window_.trace->start()[row])) return;
      const std::uint32_t call =
          inputs.number(window_.trace->name()[row], mfu_sums_signature_of(*window_.trace, row));
      if (call == counted.size()) counted.push_back(count_of(row));
      const auto& [sums, flops] = counted[call];
      ++sums->calls;
      sums->theirs += recorded.flops[entry];
      if (!flops.known()) return;
      ++sums->known;
      sums->ours += flops;
      sums->theirs_of_known += recorded.flops[entry];
      if (differ(*flops.value(), recorded.flops[entry])) ++sums->differing;
    });
  }

  // What calls of one name with the same inputs are compared with.
  struct Counted {
    MfuProfilerSums* sums;
    Amount flops;  // by the formula
  };
  Counted count_of(trace::Row row) {
    const std::string_view name = window_.trace->name_text(row);
    MfuProfilerSums& sums = out_.profiler[std::string(name)];
    const Formula* formula = find_formula(name);
    if (formula == nullptr) return {&sums, Amount::unknown()};
    return {&sums, cost_of(*formula, name, inputs_of(*window_.trace, row)).flops};
  }

  const RunView& view_;
  const WindowView& window_;
  bool full_;
  const CallCosts& costs_;
  const OpCalls& ops_;
  std::vector<MfuStepSums> steps_;
  MfuSums out_;
};

// With causal attention in full, or the pairs that its mask lets through.
MfuSums mfu_sums(const RunView& view, const WindowView& window, bool causal_in_full) {
  return MfuSumsCounting(view, window, causal_in_full).count();
}

void MfuSums::merge(const MfuSums& other) {
  steps.insert(steps.end(), other.steps.begin(), other.steps.end());
  for (std::size_t i = 0; i < types.size(); ++i) {
    types[i].flops += other.types[i].flops;
    types[i].device_ns += other.types[i].device_ns;
    types[i].roof_ns += other.types[i].roof_ns;
  }
  for (const auto& [key, sums] : other.unknown) {
    unknown[key].calls += sums.calls;
    unknown[key].device_ns += sums.device_ns;
  }
  for (const auto& [key, sums] : other.profiler) {
    MfuProfilerSums& mine = profiler[key];
    mine.calls += sums.calls;
    mine.known += sums.known;
    mine.differing += sums.differing;
    mine.theirs += sums.theirs;
    mine.ours += sums.ours;
    mine.theirs_of_known += sums.theirs_of_known;
  }
  if (devices.empty()) devices = other.devices;
  all_known = all_known && other.all_known;
  on_device = on_device || other.on_device;
  calls_by_profiler += other.calls_by_profiler;
}

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 2> kCausal = {"half", "full"};
constexpr std::array kMfuParameters = std::to_array<Parameter>({
    {"causal", ParameterType::kChoice, "half",
     "causal attention counts the pairs its mask lets through, or all of them", kCausal},
});

constexpr std::array kMfuStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
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
     "of matrix products, convolutions and attention, without what was computed twice; null: none "
     "of them is known, or no GPU worked"},
    {"recomputed_flops", Type::kInt, Unit::kCount,
     "what attention's backward and checkpointing computed twice"},
    {"profiler_flops", Type::kInt, Unit::kCount,
     "of model_flops: as the profiler counted (with_flops), where no formula tells"},
    {"compute_ns", Type::kInt, Unit::kNanos, "lengths of its compute kernels, added"},
    {"recomputed_ns", Type::kInt, Unit::kNanos,
     "of compute_ns: kernels of the forward pass that the backward pass ran again"},
    {"recomputed_host_ns", Type::kInt, Unit::kNanos,
     "the host spent on starting them, from the first operator of each stretch to its last"},
});
constexpr std::array kTypeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"arithmetic", Type::kText, Unit::kNone, "bf16, tf32, fp32; null: a type without a peak"},
    {"flops", Type::kInt, Unit::kCount, "of matrix products, convolutions and attention"},
    {"share", Type::kReal, Unit::kShare, "of all their FLOPs"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of their kernels, added"},
    {"tflop_per_second", Type::kReal, Unit::kNone, "flops per device_ns"},
    {"peak_share", Type::kReal, Unit::kShare, "of what the device can do in it"},
});
constexpr std::array kUnknownColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"missing", Type::kText, Unit::kNone, "what would be needed to know the FLOPs"},
    {"operator", Type::kText, Unit::kNone, "that launched the kernels"},
    {"calls", Type::kInt, Unit::kCount, "of it, or kernels where there is no operator"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of their compute kernels, added"},
    {"share", Type::kReal, Unit::kShare, "of the time of all compute kernels"},
});
constexpr std::array kProfilerColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"operator", Type::kText, Unit::kNone, "with a count of the profiler (with_flops=True)"},
    {"calls", Type::kInt, Unit::kCount, "with such a count"},
    {"profiler_flops", Type::kInt, Unit::kCount, "as the profiler counted"},
    {"known_calls", Type::kInt, Unit::kCount, "of the calls: ours are known too"},
    {"flops", Type::kInt, Unit::kCount, "ours, of the known calls"},
    {"ratio", Type::kReal, Unit::kNone, "ours to the profiler's, over the known calls"},
    {"differing_calls", Type::kInt, Unit::kCount,
     "of the known calls: ours and the profiler's are more than 1 % apart"},
});
constexpr std::array<std::string_view, 2> kMfuBars = {"mfu_share", "hfu_share"};
constexpr std::array kMfuTables = std::to_array<base::TableShape>({
    {"steps",
     "one step of one rank, then all of them",
     kMfuStepColumns,
     {base::Chart::kBars, "step", kMfuBars, "rank"}},
    {"types", "one kind of arithmetic on one rank", kTypeColumns},
    {"unknown", "operators whose model FLOPs are not known, the longest first", kUnknownColumns},
    {"profiler",
     "an operator the profiler counted, beside our count; torch writes no counts into its files",
     kProfilerColumns},
});

double real_mfu(const Amount& amount) { return static_cast<double>(*amount.value()); }

base::Cell ratio_mfu(double part, double whole) {
  return whole > 0 ? base::Cell(part / whole) : base::Null{};
}

// The arithmetic of most FLOPs, or kNoPeak.
std::size_t most_used(const MfuStepSums& sums) {
  std::size_t most = kNoPeak;
  for (std::size_t i = 0; i < kArithmetics; ++i) {
    const auto flops = sums.by_type[i].value().value_or(0);
    if (flops > 0 && (most == kNoPeak || flops > *sums.by_type[most].value())) most = i;
  }
  return most;
}

void add_mfu_step(base::Table& table, std::int32_t rank, base::Cell number, const MfuStepSums& sums,
                  const MfuSums& of) {
  const std::size_t most = most_used(sums);
  double peak = 0;
  if (most != kNoPeak && of.all_known) {
    for (const Peaks& device : of.devices)
      peak += device.matrix_flops(static_cast<Arithmetic>(most));
  }
  const base::Cell none = base::Null{};
  const auto seconds = static_cast<double>(sums.step_ns) / 1e9;
  // What the host computes is not counted.
  const bool tells = of.on_device && sums.tells();
  const bool known = tells && sums.model.known() && sums.recomputed.known();
  const auto count = [&](const Amount& amount) {
    return tells ? base::Cell(amount.value()) : base::Null{};
  };
  const double model = known ? real_mfu(sums.model) : 0;
  const double hardware = known ? model + real_mfu(sums.recomputed) : 0;
  table.add(
      {rank, number, sums.step_ns, known && peak > 0 ? ratio_mfu(model, seconds * peak) : none,
       known && peak > 0 ? ratio_mfu(hardware, seconds * peak) : none,
       ratio_mfu(static_cast<double>(sums.known_ns), static_cast<double>(sums.compute_ns)),
       most == kNoPeak ? none : base::Cell(name_of(static_cast<Arithmetic>(most))),
       peak > 0 ? base::Cell(peak / 1e12) : none, known ? ratio_mfu(model / 1e12, seconds) : none,
       count(sums.model), count(sums.recomputed), count(sums.by_profiler), sums.compute_ns,
       sums.recomputed_ns, sums.recomputed_host_ns});
}

void add_types(base::Table& table, std::int32_t rank, const MfuSums& sums) {
  Amount all = 0;
  for (const MfuTypeSums& type : sums.types) all += type.flops;
  for (std::size_t i = 0; i < sums.types.size(); ++i) {
    const MfuTypeSums& type = sums.types[i];
    if (type.device_ns == 0 && type.flops.value() == 0) continue;
    const base::Cell none = base::Null{};
    const bool known = type.flops.known() && all.known();
    const auto taken = static_cast<double>(type.device_ns);
    table.add({rank, i == kNoPeak ? none : base::Cell(name_of(static_cast<Arithmetic>(i))),
               type.flops.value(), known ? ratio_mfu(real_mfu(type.flops), real_mfu(all)) : none,
               type.device_ns, known ? ratio_mfu(real_mfu(type.flops) / 1e3, taken) : none,
               type.roof_ns > 0 ? ratio_mfu(type.roof_ns, taken) : none});
  }
}

void add_mfu_unknown(base::Table& table, std::int32_t rank, const MfuSums& sums, Nanos compute) {
  std::vector<const decltype(sums.unknown)::value_type*> order;
  order.reserve(sums.unknown.size());
  for (const auto& row : sums.unknown) order.push_back(&row);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* row) { return row->second.device_ns; });
  for (const auto* row : order) {
    table.add(
        {rank, name_of(row->first.first), row->first.second, row->second.calls,
         row->second.device_ns,
         ratio_mfu(static_cast<double>(row->second.device_ns), static_cast<double>(compute))});
  }
}

void add_mfu_rank(std::vector<base::Table>& tables, std::int32_t rank, const MfuSums& sums) {
  MfuStepSums all;
  for (const auto& [number, step] : sums.steps) {
    add_mfu_step(tables[0], rank, number, step, sums);
    all.merge(step);
  }
  if (sums.steps.size() > 1) {
    add_mfu_step(tables[0], rank, base::Null{}, all, sums);
  }
  add_types(tables[1], rank, sums);
  add_mfu_unknown(tables[2], rank, sums, all.compute_ns);
  for (const auto& [name, p] : sums.profiler) {
    const bool known = p.known > 0 && p.ours.known() && p.theirs_of_known.known();
    const base::Cell none = base::Null{};
    tables[3].add(
        {rank, name, p.calls, p.theirs.value(), p.known, known ? base::Cell(p.ours.value()) : none,
         known ? ratio_mfu(real_mfu(p.ours), real_mfu(p.theirs_of_known)) : none, p.differing});
  }
}

// Where the profiler counted too (with_flops).
std::vector<Remark> remarks_on_counts(const std::map<std::int32_t, MfuSums>& ranks) {
  std::uint64_t used = 0, known = 0, differing = 0;
  for (const auto& [rank, sums] : ranks) {
    used += sums.calls_by_profiler;
    for (const auto& [name, counts] : sums.profiler) {
      known += counts.known;
      differing += counts.differing;
    }
  }
  std::vector<Remark> remarks;
  if (used > 0) {
    remarks.emplace_back(
        fmt::format("FLOPs of {} {} the profiler's own counts: no formula tells them.", used,
                    used == 1 ? "call are" : "calls are"));
  }
  if (differing > 0) {
    remarks.push_back(Remark::on_table(
        "profiler", fmt::format("The profiler's count and ours are more than 1 % apart for {} of "
                                "the {} calls that have both: see the table profiler.",
                                differing, known)));
  }
  return remarks;
}

Answer run_mfu(const RunView& view, const Options& options) {
  const bool full = options.text("causal") == "full";
  const auto partials = per_window<MfuSums>(
      view, [&](const WindowView& window) { return mfu_sums(view, window, full); });
  std::map<std::int32_t, MfuSums> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    ranks[view.windows[w].rank].merge(partials[w]);
  }
  Answer answer;
  for (const base::TableShape& shape : kMfuTables) answer.tables.emplace_back(shape);
  Nanos compute = 0, known = 0;
  bool products = false;
  std::set<Arithmetic> in_use;  // that peaks are needed of
  for (const auto& [rank, sums] : ranks) {
    add_mfu_rank(answer.tables, rank, sums);
    for (const auto& [number, step] : sums.steps) {
      compute += step.compute_ns;
      known += step.known_ns;
      products = products || step.products;
      if (const std::size_t most = most_used(step); most != kNoPeak) {
        in_use.insert(static_cast<Arithmetic>(most));
      }
    }
  }
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  if (std::string why = why_no_steps(view); !why.empty()) answer.remarks.push_back(std::move(why));
  for (std::string& why : remarks_on_peaks(view)) answer.remarks.emplace_back(std::move(why));
  for (std::string& why : why_no_peak_in(view, in_use)) answer.remarks.emplace_back(std::move(why));
  if (!products && known < compute) {
    answer.remarks.emplace_back(why_no_flops(view));
  } else if (compute > 0 && known * 10 < compute * 9) {
    answer.remarks.push_back(
        fmt::format("Model FLOPs are known for {:.1f} % of the time of compute kernels: what the "
                    "rest computes is "
                    "not counted, so the true utilisation may be higher.",
                    100.0 * static_cast<double>(known) / static_cast<double>(compute)));
  }
  for (Remark& remark : remarks_on_counts(ranks)) answer.remarks.push_back(std::move(remark));
  return answer;
}

}  // namespace

const Analysis kMfu{
    .name = "mfu",
    .title = "Model FLOPs utilisation",
    .question = "How much of what the GPU could compute does training use?",
    .parameters = kMfuParameters,
    .tables = kMfuTables,
    .run = run_mfu,
};

}  // namespace stepscope::analysis
