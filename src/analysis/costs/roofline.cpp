// How near each operator and kernel comes to what the device can do: arithmetic at its peak, or
// memory traffic at its bandwidth, whichever takes longer.
#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/costs/call_costs.h"
#include "analysis/costs/device_peaks.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"
#include "base/table.h"

namespace stepscope::analysis {
namespace {

// What rows of a roofline add up: time taken, work done, and the time it would take at the roof.

struct RoofSums {
  std::uint64_t calls = 0;
  base::Nanos device_ns = 0;
  Amount flops = 0, bytes = 0;
  // Time all of it would take at the device's peaks; unknown peaks make them unknown.
  double compute_ns = 0, memory_ns = 0, roof_ns = 0;
  bool has_compute = true, has_memory = true;

  void add(const Cost& cost, base::Nanos taken, double peak_flops, double peak_bytes);
  void add_unknown(base::Nanos taken);
  void merge(const RoofSums& other);
};

enum class Bound : std::uint8_t { kCompute, kMemory, kLatency };

// What a row says about its sums; null where it is not known.
struct RoofCells {
  base::Cell flops = base::Null{}, bytes = base::Null{}, intensity = base::Null{};
  base::Cell tflops = base::Null{}, bandwidth = base::Null{};
  base::Cell peak_share = base::Null{}, bandwidth_share = base::Null{};
  base::Cell bound = base::Null{}, roof_ns = base::Null{}, lost_ns = base::Null{};
};

double real_roofline_sums(const Amount& amount) { return static_cast<double>(*amount.value()); }

void RoofSums::add(const Cost& cost, base::Nanos taken, double peak_flops, double peak_bytes) {
  ++calls;
  device_ns += taken;
  flops += cost.flops;
  bytes += cost.bytes;
  const bool computes = cost.flops.known() && (peak_flops > 0 || *cost.flops.value() == 0);
  const bool moves = cost.bytes.known() && peak_bytes > 0;
  const double at_compute =
      computes && *cost.flops.value() > 0 ? real_roofline_sums(cost.flops) / peak_flops * 1e9 : 0;
  const double at_memory = moves ? real_roofline_sums(cost.bytes) / peak_bytes * 1e9 : 0;
  has_compute = has_compute && computes;
  has_memory = has_memory && moves;
  compute_ns += at_compute;
  memory_ns += at_memory;
  roof_ns += std::max(at_compute, at_memory);
}

void RoofSums::add_unknown(base::Nanos taken) {
  ++calls;
  device_ns += taken;
  flops = bytes = Amount::unknown();
  has_compute = has_memory = false;
}

void RoofSums::merge(const RoofSums& other) {
  calls += other.calls;
  device_ns += other.device_ns;
  flops += other.flops;
  bytes += other.bytes;
  compute_ns += other.compute_ns;
  memory_ns += other.memory_ns;
  roof_ns += other.roof_ns;
  has_compute = has_compute && other.has_compute;
  has_memory = has_memory && other.has_memory;
}

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, 3> kNames = {"compute", "memory", "latency"};
  return kNames[static_cast<std::size_t>(bound)];
}

// Calls shorter than `latency` on average that stay below a tenth of both roofs are too short.
RoofCells roof_cells(const RoofSums& sums, base::Nanos latency) {
  RoofCells out;
  const auto taken = static_cast<double>(sums.device_ns);
  const bool has_time = sums.device_ns > 0;
  if (sums.flops.known()) {
    out.flops = sums.flops.value();
    if (has_time) out.tflops = real_roofline_sums(sums.flops) / taken / 1e3;
  }
  if (sums.bytes.known()) {
    out.bytes = sums.bytes.value();
    if (has_time) out.bandwidth = real_roofline_sums(sums.bytes) / taken * 1e9;
  }
  if (sums.flops.known() && sums.bytes.known() && *sums.bytes.value() > 0) {
    out.intensity = real_roofline_sums(sums.flops) / real_roofline_sums(sums.bytes);
  }
  if (sums.has_compute && has_time) out.peak_share = sums.compute_ns / taken;
  if (sums.has_memory && has_time) out.bandwidth_share = sums.memory_ns / taken;
  if (!sums.has_compute || !sums.has_memory) return out;
  out.roof_ns = std::llround(sums.roof_ns);
  out.lost_ns = std::max<std::int64_t>(sums.device_ns - std::llround(sums.roof_ns), 0);
  const bool is_short =
      sums.device_ns < latency * static_cast<base::Nanos>(sums.calls) && sums.roof_ns < taken / 10;
  const Bound bound = is_short                            ? Bound::kLatency
                      : sums.compute_ns >= sums.memory_ns ? Bound::kCompute
                                                          : Bound::kMemory;
  out.bound = name_of(bound);
  return out;
}

// The rows of a roofline: what is added up together.

struct RoofKey {
  static constexpr int kNoArithmetic = -1;

  std::string name;    // of the operator or kernel
  std::string detail;  // the operator's inputs, the kernel's operator
  int arithmetic = kNoArithmetic;
  Family family = Family::kCount;
  Missing missing = Missing::kNothing;
  bool by_profiler = false;  // who counted the FLOPs
  auto operator<=>(const RoofKey&) const = default;
};
using RoofTable = std::map<RoofKey, RoofSums>;

struct RoofRows {
  RoofTable operators, kernels;
  base::Nanos compute_ns = 0, known_ns = 0;
  std::uint64_t calls_by_profiler = 0;

  void merge(const RoofRows& other);
};

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

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kRooflineParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20", "rows of a table per rank, the longest. 0: all"},
    {"latency", ParameterType::kDuration, "10us",
     "calls shorter than this that are far below both roofs are bound by latency"},
});

constexpr base::ColumnShape kFlops{"flops", Type::kInt, Unit::kCount,
                                   "floating-point operations, 2 for a multiply-add"};
constexpr base::ColumnShape kFlopsFrom{
    "flops_from", Type::kText, Unit::kNone,
    "formula: computed from the inputs; profiler: its own count (with_flops), where no formula "
    "tells"};
constexpr base::ColumnShape kRooflineBytes{"moved_bytes", Type::kInt, Unit::kBytes,
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

constexpr std::array kRooflineOperatorColumns = std::to_array<base::ColumnShape>({
    key::kRank,
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
    kFlopsFrom,
    kRooflineBytes,
    kIntensity,
    kBandwidth,
    kRoof,
    {"operator", Type::kText, Unit::kNone, "that launched the kernels"},
    {"inputs", Type::kText, Unit::kNone, "shapes of its tensors"},
    {"family", Type::kText, Unit::kNone, "of formulas: matrix product, elementwise"},
    {"missing", Type::kText, Unit::kNone, "why FLOPs or bytes are not known"},
});
constexpr std::array kRooflineKernelColumns = std::to_array<base::ColumnShape>({
    key::kRank,
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
    kFlopsFrom,
    kRooflineBytes,
    kIntensity,
    kBandwidth,
    kRoof,
    {"operator", Type::kText, Unit::kNone, "that launched it"},
});
constexpr std::array kRooflineDeviceColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"device", Type::kInt, Unit::kId, "its number"},
    {"name", Type::kText, Unit::kNone, "as the trace names it"},
    {"peaks_of", Type::kText, Unit::kNone, "the row of the table of peaks; null: not known"},
    {"bandwidth_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, "of its memory at best"},
    {"fp64_tflop_per_second", Type::kReal, Unit::kNone, "at best, without tensor cores"},
    {"fp64_tensor_tflop_per_second", Type::kReal, Unit::kNone, "at best, of products"},
    {"fp32_tflop_per_second", Type::kReal, Unit::kNone, "at best, without tensor cores"},
    {"fp32_tensor_tflop_per_second", Type::kReal, Unit::kNone, "at best, of products"},
    {"tf32_tflop_per_second", Type::kReal, Unit::kNone, "at best"},
    {"fp16_tflop_per_second", Type::kReal, Unit::kNone, "at best"},
    {"bf16_tflop_per_second", Type::kReal, Unit::kNone, "at best"},
    {"fp8_tflop_per_second", Type::kReal, Unit::kNone, "at best"},
    {"int8_tflop_per_second", Type::kReal, Unit::kNone, "at best, operations on integers"},
    {"fp4_tflop_per_second", Type::kReal, Unit::kNone, "at best"},
});
static_assert(kRooflineDeviceColumns.size() == 5 + kArithmetics);  // one for each, in their order
constexpr std::array<std::string_view, 2> kRooflineBars = {"roof_ns", "lost_ns"};
constexpr std::array kRooflineTables = std::to_array<base::TableShape>({
    {"operators",
     "calls of one operator with inputs of one shape, the longest on the device first",
     kRooflineOperatorColumns,
     {base::Chart::kStack, "call", kRooflineBars, "rank"}},
    {"kernels", "one kernel launched by one operator, the longest first", kRooflineKernelColumns},
    {"devices", "one device of one rank and what it can do at best, without sparsity",
     kRooflineDeviceColumns},
});

std::size_t add_roofline_rows(base::Table& table, std::int32_t rank, const RoofTable& rows,
                              Nanos all, std::size_t top, Nanos latency) {
  std::vector<const RoofTable::value_type*> order;
  order.reserve(rows.size());
  for (const auto& row : rows) order.push_back(&row);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* row) { return row->second.device_ns; });
  const std::size_t shown = top == 0 ? order.size() : std::min(top, order.size());
  const bool kernels = table.name() == "kernels";
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [key, sums] = *order[i];
    const auto& [name, detail, arithmetic, family, missing, by_profiler] = key;
    const RoofCells c = roof_cells(sums, latency);
    using Word = std::optional<std::string_view>;
    const Word type = arithmetic == RoofKey::kNoArithmetic
                          ? Word()
                          : Word(name_of(static_cast<Arithmetic>(arithmetic)));
    const double share = static_cast<double>(sums.device_ns) / static_cast<double>(all);
    std::string_view plain = name;
    if (plain.starts_with("aten::")) plain.remove_prefix(6);
    const std::string call = kernels || detail.empty() ? name : fmt::format("{} {}", plain, detail);
    const Word from = !sums.flops.known() ? Word() : Word(by_profiler ? "profiler" : "formula");
    std::vector<base::Cell> cells = {
        rank,    call,      sums.calls,  sums.device_ns, c.peak_share, c.bandwidth_share,
        c.bound, c.lost_ns, c.tflops,    share,          type,         c.flops,
        from,    c.bytes,   c.intensity, c.bandwidth,    c.roof_ns};
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

void add_roofline_devices(base::Table& table, const RunView& view) {
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (const WindowView& window : view.windows) {
    for (const DeviceView& device : window.devices) {
      if (!seen.emplace(window.rank, device.device).second) continue;
      const FoundPeaks found = peaks_of(view, window, device.device);
      const Peaks p = found.peaks.value_or(Peaks{});
      const base::Cell none = base::Null{};
      std::vector<base::Cell> cells = {
          window.rank, device.device, device.name.empty() ? none : base::Cell(device.name),
          found.peaks ? base::Cell(p.name) : none,
          p.bytes_per_second > 0 ? base::Cell(p.bytes_per_second) : none};
      for (const double flops : p.flops) cells.push_back(tera(flops));
      table.add(cells);
    }
  }
}

Answer run_roofline(const RunView& view, const Options& options) {
  const auto top = static_cast<std::size_t>(options.count("top"));
  const Nanos latency = options.duration("latency");
  const auto partials =
      per_window<RoofRows>(view, [&](const WindowView& window) { return roof_rows(view, window); });
  std::map<std::int32_t, RoofRows> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    ranks[view.windows[w].rank].merge(partials[w]);
  }
  Answer answer;
  base::Table operators(kRooflineTables[0]), kernels(kRooflineTables[1]),
      devices(kRooflineTables[2]);
  std::size_t left_out = 0;
  Nanos compute = 0, known = 0;
  std::uint64_t by_profiler = 0;
  std::set<Arithmetic> in_use;  // that a peak is needed of
  for (const auto& [rank, sums] : ranks) {
    for (const auto& [key, row] : sums.operators) {
      if (key.arithmetic == RoofKey::kNoArithmetic || row.flops.value().value_or(0) == 0) continue;
      in_use.insert(static_cast<Arithmetic>(key.arithmetic));
    }
    left_out =
        std::max({left_out,
                  add_roofline_rows(operators, rank, sums.operators, sums.compute_ns, top, latency),
                  add_roofline_rows(kernels, rank, sums.kernels, sums.compute_ns, top, latency)});
    compute += sums.compute_ns;
    known += sums.known_ns;
    by_profiler += sums.calls_by_profiler;
  }
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  add_roofline_devices(devices, view);
  for (std::string& why : remarks_on_peaks(view)) answer.remarks.emplace_back(std::move(why));
  for (std::string& why : why_no_peak_in(view, in_use)) answer.remarks.emplace_back(std::move(why));
  if (compute > 0 && known == 0) {
    answer.remarks.emplace_back(why_no_flops(view));
  } else if (compute > 0) {
    answer.remarks.push_back(
        fmt::format("FLOPs are known for {:.1f} % of the time of compute kernels.",
                    100.0 * static_cast<double>(known) / static_cast<double>(compute)));
  }
  if (by_profiler > 0) {
    answer.remarks.emplace_back(
        fmt::format("FLOPs of {} {} the profiler's own counts: no formula tells them.", by_profiler,
                    by_profiler == 1 ? "call are" : "calls are"));
  }
  if (left_out > 0) {
    answer.remarks.push_back(Remark::on_limit(
        fmt::format("--top left out up to {} rows of a rank; --top 0 lists all.", left_out)));
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
    .parameters = kRooflineParameters,
    .tables = kRooflineTables,
    .run = run_roofline,
};

}  // namespace stepscope::analysis
