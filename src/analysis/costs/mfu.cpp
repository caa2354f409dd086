// Model FLOPs utilisation: the multiply-adds a step needs, per second of the step, of what the
// devices can do. Honest about what it does not see: the share of kernel time whose FLOPs are known
// stands beside it.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/costs/device_peaks.h"
#include "analysis/costs/mfu_sums.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

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
  table.add({rank, number, sums.step_ns,
             known && peak > 0 ? ratio_mfu(model, seconds * peak) : none,
             known && peak > 0 ? ratio_mfu(hardware, seconds * peak) : none,
             ratio_mfu(static_cast<double>(sums.known_ns), static_cast<double>(sums.compute_ns)),
             most == kNoPeak ? none : base::Cell(name_of(static_cast<Arithmetic>(most))),
             peak > 0 ? base::Cell(peak / 1e12) : none,
             known ? ratio_mfu(model / 1e12, seconds) : none, count(sums.model),
             count(sums.recomputed), count(sums.by_profiler), sums.compute_ns, sums.recomputed_ns});
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
