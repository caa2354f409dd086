// What the machines of a run did meanwhile: processors, memory, GPUs, disks, network, and the
// processes of the job, over the run and within each step. Definitions: docs/metrics/system.md.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/recording/recorded_steps.h"
#include "analysis/registry.h"
#include "analysis/system/curve_values.h"
#include "analysis/system/node_curves.h"
#include "analysis/system/system_tables.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Nanos;
using base::Null;

constexpr std::array kSystemParameters = std::to_array<Parameter>({
    {"window", ParameterType::kDuration, "1s",
     "stretch of time over which the load of processors, disks and networks is counted. 0: from "
     "sample to sample"},
    {"points", ParameterType::kCount, "300", "points of a curve over time. 0: no curves"},
});

void add_curves(SystemTables& tables, const NodeCurves& node, bool several, std::size_t points) {
  const std::string before = several ? node.host + " " : "";
  const auto add = [&](base::Table& table, const Curve* curve, const std::string& of,
                       double scale) {
    if (curve == nullptr) return;
    const bool is_share = &table == &tables.load;
    for_each_bucket(*curve, node.sampled, points, [&](Nanos start, double value) {
      const double scaled = value * scale;
      table.add({node.host, before + of, start, is_share ? at_most_all(scaled) : scaled});
    });
  };
  const std::optional<Curve> load = machine_load(node);
  add(tables.load, load ? &*load : nullptr, "CPU", 1);
  add(tables.memory, node.find("memory.used"), "host", 1);
  for (const std::string& gpu : gpus_of_job(node)) {
    add(tables.load, node.find("gpu.busy", "device", gpu), "GPU " + gpu, 0.01);
    add(tables.load, node.find("gpu.memory_busy", "device", gpu), "GPU " + gpu + " memory", 0.01);
    add(tables.memory, node.find("gpu.memory", "device", gpu), "GPU " + gpu, 1);
    const std::optional<Curve> job = job_memory(node, gpu);
    add(tables.memory, job ? &*job : nullptr, "GPU " + gpu + " job", 1);
  }
}

// What one rank's steps are read from.
class RankReaders {
 public:
  // `load`: of the machine; null where it is not known.
  RankReaders(const NodeCurves& node, std::int32_t rank, const Curve* load) : load_(load) {
    for (const std::string& gpu : gpus_of_rank(node, rank)) {
      busy_.emplace_back(node.find("gpu.busy", "device", gpu));
      memory_.emplace_back(node.find("gpu.memory", "device", gpu));
      power_.emplace_back(node.find("gpu.power", "device", gpu));
    }
    for (const Curve* curve : node.named("process.cpu")) take(curve, rank, process_, children_);
    for (const Curve* curve : node.named("process.read")) take(curve, rank, read_, read_);
    for (const Curve& curve : node.curves) {
      if (curve.times.size() > most_.size()) most_ = curve.times;
    }
  }

  void add(base::Table& table, std::int32_t rank, const RecordedStep& step) const {
    const Intervals within = step.own_time();
    std::int64_t moments = 0;
    for (const Interval& one : within) {
      moments +=
          std::ranges::lower_bound(most_, one.end) - std::ranges::lower_bound(most_, one.start);
    }
    table.add({rank, step.number, step.start, step.length, moments, mean_busy(within),
               sum_of_largest(within), sum_of_means(power_, within, 1e-3), cpu_share(within),
               cores(process_, within), cores(children_, within),
               cell_or_null(growth(read_, within))});
  }

 private:
  static void take(const Curve* curve, std::int32_t rank, std::vector<CurveReader>& own,
                   std::vector<CurveReader>& children) {
    if (curve->about->number("rank") != rank) return;
    (curve->field("of") == "children" ? children : own).emplace_back(curve);
  }

  Cell mean_busy(const Intervals& within) const {
    double sum = 0;
    std::size_t count = 0;
    for (const CurveReader& reader : busy_) {
      const auto mean = reader.mean(within);
      if (!mean) continue;
      sum += *mean;
      ++count;
    }
    return count == 0 ? Cell(Null{}) : Cell(sum / static_cast<double>(count) * 0.01);
  }

  Cell sum_of_largest(const Intervals& within) const {
    std::int64_t sum = 0;
    for (const CurveReader& reader : memory_) {
      const auto most = reader.max(within);
      if (!most) return Null{};
      sum += *most;
    }
    return memory_.empty() ? Cell(Null{}) : Cell(sum);
  }

  static Cell sum_of_means(const std::vector<CurveReader>& readers, const Intervals& within,
                           double scale) {
    double sum = 0;
    for (const CurveReader& reader : readers) {
      const auto mean = reader.mean(within);
      if (!mean) return Null{};
      sum += *mean * scale;
    }
    return readers.empty() ? Cell(Null{}) : Cell(sum);
  }

  static std::optional<double> growth(const std::vector<CurveReader>& readers,
                                      const Intervals& within) {
    std::optional<double> sum;
    for (const CurveReader& reader : readers) {
      if (const auto one = reader.growth(within)) sum = sum.value_or(0) + *one;
    }
    return sum;
  }

  static Cell cores(const std::vector<CurveReader>& readers, const Intervals& within) {
    const auto used = growth(readers, within);
    const Nanos length = total(within);
    if (!used || length <= 0) return Null{};
    return *used / static_cast<double>(length);
  }

  Cell cpu_share(const Intervals& within) const {
    const auto busy = load_.growth(within);
    const Nanos length = total(within);
    if (!busy || length <= 0) return Null{};
    return at_most_all(*busy / static_cast<double>(length));
  }

  CurveReader load_;
  std::vector<CurveReader> busy_, memory_, power_, process_, children_, read_;
  std::vector<Nanos> most_;  // moments of the series that was read most often
};

void add_system_steps(base::Table& table, const RunView& view,
                      const std::vector<NodeCurves>& nodes) {
  const auto hosts = hosts_of_ranks(view);
  for (const auto& [rank, steps] : recorded_steps(view)) {
    const auto host = hosts.find(rank);
    if (host == hosts.end()) continue;
    const auto node = std::ranges::find(nodes, host->second, &NodeCurves::host);
    if (node == nodes.end()) continue;
    const std::optional<Curve> load = machine_load(*node);
    const RankReaders readers(*node, rank, load ? &*load : nullptr);
    for (const RecordedStep& step : steps) readers.add(table, rank, step);
  }
}

Answer run_system(const RunView& view, const Options& options) {
  // 0: from one sample to the next.
  const Nanos window = std::max<Nanos>(options.duration("window"), 1);
  const auto points = static_cast<std::size_t>(options.count("points"));
  const std::vector<NodeCurves> nodes = node_curves(view);
  SystemTables tables;
  for (const NodeCurves& node : nodes) {
    add_machine(tables.machines, node, window);
    add_gpus(tables.gpus, node, window);
    add_processes(tables.processes, node, window, is_of_program(view));
    add_curves(tables, node, nodes.size() > 1, points);
    add_traffic(tables.traffic, node, window);
    add_file_systems(tables.file_systems, node);
    add_cores(tables.cores, node, window);
    add_missing(tables.missing, node);
  }
  add_system_steps(tables.steps, view, nodes);
  Answer answer;
  if (auto sentence = why_whole_run(view, nodes, "'steps'"); !sentence.empty()) {
    answer.remarks.emplace_back(std::move(sentence));
  }
  if (auto sentence = about_shared_memory(nodes); !sentence.empty()) {
    answer.remarks.push_back(Remark::on_table("processes", std::move(sentence)));
  }
  if (tables.steps.rows() == 0) {
    answer.remarks.push_back(
        Remark::on_table("steps", "No steps were recorded on the machines that were sampled."));
  }
  answer.tables = tables.take();
  return answer;
}

}  // namespace

const Analysis kSystem{
    .name = "system",
    .title = "Machines",
    .question = "What did processors, memory, GPUs, disks and network do meanwhile?",
    .parameters = kSystemParameters,
    .tables = kSystemTables,
    .run = run_system,
    .needs = Needs::kSystem,
};

}  // namespace stepscope::analysis
