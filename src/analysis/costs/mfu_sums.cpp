#include "analysis/costs/mfu_sums.h"

#include <cmath>
#include <optional>

#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/costs/device_peaks.h"

namespace stepscope::analysis {
namespace {

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

}  // namespace

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

}  // namespace stepscope::analysis
