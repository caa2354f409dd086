#include "analysis/costs/roofline_rows.h"

#include <utility>
#include <vector>

#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/costs/device_peaks.h"

namespace stepscope::analysis {
namespace {

class RooflineRowsCounting {
 public:
  RooflineRowsCounting(const RunView& view, const WindowView& window)
      : window_(window), costs_(call_costs(window)), ops_(op_calls(window)), names_(*window.trace) {
    for (const DeviceView& device : window.devices) {
      peaks_[device.device] = peaks_of(view, window, device.device).peaks.value_or(Peaks{});
    }
  }

  RoofRows count() {
    // Which device a call's kernels ran on: that of its first one.
    std::vector<const Peaks*> peaks(costs_.calls.size());
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      if (piece.work_class != WorkClass::kCompute || !window_.counts(piece)) continue;
      out_.compute_ns += piece.length();
      const std::uint32_t owner = costs_.of_work[i];
      if (owner == CallCosts::kNone) {
        const NoOperator no_operator = why_no_operator(window_, piece);
        const std::string why(name_of(no_operator));
        const RoofKey key{why, std::string(), RoofKey::kNoArithmetic, Family::kCount,
                          missing_of(no_operator)};
        out_.operators[key].add_unknown(piece.length());
        const std::string kernel(window_.trace->name_text(piece.row));
        out_.kernels[{kernel, why}].add_unknown(piece.length());
        continue;
      }
      const Peaks& device = peaks_[window_.streams[piece.stream].device];
      if (peaks[owner] == nullptr) peaks[owner] = &device;
      add_kernel(piece, costs_.calls[owner], device);
    }
    add_operators(peaks);
    return std::move(out_);
  }

 private:
  std::string operator_of(const CostedCall& call) const {
    return std::string(window_.trace->name_text(ops_.calls[call.call].row));
  }

  void add_operators(const std::vector<const Peaks*>& peaks) {
    // By cost, so one name and its inputs, and by arithmetic.
    std::vector<RoofSums*> groups(2 * costs_.costs.size());
    for (std::size_t i = 0; i < costs_.calls.size(); ++i) {
      const CostedCall& call = costs_.calls[i];
      if (!call.counted || peaks[i] == nullptr) continue;
      const Cost& cost = costs_.cost(call);
      RoofSums*& sums = groups[2 * std::size_t{call.cost} + (call.tensor_float ? 1 : 0)];
      if (sums == nullptr) {
        const auto row = ops_.calls[call.call].row;
        sums = &out_.operators[{operator_of(call), shape_text(inputs_of(*window_.trace, row)),
                                number_of(call), call.family, cost.missing, cost.by_profiler}];
      }
      sums->add(cost, call.compute_ns, peak_of(*peaks[i], call), peaks[i]->bytes_per_second);
      if (cost.flops.known()) out_.known_ns += call.compute_ns;
      if (cost.by_profiler) ++out_.calls_by_profiler;
    }
  }

  void add_kernel(const Work& piece, const CostedCall& call, const Peaks& peaks) {
    // A call's work is one kernel's only where no other could have done a part of it.
    const bool whole = call.kernels == 1 && !names_.helps(piece.row);
    const base::StringId name = window_.trace->name()[piece.row];
    const base::StringId op = window_.trace->name()[ops_.calls[call.call].row];
    const std::uint32_t names = names_of_kernels_.number(name, op);
    const std::uint32_t cost = whole ? call.cost : static_cast<std::uint32_t>(costs_.costs.size());
    const std::uint32_t group =
        groups_of_kernels_.number(names, 2 * cost + (call.tensor_float ? 1 : 0));
    if (group == kernels_.size()) {
      kernels_.push_back(&out_.kernels[{std::string(window_.trace->text(name)), operator_of(call),
                                        whole ? number_of(call) : RoofKey::kNoArithmetic,
                                        whole ? call.family : Family::kCount, Missing::kNothing,
                                        whole && costs_.cost(call).by_profiler}]);
    }
    RoofSums* const sums = kernels_[group];
    if (!whole) return sums->add_unknown(piece.length());
    sums->add(costs_.cost(call), piece.length(), peak_of(peaks, call), peaks.bytes_per_second);
  }

  static int number_of(const CostedCall& call) {
    const auto arithmetic = arithmetic_of(call);
    return arithmetic ? static_cast<int>(*arithmetic) : RoofKey::kNoArithmetic;
  }

  const WindowView& window_;
  const CallCosts& costs_;
  const OpCalls& ops_;
  KernelNames names_;
  PairNumbers names_of_kernels_;    // kernel, operator
  PairNumbers groups_of_kernels_;   // those, and cost with arithmetic
  std::vector<RoofSums*> kernels_;  // by group: rows of out_.kernels
  std::map<std::int32_t, Peaks> peaks_;
  RoofRows out_;
};

}  // namespace

RoofRows roof_rows(const RunView& view, const WindowView& window) {
  return RooflineRowsCounting(view, window).count();
}

void RoofRows::merge(const RoofRows& other) {
  for (const auto& [key, sums] : other.operators) operators[key].merge(sums);
  for (const auto& [key, sums] : other.kernels) kernels[key].merge(sums);
  compute_ns += other.compute_ns;
  known_ns += other.known_ns;
  calls_by_profiler += other.calls_by_profiler;
}

}  // namespace stepscope::analysis
