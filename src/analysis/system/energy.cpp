// The energy of a run: by device, step, range, and of the whole. Definitions:
// docs/metrics/energy.md.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/loading/iterations.h"
#include "analysis/loading/loader_records.h"
#include "analysis/recording/recorded_steps.h"
#include "analysis/registry.h"
#include "analysis/system/curve_values.h"
#include "analysis/system/energy_curve.h"
#include "analysis/system/node_curves.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kEnergyParameters = std::to_array<Parameter>({
    {"grams-per-kwh", ParameterType::kNumber, "0",
     "CO2 of the electricity, in grams per kWh, for co2_grams. 0: not known"},
    {"samples-per-step", ParameterType::kCount, "0",
     "samples that all ranks together train on in a step, for joules_per_sample. 0: as many as "
     "watched loaders gave"},
    {"top", ParameterType::kCount, "40", "ranges per rank, the longest. 0: all"},
    {"points", ParameterType::kCount, "300", "points of a curve over time. 0: no curves"},
});

constexpr base::ColumnShape kEnergyNode{"node", Type::kText, Unit::kId, "name of the machine"};
constexpr base::ColumnShape kGpuJoules{"gpu_joules", Type::kReal, Unit::kNone,
                                       "of the rank's GPUs; null: not known"};
constexpr base::ColumnShape kHostJoules{
    "host_joules", Type::kReal, Unit::kNone,
    "of the machine's processors and memory, shared equally by its ranks; null: not known"};
constexpr base::ColumnShape kEstimate{
    "estimate", Type::kBool, Unit::kNone,
    "shorter than the time between two values of the energy or power: a straight line between "
    "them"};

constexpr std::array kEnergyRunColumns = std::to_array<base::ColumnShape>({
    {"of", Type::kText, Unit::kNone, "GPU, CPU, memory, or all of them"},
    {"devices", Type::kInt, Unit::kCount, "of the job, on all machines"},
    {"joules", Type::kReal, Unit::kNone, "from the first sample to the last"},
    {"error_joules", Type::kReal, Unit::kNone, "it may be this much more or less"},
    {"kwh", Type::kReal, Unit::kNone, "the same in kilowatt hours"},
    {"mean_watts", Type::kReal, Unit::kNone, "together"},
    {"measured_steps", Type::kInt, Unit::kCount, "whose joules are known on all ranks"},
    {"joules_per_step", Type::kReal, Unit::kNone,
     "of all ranks, within the measured steps, divided by their number"},
    {"joules_per_sample", Type::kReal, Unit::kNone,
     "of all ranks, within the measured steps, divided by the samples that watched loaders gave "
     "meanwhile; or by --samples-per-step"},
    {"co2_grams", Type::kReal, Unit::kNone, "by --grams-per-kwh"},
});
constexpr std::array kEnergyDeviceColumns = std::to_array<base::ColumnShape>({
    kEnergyNode,
    {"kind", Type::kText, Unit::kNone, "GPU, CPU or memory"},
    {"device", Type::kText, Unit::kId, "number or name on its machine"},
    {"model", Type::kText, Unit::kNone, "as the driver names it"},
    {"counted", Type::kBool, Unit::kNone, "false: no process of the job had this GPU open"},
    {"method", Type::kText, Unit::kNone, "its own counter, or its power integrated over time"},
    {"joules", Type::kReal, Unit::kNone, "from the first sample to the last"},
    {"error_joules", Type::kReal, Unit::kNone, "it may be this much more or less"},
    {"mean_watts", Type::kReal, Unit::kNone, "joules per second"},
    {"max_watts", Type::kReal, Unit::kNone, "the highest sample of its power"},
    {"update_ns", Type::kInt, Unit::kNanos,
     "between two values of its counter or power; at least the time "
     "between samples"},
    {"sampled_ns", Type::kInt, Unit::kNanos, "from the first sample to the last"},
});
constexpr std::array kEnergyStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kStep,
    {"start_ns", Type::kInt, Unit::kInstant, "when it began, since the first recording began"},
    {"step_ns", Type::kInt, Unit::kNanos, "its length, without declared validation"},
    {"joules", Type::kReal, Unit::kNone,
     "gpu_joules and host_joules together; null: one of them could be known and is not"},
    kGpuJoules,
    kHostJoules,
    {"watts", Type::kReal, Unit::kNone, "joules per second"},
    kEstimate,
});
constexpr std::array kEnergyPhaseColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"range", Type::kText, Unit::kNone, "its name"},
    {"calls", Type::kInt, Unit::kCount, "how often it was entered"},
    {"total_ns", Type::kInt, Unit::kNanos, "their lengths, added"},
    {"measured", Type::kInt, Unit::kCount, "of the calls: those whose joules are known"},
    {"joules", Type::kReal, Unit::kNone, "used in those, ranges inside included"},
    {"joules_per_call", Type::kReal, Unit::kNone, "mean of those"},
    kGpuJoules,
    kHostJoules,
    {"watts", Type::kReal, Unit::kNone, "joules per second"},
    kEstimate,
    {"depth", Type::kInt, Unit::kNone, "ranges around it"},
    {"path", Type::kText, Unit::kNone, "the ranges around it and itself"},
});
constexpr std::array kPowerColumns = std::to_array<base::ColumnShape>({
    kEnergyNode,
    {"of", Type::kText, Unit::kId, "GPU and its number; with the machine where there are several"},
    {"time_ns", Type::kInt, Unit::kInstant, "since the first recording of the run began"},
    {"watts", Type::kReal, Unit::kNone, "mean over the stretch that begins there"},
});

constexpr std::array<std::string_view, 1> kJoules = {"joules"};
constexpr std::array<std::string_view, 1> kWatts = {"watts"};
constexpr std::array kEnergyTables = std::to_array<base::TableShape>({
    {"run",
     "all machines together, over the sampled time",
     kEnergyRunColumns,
     {base::Chart::kBars, "of", kJoules}},
    {"devices",
     "one part of a machine that tells its energy or power",
     kEnergyDeviceColumns,
     {base::Chart::kBars, "device", kJoules, "kind"}},
    {"steps",
     "one step of one rank",
     kEnergyStepColumns,
     {base::Chart::kLine, "step", kJoules, "rank"}},
    {"phases",
     "a range below the one it was entered in, the longest first",
     kEnergyPhaseColumns,
     {base::Chart::kTree, "range", kJoules, "rank"}},
    {"power",
     "the power a device drew, over time",
     kPowerColumns,
     {base::Chart::kLine, "time_ns", kWatts, "of"}},
});

constexpr double kEnergyMicro = 1e-6;
constexpr double kJoulesPerKwh = 3.6e6;

struct Machine {
  const NodeCurves* curves;
  std::vector<EnergySource> sources;
};

double watts_of(double joules, Nanos length) {
  return joules / (static_cast<double>(length) * 1e-9);
}

Cell watts_cell(const std::optional<double>& joules, Nanos length) {
  return joules && length > 0 ? Cell(watts_of(*joules, length)) : Cell(Null{});
}

void add_energy_devices(base::Table& table, const Machine& machine) {
  for (const EnergySource& source : machine.sources) {
    const double joules = static_cast<double>(source.curve.total_uj()) * kEnergyMicro;
    const Nanos length = source.curve.covered().length();
    table.add({machine.curves->host, source.kind, source.device,
               source.model.empty() ? Cell(Null{}) : Cell(source.model), source.counted,
               name_of(source.curve.method()), joules,
               static_cast<double>(source.curve.error_uj()) * kEnergyMicro,
               watts_cell(joules, length), cell_or_null(source.max_watts), source.curve.update(),
               length});
  }
}

void add_power(base::Table& table, const Machine& machine, bool several, std::size_t points) {
  const NodeCurves& node = *machine.curves;
  const std::string before = several ? node.host + " " : "";
  const auto add = [&](const Curve& curve, const std::string& of, double scale) {
    for_each_bucket(curve, node.sampled, points, [&](Nanos start, double value) {
      table.add({node.host, before + of, start, value * scale});
    });
  };
  for (const EnergySource& source : machine.sources) {
    if (source.kind == "GPU") {
      const Curve* const power = node.find("gpu.power", "device", source.device);
      if (power != nullptr) add(*power, "GPU " + source.device, 1e-3);
    } else {
      const Curve* const energy =
          node.find(source.kind == "CPU" ? "cpu.energy" : "memory.energy", "device", source.device);
      if (energy != nullptr) add(*energy, source.device, 1e3);  // uJ per ns
    }
  }
}

// Of each step; nothing where it is not known.
std::vector<std::optional<std::int64_t>> energy_samples_of(const RankLoading* loading,
                                                           const std::vector<RecordedStep>& steps) {
  std::vector<std::optional<std::int64_t>> out;
  const auto phases = iterations_of(loading, steps);
  if (const auto training = phases.find(std::string(kTraining)); training != phases.end()) {
    for (const Iteration& one : training->second) out.push_back(one.samples);
  }
  out.resize(steps.size());
  return out;
}

void add_energy_step(base::Table& table, std::int32_t rank, const RecordedStep& step,
                     const Joules& joules) {
  const auto sum = joules.sum();
  table.add({rank, step.number, step.start, step.length, cell_or_null(sum),
             cell_or_null(joules.gpu), cell_or_null(joules.host), watts_cell(sum, step.length),
             sum ? Cell(joules.is_estimate) : Cell(Null{})});
}

void add_energy_phase(base::Table& table, const PhaseEnergy& phase) {
  const auto sum = phase.joules.sum();
  table.add({phase.rank, phase.name, phase.calls, phase.total, phase.measured, cell_or_null(sum),
             sum ? Cell(*sum / static_cast<double>(phase.measured)) : Cell(Null{}),
             cell_or_null(phase.joules.gpu), cell_or_null(phase.joules.host),
             watts_cell(sum, phase.measured_ns),
             sum ? Cell(phase.joules.is_estimate) : Cell(Null{}), phase.depth, phase.path});
}

void add_energy_run(base::Table& table, const std::vector<Machine>& machines,
                    const StepEnergy& steps, const Options& options) {
  struct Sum {
    std::int64_t devices = 0, uj = 0, error = 0;
    double watts = 0;
  };
  Sum all;
  const std::int64_t samples = options.count("samples-per-step");
  const auto add = [&](std::string_view of, const Sum& sum,
                       const std::optional<StepEnergy::Mean>& in_steps) {
    const StepEnergy::Mean mean = in_steps.value_or(StepEnergy::Mean{});
    const double joules = static_cast<double>(sum.uj) * kEnergyMicro;
    const double kwh = joules / kJoulesPerKwh;
    const double grams = options.number("grams-per-kwh");
    table.add({of, sum.devices, joules, static_cast<double>(sum.error) * kEnergyMicro, kwh,
               sum.watts, in_steps ? Cell(mean.steps) : Cell(Null{}), cell_or_null(mean.per_step),
               cell_or_null(mean.per_sample), grams > 0 ? Cell(kwh * grams) : Cell(Null{})});
  };
  int kinds = 0;
  for (const std::string_view kind : {"GPU", "CPU", "memory"}) {
    Sum sum;
    for (const Machine& machine : machines) {
      for (const EnergySource& source : machine.sources) {
        if (source.kind != kind || !source.counted) continue;
        ++sum.devices;
        sum.uj += source.curve.total_uj();
        sum.error += source.curve.error_uj();
        sum.watts += watts_of(static_cast<double>(source.curve.total_uj()) * kEnergyMicro,
                              source.curve.covered().length());
      }
    }
    if (sum.devices == 0) continue;
    ++kinds;
    // Those of processors and memory are given together, by step.
    add(kind, sum, kind == "GPU" ? std::optional(steps.of_gpus(samples)) : std::nullopt);
    all.devices += sum.devices;
    all.uj += sum.uj;
    all.error += sum.error;
    all.watts += sum.watts;
  }
  if (kinds > 1) add("all", all, steps.of_all(samples));
}

// The sentences of the machines about what keeps their energy from being known.
std::vector<std::string> why_unknown(const std::vector<NodeCurves>& nodes) {
  std::vector<std::string> why;
  std::set<std::string> said;
  for (const NodeCurves& node : nodes) {
    for (const Unseen& one : node.missing) {
      const bool about = one.source == "nvml" || one.source == "rapl" || one.source == "amdgpu";
      if (about && said.insert(one.text).second) why.push_back(one.text);
    }
  }
  return why;
}

Answer run_energy(const RunView& view, const Options& options) {
  const auto points = static_cast<std::size_t>(options.count("points"));
  const auto top = static_cast<std::size_t>(options.count("top"));
  const std::vector<NodeCurves> nodes = node_curves(view);
  std::vector<Machine> machines;
  machines.reserve(nodes.size());
  for (const NodeCurves& node : nodes) machines.push_back({&node, energy_sources(node)});
  base::Table total(kEnergyTables[0]);
  base::Table devices(kEnergyTables[1]);
  base::Table steps(kEnergyTables[2]);
  base::Table phases(kEnergyTables[3]);
  base::Table power(kEnergyTables[4]);
  for (const Machine& machine : machines) {
    add_energy_devices(devices, machine);
    add_power(power, machine, machines.size() > 1, points);
  }
  const auto hosts = hosts_of_ranks(view);
  const auto recorded = recorded_steps(view);
  const auto loading = loading_by_rank(view);
  StepEnergy sums;
  std::size_t estimates = 0;
  std::size_t unknown = 0;
  for (const auto& [rank, host] : hosts) {
    const auto machine = std::ranges::find_if(
        machines, [&](const Machine& one) { return one.curves->host == host; });
    if (machine == machines.end() || machine->sources.empty()) continue;
    const auto beside = static_cast<std::size_t>(
        std::ranges::count_if(hosts, [&](const auto& other) { return other.second == host; }));
    const RankEnergy energy(*machine->curves, machine->sources, rank, beside);
    if (const auto found = recorded.find(rank); found != recorded.end()) {
      const auto loaded = loading.find(rank);
      const auto samples =
          energy_samples_of(loaded == loading.end() ? nullptr : &loaded->second, found->second);
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const RecordedStep& step = found->second[i];
        const Joules joules = energy.within(step.own_time());
        add_energy_step(steps, rank, step, joules);
        sums.add(step.number, joules, samples[i]);
        unknown += joules.sum() ? 0 : 1;
        estimates += joules.sum() && joules.is_estimate ? 1 : 0;
      }
    }
    for (const PhaseEnergy& phase : phases_of(view, rank, energy, top))
      add_energy_phase(phases, phase);
  }
  add_energy_run(total, machines, sums, options);

  Answer answer;
  if (auto sentence = why_whole_run(view, nodes, "'steps' and 'phases'"); !sentence.empty()) {
    answer.remarks.emplace_back(std::move(sentence));
  }
  if (devices.rows() == 0) {
    answer.remarks.emplace_back("No part of the machine tells its energy or power.");
  }
  // One by one: a page on which 'system' has said them does not say them again.
  for (std::string& why : why_unknown(nodes)) answer.remarks.emplace_back(std::move(why));
  if (unknown > 0 && unknown < steps.rows()) {
    answer.remarks.emplace_back(
        fmt::format("The energy of {} of {} steps is not known; what is given per step and per "
                    "sample is the mean of the others, and joules of ranges are of calls whose "
                    "energy is known.",
                    unknown, steps.rows()));
  }
  if (estimates > 0) {
    answer.remarks.push_back(Remark::on_table(
        "steps", fmt::format("{} of {} steps are shorter than the time between two values of the "
                             "energy: their joules are estimates, their mean is not.",
                             estimates, steps.rows())));
  }
  for (base::Table* table : {&total, &devices, &steps, &phases, &power}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace

const Analysis kEnergy{
    .name = "energy",
    .title = "Energy",
    .question = "How many joules does the run take: by device, step and range?",
    .parameters = kEnergyParameters,
    .tables = kEnergyTables,
    .run = run_energy,
    .needs = Needs::kSystem,
};

}  // namespace stepscope::analysis
