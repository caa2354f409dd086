// Works out the energy a device used over time, from its counter and its power.
#include "analysis/system/energy_curve.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "analysis/arithmetic/durations.h"
#include "analysis/recording/range_tree.h"
#include "analysis/system/curve_values.h"
#include "trace/process_record.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

// Steps begin and end between samples: the line goes on this many intervals beyond them.
constexpr Nanos kIntervalsBeyond = 2;

// Power whose reading is "usage" is on many GPUs the mean of the last second.
constexpr Nanos kUsageMean = 1'000'000'000;
// Known GPUs update their counters every 20 to 100 ms. One that is read seldom does not show it.
constexpr Nanos kLongestUpdate = 100'000'000;

Nanos energy_curve_median_of(const std::vector<Nanos>& lengths) {
  if (lengths.empty()) return 0;
  Durations all;
  for (const Nanos length : lengths) all.add(length);
  return all.median();
}

// The median time between two changes of a counter: how often the device updates it, as far as the
// samples can tell.
Nanos time_between_changes(const Curve& counter) {
  std::vector<Nanos> lengths;
  std::size_t last = 0;
  for (std::size_t i = 1; i < counter.values.size(); ++i) {
    if (counter.values[i] == counter.values[last]) continue;
    if (last > 0) lengths.push_back(counter.times[i] - counter.times[last]);
    last = i;
  }
  return energy_curve_median_of(lengths);
}

// What power can tell apart.
Nanos resolution_of(const Curve& power) {
  std::vector<Nanos> lengths;
  for (std::size_t i = 1; i < power.times.size(); ++i) {
    lengths.push_back(power.times[i] - power.times[i - 1]);
  }
  return std::max(energy_curve_median_of(lengths),
                  power.field("reading") == "usage" ? kUsageMean : 0);
}

// Microjoules of a counter since its first value. One that fell began anew: what was in between is
// not known.
std::vector<std::int64_t> totals_of(const Curve& counter) {
  const std::int64_t scale = counter.about->unit == "mJ" ? 1000 : 1;
  std::vector<std::int64_t> totals;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < counter.values.size(); ++i) {
    if (i > 0) {
      total += std::max<std::int64_t>(counter.values[i] - counter.values[i - 1], 0) * scale;
    }
    totals.push_back(total);
  }
  return totals;
}

__extension__ using Wide = __int128;

// Halves of femtojoules: two powers in microwatts, added, for so many nanoseconds.
constexpr Wide kHalvesPerMicro = 2'000'000'000;
constexpr Wide kMicroPerMilli = 1000;
constexpr std::int64_t kMostMilliwatts = 1'000'000'000;

std::int64_t micro(Wide halves) { return static_cast<std::int64_t>(halves / kHalvesPerMicro); }

// Power, integrated up to each of some times: a straight line between two samples, and flat beyond
// its ends.
struct PowerIntegral {
  std::vector<Wide> total;
  std::vector<Wide> error;  // as if it had jumped anywhere between two samples

  PowerIntegral(const Curve& power, const std::vector<Nanos>& times) {
    Wide before = 0;
    std::size_t next = 0;  // sample at or after the time
    for (std::size_t i = 0; i < times.size(); ++i) {
      while (next < power.times.size() && power.times[next] < times[i]) ++next;
      const Wide now = at(power, next, times[i]);
      if (i == 0) {
        total.push_back(0);
        error.push_back(0);
      } else {
        const Wide length = times[i] - times[i - 1];
        total.push_back(total.back() + (before + now) * length);
        error.push_back(error.back() + (now > before ? now - before : before - now) * length);
      }
      before = now;
    }
  }

 private:
  // Within bounds, so that the sums of a damaged file have room.
  static Wide microwatts(std::int64_t milliwatts) {
    return Wide{std::clamp<std::int64_t>(milliwatts, 0, kMostMilliwatts)} * kMicroPerMilli;
  }
  static Wide at(const Curve& power, std::size_t next, Nanos time) {
    if (next == power.times.size()) return microwatts(power.values.back());
    const Wide after = microwatts(power.values[next]);
    if (next == 0 || power.times[next] == time) return after;
    const Wide before = microwatts(power.values[next - 1]);
    const Nanos start = power.times[next - 1];
    return before + (after - before) * (time - start) / (power.times[next] - start);
  }
};

}  // namespace

std::string_view name_of(EnergyMethod method) {
  return method == EnergyMethod::kCounter ? "counter" : "power, integrated";
}

EnergyCurve EnergyCurve::from_counter(const Curve& counter, Nanos interval) {
  EnergyCurve curve;
  curve.method_ = EnergyMethod::kCounter;
  curve.times_ = counter.times;
  curve.total_ = totals_of(counter);
  curve.update_ = time_between_changes(counter);
  curve.finish(interval);
  if (curve.empty() || curve.covered().length() <= 0) return curve;
  // One update may have come just before the first sample or just after the last.
  const double per_ns =
      static_cast<double>(curve.total_uj()) / static_cast<double>(curve.covered().length());
  curve.error_ = static_cast<std::int64_t>(per_ns * static_cast<double>(curve.update_));
  return curve;
}

EnergyCurve EnergyCurve::from_power(const Curve& power, Nanos interval) {
  EnergyCurve curve;
  curve.method_ = EnergyMethod::kPower;
  curve.times_ = power.times;
  const PowerIntegral integral(power, curve.times_);
  for (const Wide total : integral.total) curve.total_.push_back(micro(total));
  curve.error_ = micro(integral.error.back());
  if (power.field("reading") == "usage") curve.update_ = kUsageMean;
  curve.finish(interval);
  return curve;
}

EnergyCurve EnergyCurve::from_both(const Curve& counter, const Curve& power, Nanos interval) {
  if (counter.times.size() < 2) return from_power(power, interval);
  const EnergyCurve coarse = from_counter(counter, interval);
  EnergyCurve curve;
  curve.method_ = EnergyMethod::kCounter;
  std::ranges::set_union(counter.times, power.times, std::back_inserter(curve.times_));
  const PowerIntegral integral(power, curve.times_);
  const auto place = [&](Nanos time) {
    return static_cast<std::size_t>(std::ranges::lower_bound(curve.times_, time) -
                                    curve.times_.begin());
  };
  const std::size_t first = place(counter.times.front());
  const std::size_t last = place(counter.times.back());
  for (std::size_t i = 0; i <= first; ++i) curve.total_.push_back(micro(integral.total[i]));
  const std::int64_t begin = curve.total_.back();
  for (std::size_t to = 1, i = first + 1; to < counter.times.size(); ++to) {
    const Wide from = integral.total[i - 1];
    const std::size_t end = place(counter.times[to]);
    const auto whole = static_cast<double>(integral.total[end] - from);
    const std::int64_t before = begin + coarse.total_[to - 1];
    const auto used = static_cast<double>(coarse.total_[to] - coarse.total_[to - 1]);
    for (; i < end; ++i) {
      // No power at all: it is not known when, so at the end.
      const double part = whole > 0 ? static_cast<double>(integral.total[i] - from) / whole : 0.0;
      curve.total_.push_back(before + static_cast<std::int64_t>(used * part));
    }
    curve.total_.push_back(begin + coarse.total_[to]);
    ++i;
  }
  for (std::size_t i = last + 1; i < curve.times_.size(); ++i) {
    curve.total_.push_back(curve.total_[last] + micro(integral.total[i] - integral.total[last]));
  }
  const Nanos covered = coarse.covered().length();
  // As often as the counter changed or was read, whichever is longer.
  const Nanos between =
      std::max(coarse.update_, covered / static_cast<Nanos>(counter.times.size() - 1));
  curve.update_ = std::min(between, resolution_of(power));
  curve.finish(interval);
  const double per_ns = static_cast<double>(coarse.total_uj()) / static_cast<double>(covered);
  const Nanos update = std::min(between, std::max(curve.update_, kLongestUpdate));
  curve.error_ = static_cast<std::int64_t>(per_ns * static_cast<double>(update)) +
                 micro(integral.error[first] + integral.error.back() - integral.error[last]);
  return curve;
}

void EnergyCurve::finish(Nanos interval) {
  Nanos between = interval;
  if (between <= 0 && times_.size() > 1) {
    between = (times_.back() - times_.front()) / static_cast<Nanos>(times_.size() - 1);
  }
  update_ = std::max(update_, between);
  beyond_ = kIntervalsBeyond * between;
}

std::optional<double> EnergyCurve::at(Nanos time) const {
  if (empty() || time < times_.front() - beyond_ || time > times_.back() + beyond_) {
    return std::nullopt;
  }
  const auto after =
      static_cast<std::size_t>(std::ranges::lower_bound(times_, time) - times_.begin());
  const std::size_t to = std::clamp<std::size_t>(after, 1, times_.size() - 1);
  const double part =
      static_cast<double>(time - times_[to - 1]) / static_cast<double>(times_[to] - times_[to - 1]);
  return static_cast<double>(total_[to - 1]) +
         static_cast<double>(total_[to] - total_[to - 1]) * part;
}

std::optional<double> EnergyCurve::within(Interval stretch) const {
  const auto from = at(stretch.start);
  const auto to = at(stretch.end);
  return from && to ? std::optional(std::max(*to - *from, 0.0)) : std::nullopt;
}

std::vector<EnergySource> energy_sources(const NodeCurves& node) {
  std::vector<EnergySource> sources;
  const std::vector<std::string> of_job = gpus_of_job(node);
  for (const std::string& gpu : node.gpus()) {
    const Curve* const counter = node.find("gpu.energy", "device", gpu);
    const Curve* const power = node.find("gpu.power", "device", gpu);
    const Curve* const from = counter != nullptr ? counter : power;
    if (from == nullptr) continue;
    EnergyCurve curve = counter == nullptr ? EnergyCurve::from_power(*power, node.interval)
                        : power == nullptr
                            ? EnergyCurve::from_counter(*counter, node.interval)
                            : EnergyCurve::from_both(*counter, *power, node.interval);
    if (curve.empty()) continue;
    const auto most = spread_of(power, 1e-3);
    sources.push_back({.kind = "GPU",
                       .device = gpu,
                       .model = std::string(from->field("model")),
                       .counted = std::ranges::find(of_job, gpu) != of_job.end(),
                       .curve = std::move(curve),
                       .max_watts = most ? std::optional(most->max) : std::nullopt});
  }
  struct Counter {
    std::string_view name, kind;
  };
  for (const Counter& one : {Counter{"cpu.energy", "CPU"}, Counter{"memory.energy", "memory"}}) {
    for (const Curve* counter : node.named(one.name)) {
      EnergyCurve curve = EnergyCurve::from_counter(*counter, node.interval);
      if (curve.empty()) continue;
      sources.push_back({.kind = std::string(one.kind),
                         .device = std::string(counter->field("device")),
                         .model = "",
                         .counted = true,
                         .curve = std::move(curve),
                         .max_watts = std::nullopt});
    }
  }
  return sources;
}

namespace {

constexpr double kEnergySumsMicro = 1e-6;

// Nothing where one of them is not known.
std::optional<double> sum_within(const std::vector<const EnergyCurve*>& curves,
                                 std::span<const Interval> stretches) {
  if (curves.empty()) return std::nullopt;
  double sum = 0;
  for (const EnergyCurve* curve : curves) {
    for (const Interval& stretch : stretches) {
      const auto used = curve->within(stretch);
      if (!used) return std::nullopt;
      sum += *used * kEnergySumsMicro;
    }
  }
  return sum;
}

// Calls of a range. One whose energy is not known did not take 0.
struct Known {
  std::uint64_t calls = 0;
  base::Nanos ns = 0;
  Joules joules = {};

  void add(const Joules& one, base::Nanos length) {
    if (!one.sum()) return;
    ++calls;
    ns += length;
    joules.add(one);
  }
};

void add_to(std::optional<double>& sum, const std::optional<double>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

}  // namespace

std::optional<double> Joules::sum() const {
  if ((has_gpu && !gpu) || (has_host && !host) || (!gpu && !host)) return std::nullopt;
  return gpu.value_or(0) + host.value_or(0);
}

void Joules::add(const Joules& other) {
  add_to(gpu, other.gpu);
  add_to(host, other.host);
  has_gpu |= other.has_gpu;
  has_host |= other.has_host;
  is_estimate = is_estimate || other.is_estimate;
}

RankEnergy::RankEnergy(const NodeCurves& node, const std::vector<EnergySource>& sources,
                       std::int32_t rank, std::size_t ranks)
    : part_(1.0 / static_cast<double>(std::max<std::size_t>(ranks, 1))) {
  const std::vector<std::string> gpus = gpus_of_rank(node, rank);
  for (const EnergySource& source : sources) {
    const bool is_gpu = source.kind == "GPU";
    if (is_gpu && std::ranges::find(gpus, source.device) == gpus.end()) continue;
    (is_gpu ? gpus_ : host_).push_back(&source.curve);
    update_ = std::max(update_, source.curve.update());
  }
}

Joules RankEnergy::within(std::span<const Interval> stretches) const {
  Joules joules{.gpu = sum_within(gpus_, stretches),
                .host = sum_within(host_, stretches),
                .has_gpu = !gpus_.empty(),
                .has_host = !host_.empty(),
                .is_estimate = total(stretches) < update_};
  if (joules.host) *joules.host *= part_;
  return joules;
}

std::vector<PhaseEnergy> phases_of(const RunView& view, std::int32_t rank, const RankEnergy& energy,
                                   std::size_t top) {
  const base::Nanos zero = recording_start(view);
  std::vector<PhaseEnergy> phases;
  for (const WindowView& recording : view.recordings) {
    const trace::Trace& trace = *recording.trace;
    if (recording.rank != rank || trace.header().process_record->is_worker) continue;
    const base::Nanos shift = trace.clock().zero_unix_ns() - zero;
    std::vector<Known> by_node;
    const RangeTree tree = range_tree(recording, [&](std::uint32_t node, trace::Row row) {
      if (node >= by_node.size()) by_node.resize(node + 1);
      const Interval range{trace.start()[row] + shift, trace.end(row) + shift};
      by_node[node].add(energy.within(std::span(&range, 1)), range.length());
    });
    by_node.resize(tree.nodes().size());
    for (const ListedRange& listed : list_ranges(tree, {.top = top}).rows) {
      if (tree.site_of(listed.node) != RangeSite::kMainThread) continue;
      const RangeNode& node = tree.nodes()[listed.node];
      phases.push_back({.rank = rank,
                        .path = listed.path,
                        .name = node.name,
                        .depth = node.depth - 1,
                        .calls = node.calls,
                        .total = node.total,
                        .measured = by_node[listed.node].calls,
                        .measured_ns = by_node[listed.node].ns,
                        .joules = by_node[listed.node].joules});
    }
  }
  return phases;
}

void StepEnergy::Sum::add(const std::optional<double>& value, bool has) {
  if (!has) return;
  any = true;
  known &= value.has_value();
  joules += value.value_or(0);
}

void StepEnergy::add(std::int64_t number, const Joules& joules,
                     const std::optional<std::int64_t>& samples) {
  Step& step = steps_[number];
  step.gpu.add(joules.gpu, joules.has_gpu);
  step.all.add(joules.sum(), joules.has_gpu || joules.has_host);
  step.samples += samples.value_or(0);
  step.samples_known &= samples.has_value();
}

StepEnergy::Mean StepEnergy::mean(Sum Step::* which, std::int64_t given) const {
  Mean out;
  double joules = 0;
  std::int64_t samples = 0;
  bool samples_known = true;
  for (const auto& [number, step] : steps_) {
    const Sum& sum = step.*which;
    if (!sum.any || !sum.known) continue;
    ++out.steps;
    joules += sum.joules;
    samples += step.samples;
    samples_known &= step.samples_known;
  }
  if (out.steps == 0) return out;
  out.per_step = joules / static_cast<double>(out.steps);
  if (given > 0) {
    out.per_sample = *out.per_step / static_cast<double>(given);
  } else if (samples_known && samples > 0) {
    out.per_sample = joules / static_cast<double>(samples);
  }
  return out;
}

StepEnergy::Mean StepEnergy::of_gpus(std::int64_t given) const { return mean(&Step::gpu, given); }

StepEnergy::Mean StepEnergy::of_all(std::int64_t given) const { return mean(&Step::all, given); }

}  // namespace stepscope::analysis
