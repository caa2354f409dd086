// How near each operator and kernel comes to what the device can do: arithmetic at its peak, or
// memory traffic at its bandwidth, whichever takes longer.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/costs/device_peaks.h"
#include "analysis/costs/roofline_rows.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

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
