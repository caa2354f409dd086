// How near each operator and kernel comes to what the device can do: arithmetic at its peak, or
// memory traffic at its bandwidth, whichever takes longer.
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
#include "analysis/costs/roofline_sums.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20", "rows of a table per rank, the longest. 0: all"},
    {"latency", ParameterType::kDuration, "10us",
     "calls shorter than this that are far below both roofs are bound by latency"},
});

constexpr base::ColumnShape kRank{"rank", Type::kInt, Unit::kId, "rank of the process"};
constexpr base::ColumnShape kFlops{"flops", Type::kInt, Unit::kCount,
                                   "floating-point operations, 2 for a multiply-add"};
constexpr base::ColumnShape kBytes{"moved_bytes", Type::kInt, Unit::kBytes,
                                   "inputs read once and outputs written once"};
constexpr base::ColumnShape kIntensity{"intensity", Type::kReal, Unit::kNone,
                                       "floating-point operations per byte moved"};
constexpr base::ColumnShape kTflops{"tflop_per_second", Type::kReal, Unit::kNone,
                                    "10^12 floating-point operations per second of device time"};
constexpr base::ColumnShape kBandwidth{"moved_bytes_per_second", Type::kReal, Unit::kBytesPerSecond,
                                       "bytes moved per second of device time"};
constexpr base::ColumnShape kPeakShare{"peak_share", Type::kReal, Unit::kShare,
                                       "of what the device can compute in that arithmetic"};
constexpr base::ColumnShape kBandwidthShare{"bandwidth_share", Type::kReal, Unit::kShare,
                                            "of what the device's memory can move"};
constexpr base::ColumnShape kBound{
    "bound", Type::kText, Unit::kNone,
    "the nearer roof: compute or memory; latency: too short to come near either"};
constexpr base::ColumnShape kRoof{"roof_ns", Type::kInt, Unit::kNanos,
                                  "time it would take at the roof"};
constexpr base::ColumnShape kLost{"lost_ns", Type::kInt, Unit::kNanos, "time above the roof"};
constexpr base::ColumnShape kArithmetic{"arithmetic", Type::kText, Unit::kNone,
                                        "what its peak is taken of: bf16, tf32, fp32"};

constexpr std::array kOperatorColumns = std::to_array<base::ColumnShape>({
    kRank,
    {"call", Type::kText, Unit::kNone, "operator and shapes of its tensors"},
    {"calls", Type::kInt, Unit::kCount, "that launched compute kernels"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of their compute kernels, added"},
    kPeakShare,
    kBandwidthShare,
    kBound,
    kLost,
    kTflops,
    {"share", Type::kReal, Unit::kShare, "of the time of all compute kernels of this rank"},
    kArithmetic,
    kFlops,
    kBytes,
    kIntensity,
    kBandwidth,
    kRoof,
    {"operator", Type::kText, Unit::kNone, "that launched the kernels"},
    {"inputs", Type::kText, Unit::kNone, "shapes of its tensors"},
    {"family", Type::kText, Unit::kNone, "of formulas: matrix product, elementwise"},
    {"missing", Type::kText, Unit::kNone, "why FLOPs or bytes are not known"},
});
constexpr std::array kKernelColumns = std::to_array<base::ColumnShape>({
    kRank,
    {"kernel", Type::kText, Unit::kNone, "its name"},
    {"count", Type::kInt, Unit::kCount, "how often it ran"},
    {"device_ns", Type::kInt, Unit::kNanos, "time it ran, all runs together"},
    kPeakShare,
    kBandwidthShare,
    kBound,
    kLost,
    kTflops,
    {"share", Type::kReal, Unit::kShare, "of the time of all compute kernels of this rank"},
    kArithmetic,
    kFlops,
    kBytes,
    kIntensity,
    kBandwidth,
    kRoof,
    {"operator", Type::kText, Unit::kNone, "that launched it"},
});
constexpr std::array kDeviceColumns = std::to_array<base::ColumnShape>({
    kRank,
    {"device", Type::kInt, Unit::kId, "its number"},
    {"name", Type::kText, Unit::kNone, "as the trace names it"},
    {"peaks_of", Type::kText, Unit::kNone, "the row of the table of peaks; null: not known"},
    {"bandwidth_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, "of its memory at best"},
    {"fp32_tflop_per_second", Type::kReal, Unit::kNone, "at best, without tensor cores"},
    {"tf32_tflop_per_second", Type::kReal, Unit::kNone, "at best"},
    {"fp16_tflop_per_second", Type::kReal, Unit::kNone, "at best"},
    {"bf16_tflop_per_second", Type::kReal, Unit::kNone, "at best"},
    {"fp8_tflop_per_second", Type::kReal, Unit::kNone, "at best"},
});
constexpr std::array<std::string_view, 2> kBars = {"roof_ns", "lost_ns"};
constexpr std::array kTables = std::to_array<base::TableShape>({
    {"operators",
     "calls of one operator with inputs of one shape, the longest on the device first",
     kOperatorColumns,
     {base::Chart::kStack, "call", kBars, "rank"}},
    {"kernels", "one kernel launched by one operator, the longest first", kKernelColumns},
    {"devices", "one device of one rank and what it can do at best, without sparsity",
     kDeviceColumns},
});

// operator or kernel, inputs or operator, arithmetic, family, what is missing
using Key = std::tuple<std::string, std::string, int, Family, Missing>;
using Rows = std::map<Key, RoofSums>;

struct Partial {
  Rows operators, kernels;
  Nanos compute_ns = 0, known_ns = 0;
};

constexpr int kNoArithmetic = -1;

class Counting {
 public:
  Counting(const RunView& view, const WindowView& window)
      : window_(window), costs_(call_costs(window)), times_(op_times(window)) {
    for (const DeviceView& device : window.devices) {
      peaks_[device.device] = peaks_of(view, window, device.device).peaks.value_or(Peaks{});
    }
  }

  Partial count() {
    // Which device a call's kernels ran on: that of its first one.
    std::vector<const Peaks*> peaks(costs_.calls.size());
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      if (piece.work_class != WorkClass::kCompute || !window_.counts(piece)) continue;
      out_.compute_ns += piece.length();
      const std::uint32_t owner = costs_.of_work[i];
      if (owner == CallCosts::kNone) {
        const std::string why(name_of(why_no_operator(window_, piece)));
        const Key key{why, std::string(), kNoArithmetic, Family::kCount, Missing::kOperator};
        out_.operators[key].add_unknown(piece.length());
        add_kernel(piece, why, nullptr, nullptr);
        continue;
      }
      const Peaks& device = peaks_[window_.streams[piece.stream].device];
      if (peaks[owner] == nullptr) peaks[owner] = &device;
      add_kernel(piece, operator_of(costs_.calls[owner]), &costs_.calls[owner], &device);
    }
    add_operators(peaks);
    return std::move(out_);
  }

 private:
  std::string operator_of(const CostedCall& call) const {
    return std::string(window_.trace->name_text(times_.calls[call.call].row));
  }

  void add_operators(const std::vector<const Peaks*>& peaks) {
    std::map<std::pair<std::uint32_t, bool>, RoofSums*> groups;  // by cost: one name and inputs
    for (std::size_t i = 0; i < costs_.calls.size(); ++i) {
      const CostedCall& call = costs_.calls[i];
      if (!call.counted || peaks[i] == nullptr) continue;
      const Cost& cost = costs_.cost(call);
      RoofSums*& sums = groups[{call.cost, call.tensor_float}];
      if (sums == nullptr) {
        const auto row = times_.calls[call.call].row;
        sums = &out_.operators[{operator_of(call), shape_text(inputs_of(*window_.trace, row)),
                                number_of(call), call.family, cost.missing}];
      }
      sums->add(cost, call.compute_ns, peak_of(*peaks[i], call), peaks[i]->bytes_per_second);
      if (cost.flops.known()) out_.known_ns += call.compute_ns;
    }
  }

  void add_kernel(const Work& piece, const std::string& op, const CostedCall* call,
                  const Peaks* peaks) {
    const std::string_view name = window_.trace->name_text(piece.row);
    // A call's work is one kernel's only where no other could have done a part of it.
    const bool whole = call != nullptr && call->kernels == 1 && !names_helper_kernel(name);
    RoofSums& sums = out_.kernels[{std::string(name), op, whole ? number_of(*call) : kNoArithmetic,
                                   whole ? call->family : Family::kCount, Missing::kNothing}];
    if (!whole) return sums.add_unknown(piece.length());
    sums.add(costs_.cost(*call), piece.length(), peak_of(*peaks, *call), peaks->bytes_per_second);
  }

  static int number_of(const CostedCall& call) {
    const auto arithmetic = arithmetic_of(call);
    return arithmetic ? static_cast<int>(*arithmetic) : kNoArithmetic;
  }

  const WindowView& window_;
  const CallCosts& costs_;
  const OpTimes& times_;
  std::map<std::int32_t, Peaks> peaks_;
  Partial out_;
};

std::size_t add_rows(base::Table& table, std::int32_t rank, const Rows& rows, Nanos all,
                     std::size_t top, Nanos latency) {
  std::vector<const Rows::value_type*> order;
  order.reserve(rows.size());
  for (const auto& row : rows) order.push_back(&row);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* row) { return row->second.device_ns; });
  const std::size_t shown = top == 0 ? order.size() : std::min(top, order.size());
  const bool kernels = table.name() == "kernels";
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [key, sums] = *order[i];
    const auto& [name, detail, arithmetic, family, missing] = key;
    const RoofCells c = roof_cells(sums, latency);
    using Word = std::optional<std::string_view>;
    const Word type =
        arithmetic == kNoArithmetic ? Word() : Word(name_of(static_cast<Arithmetic>(arithmetic)));
    const double share = static_cast<double>(sums.device_ns) / static_cast<double>(all);
    std::string_view plain = name;
    if (plain.starts_with("aten::")) plain.remove_prefix(6);
    const std::string call = kernels || detail.empty() ? name : fmt::format("{} {}", plain, detail);
    std::vector<base::Cell> cells = {
        rank,    call,        sums.calls,  sums.device_ns, c.peak_share, c.bandwidth_share,
        c.bound, c.lost_ns,   c.tflops,    share,          type,         c.flops,
        c.bytes, c.intensity, c.bandwidth, c.roof_ns};
    if (!kernels) cells.emplace_back(name);
    cells.emplace_back(detail.empty() ? Word() : Word(detail));
    if (!kernels) {
      cells.emplace_back(family == Family::kCount ? Word() : Word(name_of(family)));
      cells.emplace_back(missing == Missing::kNothing ? Word() : Word(name_of(missing)));
    }
    table.add(cells);
  }
  return order.size() - shown;
}

base::Cell tera(double flops) { return flops > 0 ? base::Cell(flops / 1e12) : base::Null{}; }

void add_devices(base::Table& table, const RunView& view, Answer& answer) {
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  std::set<std::string> said;
  for (const WindowView& window : view.windows) {
    for (const DeviceView& device : window.devices) {
      if (!seen.emplace(window.rank, device.device).second) continue;
      const FoundPeaks found = peaks_of(view, window, device.device);
      const Peaks p = found.peaks.value_or(Peaks{});
      const base::Cell none = base::Null{};
      table.add({window.rank, device.device, device.name.empty() ? none : base::Cell(device.name),
                 found.peaks ? base::Cell(p.name) : none,
                 p.bytes_per_second > 0 ? base::Cell(p.bytes_per_second) : none,
                 tera(p[Arithmetic::kFp32]), tera(p[Arithmetic::kTf32]), tera(p[Arithmetic::kFp16]),
                 tera(p[Arithmetic::kBf16]), tera(p[Arithmetic::kFp8])});
      if (found.peaks) continue;
      const std::string name = device.name.empty() ? fmt::format("device {}", device.device)
                                                   : fmt::format("\"{}\"", device.name);
      const std::string sentence = fmt::format(
          "What {} can do at best is not known: it {}. --peaks FILE tells.", name, found.why_not);
      if (said.insert(sentence).second) answer.remarks.push_back(sentence);
    }
  }
}

Answer run(const RunView& view, const Options& options) {
  const auto top = static_cast<std::size_t>(options.count("top"));
  const Nanos latency = options.duration("latency");
  const auto partials = per_window<Partial>(
      view, [&](const WindowView& window) { return Counting(view, window).count(); });
  std::map<std::int32_t, Partial> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    Partial& rank = ranks[view.windows[w].rank];
    for (const auto& [key, sums] : partials[w].operators) rank.operators[key].merge(sums);
    for (const auto& [key, sums] : partials[w].kernels) rank.kernels[key].merge(sums);
    rank.compute_ns += partials[w].compute_ns;
    rank.known_ns += partials[w].known_ns;
  }
  Answer answer;
  base::Table operators(kTables[0]), kernels(kTables[1]), devices(kTables[2]);
  std::size_t left_out = 0;
  Nanos compute = 0, known = 0;
  for (const auto& [rank, sums] : ranks) {
    left_out = std::max({left_out,
                         add_rows(operators, rank, sums.operators, sums.compute_ns, top, latency),
                         add_rows(kernels, rank, sums.kernels, sums.compute_ns, top, latency)});
    compute += sums.compute_ns;
    known += sums.known_ns;
  }
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  add_devices(devices, view, answer);
  if (compute > 0 && known == 0) {
    answer.remarks.emplace_back(
        "No FLOPs are known: profile with record_shapes=True to have the inputs of operators.");
  } else if (compute > 0) {
    answer.remarks.push_back(
        fmt::format("FLOPs are known for {:.1f} % of the time of compute kernels.",
                    100.0 * static_cast<double>(known) / static_cast<double>(compute)));
  }
  if (left_out > 0) {
    answer.remarks.push_back(
        fmt::format("--top left out up to {} rows of a rank; --top 0 lists all.", left_out));
  }
  answer.tables.push_back(std::move(operators));
  answer.tables.push_back(std::move(kernels));
  answer.tables.push_back(std::move(devices));
  return answer;
}

}  // namespace

const Analysis kRoofline{
    .name = "roofline",
    .title = "Roofline",
    .question = "How near do operators and kernels come to what the GPU can do?",
    .parameters = kParameters,
    .tables = kTables,
    .run = run,
};

}  // namespace stepscope::analysis
