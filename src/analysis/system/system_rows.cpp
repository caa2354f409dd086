// What a whole run says of machines, GPUs, processes, disks and cores.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/system/curve_values.h"
#include "analysis/system/node_curves.h"
#include "analysis/system/system_tables.h"
#include "base/number_list.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Nanos;
using base::Null;

constexpr double kPercent = 0.01;
constexpr double kMilli = 1e-3;
constexpr double kSystemRowsPerSecond = 1e9;

Cell system_rows_cell_of(const std::optional<SampleSpread>& spread, double SampleSpread::* which) {
  return spread ? Cell((*spread).*which) : Cell(Null{});
}

Cell scaled(std::optional<std::int64_t> value, double scale) {
  return value ? Cell(static_cast<double>(*value) * scale) : Cell(Null{});
}

// Over all devices of a machine; nothing where none is known.
std::optional<std::int64_t> growth_of_all(const NodeCurves& node, std::string_view name) {
  std::optional<std::int64_t> sum;
  for (const Curve* curve : node.named(name)) {
    if (const auto growth = growth_of(curve)) sum = sum.value_or(0) + *growth;
  }
  return sum;
}

// Reasons for a lower clock that cost speed, as bits of NVML.
struct Reason {
  std::int64_t bits;
  std::string_view name;
};
constexpr std::array kReasons = std::to_array<Reason>({
    {0x4, "power limit"},
    {0x20 | 0x40, "heat"},
    {0x80, "power supply"},
    {0x8, "hardware slowdown"},
});

struct Slowed {
  Cell share = Null{};
  std::string by;
};

Slowed slowed(const Curve* curve) {
  if (curve == nullptr) return {};
  std::array<std::pair<std::int64_t, std::string_view>, kReasons.size()> counts;
  for (std::size_t i = 0; i < kReasons.size(); ++i) counts[i] = {0, kReasons[i].name};
  std::int64_t any = 0;
  for (const std::int64_t bits : curve->values) {
    bool counted = false;
    for (std::size_t i = 0; i < kReasons.size(); ++i) {
      if ((bits & kReasons[i].bits) == 0) continue;
      // The hardware's own bit is set together with its cause.
      if (kReasons[i].bits == 0x8 && counted) continue;
      ++counts[i].first;
      counted = true;
    }
    any += counted ? 1 : 0;
  }
  std::ranges::stable_sort(counts, std::ranges::greater{},
                           [](const auto& one) { return one.first; });
  Slowed result{.share = static_cast<double>(any) / static_cast<double>(curve->values.size()),
                .by = {}};
  for (const auto& [count, name] : counts) {
    if (count > 0) result.by += (result.by.empty() ? "" : ", ") + std::string(name);
  }
  return result;
}

std::vector<std::int64_t> ranks_on(const NodeCurves& node, const std::string& gpu) {
  std::vector<std::int64_t> ranks;
  for (const Curve* curve : node.named("gpu.given")) {
    const auto rank = curve->about->number("rank");
    if (rank && std::ranges::find(ranks, *rank) == ranks.end()) ranks.push_back(*rank);
  }
  std::ranges::sort(ranks);
  std::erase_if(ranks, [&](std::int64_t rank) {
    const auto gpus = gpus_of_rank(node, static_cast<std::int32_t>(rank));
    return std::ranges::find(gpus, gpu) == gpus.end();
  });
  return ranks;
}

// Processors that each training process may run on; one that several may use counts in parts.
std::map<std::string, double, std::less<>> usable_cores(const NodeCurves& node) {
  std::map<std::int64_t, double> users;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> lists;
  for (const Curve* curve : node.named("process.processors")) {
    const auto list = base::parse_number_list(curve->field("list"));
    if (!list) continue;
    const auto [one, is_new] = lists.try_emplace(std::string(curve->field("process")), *list);
    if (!is_new) continue;
    for (const std::int64_t core : *list) ++users[core];
  }
  std::map<std::string, double, std::less<>> out;
  for (const auto& [process, list] : lists) {
    for (const std::int64_t core : list) out[process] += 1 / users[core];
  }
  return out;
}

}  // namespace

void add_machine(base::Table& table, const NodeCurves& node, Nanos window) {
  const auto processors = largest_of(node.find("cpu.count"));
  const std::optional<Curve> load = machine_load(node);
  const auto cpu = shares_of(load ? &*load : nullptr, window);
  const Nanos sampled = node.sampled.length();
  std::optional<double> cores;
  for (const Curve* curve : node.named("process.cpu")) {
    const auto grown = growth_of(curve);
    if (!grown || sampled <= 0) continue;
    cores = cores.value_or(0) + static_cast<double>(*grown) / static_cast<double>(sampled);
  }
  const Curve* const used = node.find("memory.used");
  const auto group = rates_of(node.find("cgroup.cpu"), window);
  table.add({node.host,
             cell_or_null(processors),
             system_rows_cell_of(cpu, &SampleSpread::mean),
             system_rows_cell_of(cpu, &SampleSpread::p95),
             system_rows_cell_of(cpu, &SampleSpread::max),
             cell_or_null(cores),
             scaled(last_of(node.find("cgroup.cpu.limit")), kMilli),
             system_rows_cell_of(group, &SampleSpread::mean),
             system_rows_cell_of(group, &SampleSpread::max),
             system_rows_cell_of(spread_of(used), &SampleSpread::mean),
             cell_or_null(largest_of(used)),
             cell_or_null(last_of(node.find("memory.total"))),
             cell_or_null(largest_of(node.find("cgroup.memory"))),
             cell_or_null(last_of(node.find("cgroup.memory.limit"))),
             cell_or_null(growth_of_all(node, "disk.read")),
             cell_or_null(growth_of_all(node, "disk.written")),
             cell_or_null(growth_of_all(node, "network.received")),
             cell_or_null(growth_of_all(node, "network.sent")),
             sampled,
             node.gaps,
             node.moments,
             node.cpu_ns > 0 && node.cpu_time > 0
                 ? Cell(static_cast<double>(node.cpu_ns) / static_cast<double>(node.cpu_time))
                 : Cell(Null{})});
}

void add_gpus(base::Table& table, const NodeCurves& node, Nanos window) {
  for (const std::string& gpu : gpus_of_job(node)) {
    const auto curve = [&](std::string_view name) { return node.find(name, "device", gpu); };
    const auto rate = [&](std::string_view name) {
      return system_rows_cell_of(rates_of(curve(name), window, kSystemRowsPerSecond),
                                 &SampleSpread::mean);
    };
    const auto busy = spread_of(curve("gpu.busy"), kPercent);
    const auto watts = spread_of(curve("gpu.power"), kMilli);
    const Curve* const used = curve("gpu.memory");
    const std::optional<Curve> job = job_memory(node, gpu);
    const Slowed by = slowed(curve("gpu.clock_reasons"));
    const Curve* any = nullptr;
    for (const Curve& one : node.curves) {
      if (one.about->name.starts_with("gpu.") && one.field("device") == gpu) any = &one;
    }
    const std::vector<std::int64_t> ranks = ranks_on(node, gpu);
    table.add(
        {node.host,
         gpu,
         any->field("model"),
         std::span<const std::int64_t>(ranks),
         system_rows_cell_of(busy, &SampleSpread::mean),
         system_rows_cell_of(busy, &SampleSpread::median),
         system_rows_cell_of(busy, &SampleSpread::p95),
         system_rows_cell_of(spread_of(curve("gpu.memory_busy"), kPercent), &SampleSpread::mean),
         system_rows_cell_of(spread_of(used), &SampleSpread::mean),
         cell_or_null(largest_of(used)),
         cell_or_null(largest_of(job ? &*job : nullptr)),
         cell_or_null(last_of(curve("gpu.memory_total"))),
         system_rows_cell_of(watts, &SampleSpread::mean),
         system_rows_cell_of(watts, &SampleSpread::p95),
         system_rows_cell_of(watts, &SampleSpread::max),
         scaled(last_of(curve("gpu.power_limit")), kMilli),
         system_rows_cell_of(spread_of(curve("gpu.clock")), &SampleSpread::mean),
         system_rows_cell_of(spread_of(curve("gpu.memory_clock")), &SampleSpread::mean),
         cell_or_null(largest_of(curve("gpu.temperature"))),
         cell_or_null(largest_of(curve("gpu.memory_temperature"))),
         by.share,
         by.by.empty() ? Cell(Null{}) : Cell(by.by),
         rate("gpu.pcie_received"),
         rate("gpu.pcie_sent"),
         rate("gpu.nvlink_received"),
         rate("gpu.nvlink_sent"),
         busy ? busy->count : 0});
  }
}

void add_processes(base::Table& table, const NodeCurves& node, Nanos window, bool of_program) {
  const std::string_view own = of_program ? "stepscope run" : "training";
  const std::string_view started = of_program ? "the program" : "started by it";
  const auto usable = usable_cores(node);
  std::vector<const Curve*> by_rank = node.named("process.cpu");  // as they came to the sampler
  std::ranges::stable_sort(by_rank, {},
                           [](const Curve* cpu) { return cpu->about->number("rank"); });
  for (const Curve* cpu : by_rank) {
    const std::string_view of = cpu->field("of");
    const std::string_view process = cpu->field("process");
    const auto curve = [&](std::string_view name, std::string_view which) -> const Curve* {
      for (const Curve* one : node.named(name)) {
        if (one->field("process") == process && one->field("of") == which) return one;
      }
      return nullptr;
    };
    const bool children = of == "children";
    const auto most = largest_of(curve("process.count", of));
    if (children && most.value_or(0) == 0) continue;  // it started none
    const auto cores = rates_of(cpu, window);
    const Curve* const rss = curve("process.rss", of);
    const double each = children ? 1.0 / static_cast<double>(*most) : 1.0;
    const auto waited = shares_of(curve("process.waited", of), window, each);
    const auto cores_of_it = usable.find(process);
    const bool known = !children && cores_of_it != usable.end();
    // A program begins with the recording, and may have been first looked at later.
    const auto grown = [&](const Curve* total) {
      auto growth = growth_of(total);
      if (growth && children && of_program) *growth += total->values.front();
      return cell_or_null(growth);
    };
    table.add(
        {cell_or_null(cpu->about->number("rank")), node.host, children ? started : own,
         children ? cell_or_null(most) : Cell(1), system_rows_cell_of(cores, &SampleSpread::mean),
         system_rows_cell_of(cores, &SampleSpread::p95),
         system_rows_cell_of(cores, &SampleSpread::max), grown(cpu),
         system_rows_cell_of(waited, &SampleSpread::mean),
         known ? Cell(cores_of_it->second) : Cell(Null{}),
         system_rows_cell_of(spread_of(rss), &SampleSpread::mean), cell_or_null(largest_of(rss)),
         children ? Cell(Null{}) : cell_or_null(largest_of(curve("process.pss", "all"))),
         grown(curve("process.read", of)), grown(curve("process.written", of)),
         grown(curve("process.disk_read", of)), grown(curve("process.disk_written", of))});
  }
}

void add_traffic(base::Table& table, const NodeCurves& node, Nanos window) {
  struct Kind {
    std::string_view name, in, out, busy;
  };
  constexpr std::array kKinds = std::to_array<Kind>({
      {"disk", "disk.read", "disk.written", "disk.busy"},
      {"network", "network.received", "network.sent", ""},
  });
  for (const Kind& kind : kKinds) {
    for (const Curve* in : node.named(kind.in)) {
      const std::string_view device = in->field("device");
      const Curve* const out = node.find(kind.out, "device", device);
      const auto in_rates = rates_of(in, window, kSystemRowsPerSecond);
      const auto out_rates = rates_of(out, window, kSystemRowsPerSecond);
      const auto busy = shares_of(node.find(kind.busy, "device", device), window);
      table.add({node.host, device, kind.name, cell_or_null(growth_of(in)),
                 system_rows_cell_of(in_rates, &SampleSpread::mean),
                 system_rows_cell_of(in_rates, &SampleSpread::max), cell_or_null(growth_of(out)),
                 system_rows_cell_of(out_rates, &SampleSpread::mean),
                 system_rows_cell_of(out_rates, &SampleSpread::max),
                 system_rows_cell_of(busy, &SampleSpread::mean)});
    }
  }
}

void add_file_systems(base::Table& table, const NodeCurves& node) {
  for (const Curve* used : node.named("filesystem.used")) {
    const std::string_view path = used->field("path");
    const Curve* const available = node.find("filesystem.available", "path", path);
    if (used->values.empty() || available == nullptr) continue;
    double most = 0;
    const std::size_t looks = std::min(used->values.size(), available->values.size());
    for (std::size_t i = 0; i < looks; ++i) {
      const auto taken = static_cast<double>(used->values[i]);
      const double all = taken + static_cast<double>(available->values[i]);
      if (all > 0) most = std::max(most, taken / all);
    }
    const auto least = std::ranges::min_element(available->values);
    table.add({node.host, path, most, used->values.front(), used->values.back(),
               least == available->values.end() ? Cell(Null{}) : Cell(*least)});
  }
}

void add_cores(base::Table& table, const NodeCurves& node, Nanos window) {
  for (const Curve* core : node.named("core.busy")) {
    const auto busy = shares_of(core, window);
    table.add({node.host, cell_or_null(core->about->number("core")),
               system_rows_cell_of(busy, &SampleSpread::mean),
               system_rows_cell_of(busy, &SampleSpread::p95),
               system_rows_cell_of(busy, &SampleSpread::max)});
  }
}

void add_missing(base::Table& table, const NodeCurves& node) {
  for (const Unseen& one : node.missing) {
    table.add({node.host, one.source, one.time, one.text});
  }
}

}  // namespace stepscope::analysis
