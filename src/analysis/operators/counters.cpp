// Hardware counters by operator, and the floating-point operations they count.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/operators/counter_sums.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 3> kOwners = {"operator", "outermost", "kernel"};
constexpr std::array kCountersParameters = std::to_array<Parameter>({
    {"by", ParameterType::kChoice, "operator",
     "whose counters are added: the innermost operator's, the outermost one's, or the kernel's",
     kOwners},
    {"counter", ParameterType::kText, "", "only counters whose name holds this; empty: all"},
});

constexpr std::array kCounterColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"owner", Type::kText, Unit::kNone, "operator or kernel, as --by says; null: not known"},
    {"counter", Type::kText, Unit::kNone, "as the profiler names it"},
    {"kernels", Type::kInt, Unit::kCount, "measured, or running while it was sampled"},
    {"sum", Type::kReal, Unit::kNone,
     "counts of all kernels; of samples their part by time, null where they cannot be added"},
    {"mean", Type::kReal, Unit::kNone, "of a kernel; of samples over the time the kernels ran"},
    {"device_ns", Type::kInt, Unit::kNanos,
     "time the kernels ran, of samples while it was sampled; null: the kernels are not recorded"},
    {"source", Type::kText, Unit::kNone, "range: counted by kernel; sample: of the whole device"},
});
constexpr std::array kFlopColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"owner", Type::kText, Unit::kNone, "operator or kernel, as --by says; null: not known"},
    {"kernels", Type::kInt, Unit::kCount, "measured, or running while they were sampled"},
    {"flops", Type::kReal, Unit::kCount,
     "floating-point operations outside tensor cores: 2 for a fused multiply-add, 1 else"},
    {"fp16_flops", Type::kReal, Unit::kCount, "of them in half precision"},
    {"fp32_flops", Type::kReal, Unit::kCount, "of them in single precision"},
    {"fp64_flops", Type::kReal, Unit::kCount, "of them in double precision"},
    {"flops_per_s", Type::kReal, Unit::kPerSecond,
     "flops by the time the kernels ran; null: the kernels are not recorded"},
    {"tensor_instructions", Type::kReal, Unit::kCount,
     "instructions of tensor cores, whose operations depend on their shape; null: not measured"},
});
constexpr std::array<std::string_view, 1> kFlopBar = {"flops"};
constexpr std::array kCountersTables = std::to_array<base::TableShape>({
    {"counters", "one counter of one owner on one rank", kCounterColumns},
    {"flops",
     "the floating-point operations of one owner, the most first",
     kFlopColumns,
     {base::Chart::kBars, "owner", kFlopBar, "rank"}},
});

constexpr std::string_view kSass = "smsp__sass_thread_inst_executed_op_";
constexpr std::string_view kSassEnd = "_pred_on.sum";

struct Flops {
  std::uint64_t kernels = 0;
  Nanos time = 0;
  bool has_time = true, has_flops = false, has_tensor = false;
  std::array<double, 3> by_precision = {};  // h, f, d
  double tensor = 0;

  double all() const { return by_precision[0] + by_precision[1] + by_precision[2]; }

  // What one counter says of them, if anything.
  void add(std::string_view counter, const CounterSum& sum) {
    if (counter.find("tensor") != std::string_view::npos && counter.ends_with(".sum") &&
        counter.find("inst") != std::string_view::npos) {
      tensor += sum.sum;
      has_tensor = true;
      measured(sum);
      return;
    }
    if (!counter.starts_with(kSass) || !counter.ends_with(kSassEnd)) return;
    const std::string_view op =
        counter.substr(kSass.size(), counter.size() - kSass.size() - kSassEnd.size());
    const std::size_t precision = std::string_view("hfd").find(op.empty() ? ' ' : op.front());
    const std::string_view what = op.substr(op.empty() ? 0 : 1);
    if (precision == std::string_view::npos) return;
    if (what != "fma" && what != "mul" && what != "add") return;
    by_precision[precision] += sum.sum * (what == "fma" ? 2 : 1);
    has_flops = true;
    measured(sum);
  }

 private:
  // Counters of one kind were measured on the same kernels.
  void measured(const CounterSum& sum) {
    kernels = std::max(kernels, sum.count);
    time = std::max(time, sum.time);
    has_time = has_time && sum.has_time;
  }
};

using base::Cell;
const Cell kNull = base::Null{};

Cell name_cell(std::string_view name) { return name.empty() ? kNull : Cell(name); }

void add_counters(base::Table& table, std::int32_t rank, const CounterSums& sums,
                  std::string_view holds) {
  for (const auto& [key, sum] : sums) {
    const auto& [owner, counter] = key;
    if (counter.find(holds) == std::string_view::npos) continue;
    const double mean = sum.is_sampled ? sum.weighed / static_cast<double>(sum.time)
                                       : sum.sum / static_cast<double>(sum.count);
    const bool adds_up = !sum.is_sampled || counter.ends_with(".sum");
    table.add({rank, name_cell(owner), counter, sum.count, adds_up ? Cell(sum.sum) : kNull, mean,
               sum.has_time ? Cell(sum.time) : kNull, sum.is_sampled ? "sample" : "range"});
  }
}

void add_flops(base::Table& table, std::int32_t rank, const CounterSums& sums) {
  std::map<std::string_view, Flops> owners;
  for (const auto& [key, sum] : sums) owners[key.first].add(key.second, sum);
  std::vector<std::pair<std::string_view, Flops>> order;
  for (const auto& owner : owners) {
    if (owner.second.has_flops || owner.second.has_tensor) order.emplace_back(owner);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& owner) {
    return std::pair(owner.second.all(), owner.second.tensor);
  });
  for (const auto& [name, flops] : order) {
    const bool known = flops.has_flops;
    const auto cell = [&](double value) { return known ? Cell(value) : kNull; };
    table.add({rank, name_cell(name), flops.kernels, cell(flops.all()), cell(flops.by_precision[0]),
               cell(flops.by_precision[1]), cell(flops.by_precision[2]),
               known && flops.has_time && flops.time > 0
                   ? Cell(flops.all() * 1e9 / static_cast<double>(flops.time))
                   : kNull,
               flops.has_tensor ? Cell(flops.tensor) : kNull});
  }
}

struct RankCounters {
  CounterSums ranges, samples;
};

void remark_on(Answer& answer, const WindowView& window, const WindowCounters& found) {
  if (found.ranges_found > found.ranges_paired) {
    answer.remarks.push_back(
        fmt::format("Rank {}: {} ranges were measured, but the trace has {} {}: {} ranges could "
                    "not be given to "
                    "anybody and stand as not known.",
                    window.rank, found.ranges_found, found.candidates,
                    found.has_kernels ? "kernels" : "calls that launch kernels",
                    found.ranges_found - found.ranges_paired));
  }
  if (found.samples_idle > 0) {
    answer.remarks.push_back(
        fmt::format("Rank {}: {} of {} samples were taken while no kernel ran; they are left out.",
                    window.rank, found.samples_idle, found.samples_found));
  }
}

Answer run_counters(const RunView& view, const Options& options) {
  const auto owner =
      static_cast<CounterOwner>(std::ranges::find(kOwners, options.text("by")) - kOwners.begin());
  const auto partials = per_window<WindowCounters>(
      view, [&](const WindowView& window) { return count_window(window, owner); });
  Answer answer;
  std::map<std::int32_t, RankCounters> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    RankCounters& rank = ranks[view.windows[w].rank];
    for (const auto& [key, sum] : partials[w].ranges) {
      const auto [at, fresh] = rank.ranges.try_emplace(key, sum);
      if (!fresh) at->second.merge(sum);
    }
    for (const auto& [key, sum] : partials[w].samples) rank.samples[key].merge(sum);
    remark_on(answer, view.windows[w], partials[w]);
  }
  base::Table counters(kCountersTables[0]);
  base::Table flops(kCountersTables[1]);
  for (const auto& [rank, sums] : ranks) {
    add_counters(counters, rank, sums.ranges, options.text("counter"));
    add_counters(counters, rank, sums.samples, options.text("counter"));
    add_flops(flops, rank, sums.ranges);
    add_flops(flops, rank, sums.samples);
  }
  const bool any = std::ranges::any_of(partials, [](const WindowCounters& found) {
    return found.ranges_found > 0 || found.samples_found > 0;
  });
  if (!any) {
    answer.remarks.emplace_back(
        "The trace has no hardware counters. Kineto samples them on NVIDIA GPUs when its "
        "configuration names them (CUPTI_PM_SAMPLING_METRICS, CUPTI_PM_SAMPLING_DEVICE_ID) and "
        "hardware counters are among the activities; versions before mid-2026 with CUDA up to 12.6 "
        "counted by kernel (torch.profiler's experimental_config with profiler_metrics).");
  }
  answer.tables.push_back(std::move(counters));
  answer.tables.push_back(std::move(flops));
  return answer;
}

}  // namespace

const Analysis kCounters{
    .name = "counters",
    .title = "Hardware counters",
    .question = "What did the GPU's own counters count, and for which operators?",
    .parameters = kCountersParameters,
    .tables = kCountersTables,
    .run = run_counters,
};

}  // namespace stepscope::analysis
