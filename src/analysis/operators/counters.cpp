// Hardware counters by operator, and the floating-point operations they count.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// Hardware counters given to those who used the device: the range profiler's counts by kernel, and
// samples of the whole device by who ran then. Definition: docs/metrics/counters.md.

enum class CounterOwner : std::uint8_t { kOperator, kOutermost, kKernel };

struct CounterSum {
  double sum = 0;           // of ranges; of samples the part that fell to the owner's kernels
  double weighed = 0;       // samples: value x time
  std::uint64_t count = 0;  // ranges, or kernels that ran while it was sampled
  base::Nanos time = 0;  // of those kernels: of ranges all of it, of samples while it was sampled
  bool has_time = true;  // false: a range of a kernel that is not in the trace
  bool is_sampled = false;

  void merge(const CounterSum& other);
};

// By owner (empty: not known) and counter.
using CounterSums = std::map<std::pair<std::string_view, std::string_view>, CounterSum>;

struct WindowCounters {
  CounterSums ranges, samples;
  std::uint64_t ranges_found = 0, ranges_paired = 0;
  std::uint64_t candidates = 0;  // kernels, or launches where there are no kernels
  bool has_kernels = false;
  std::uint64_t samples_found = 0, samples_idle = 0;
};

using base::Nanos;
using trace::Kind;
using trace::Row;

// What a range may be the count of.
struct Target {
  Nanos start = 0, length = 0;
  Row row = trace::kNoRow;     // the kernel, else the call
  Row launch = trace::kNoRow;  // the call
  bool counts = true;
};

bool launches_kernels(std::string_view call) {
  return call.find("Launch") != std::string_view::npos &&
         call.find("Kernel") != std::string_view::npos;
}

// "GPU 3 Counters" is about device 3; a process that is a number may have that for its name.
std::optional<std::int32_t> device_of(const trace::Track& track) {
  const std::string_view process =
      track.process_name.starts_with("GPU ") ? track.process_name : track.process;
  const std::size_t at = process.find_first_of("0123456789");
  std::int32_t device = 0;
  if (at == std::string_view::npos) return std::nullopt;
  const auto [end, error] =
      std::from_chars(process.data() + at, process.data() + process.size(), device);
  return error == std::errc{} ? std::optional(device) : std::nullopt;
}

class CounterSumsCounting {
 public:
  CounterSumsCounting(const WindowView& window, CounterOwner owner)
      : window_(window), trace_(*window.trace), owner_(owner) {}

  WindowCounters count() {
    const trace::CounterTable& counters = trace_.counters();
    std::vector<Row> ranges;
    std::map<std::pair<std::uint32_t, base::StringId>, std::vector<Row>> samples;  // by track, name
    for (std::size_t i = 0; i < counters.row.size(); ++i) {
      const Row row = counters.row[i];
      if (i > 0 && counters.row[i - 1] == row) continue;
      if ((trace_.flags()[row] & trace::kFarTime) != 0) continue;
      if (trace_.kind()[row] == Kind::kProfilerRange) {
        ranges.push_back(row);
      } else if (is_hardware(row)) {
        samples[{trace_.track()[row], trace_.name()[row]}].push_back(row);
      }
    }
    if (!ranges.empty()) pair_ranges(std::move(ranges));
    for (const auto& [series, rows] : samples) spread(rows);
    return std::move(out_);
  }

 private:
  bool is_hardware(Row row) const {
    return trace_.phase()[row] == trace::Phase::kCounter &&
           trace_.category_text(row) == "hardware_counters";
  }

  std::string_view owner_of(Row kernel, Row launch) const {
    if (owner_ == CounterOwner::kKernel) {
      return kernel == trace::kNoRow ? std::string_view{} : trace_.name_text(kernel);
    }
    if (launch == trace::kNoRow) return {};
    const std::uint32_t entry = trace_.launches().rows.find(launch);
    Row op = entry == base::RowSet::kNone ? trace_.parent()[launch] : trace_.launches().op[entry];
    if (op == trace::kNoRow) return {};
    if (owner_ == CounterOwner::kOutermost) {
      for (Row row = op; row != trace::kNoRow; row = trace_.parent()[row]) {
        if (trace_.kind()[row] == Kind::kCpuOp) op = row;
      }
    }
    return trace_.name_text(op);
  }

  // Calls take(number of its name, name, value) for the counters of a row.
  template <class Take>
  void for_counters(Row row, Take take) const {
    const auto rows = trace_.counters().row.span();
    const auto [first, last] = std::equal_range(rows.begin(), rows.end(), row);
    for (auto at = first; at != last; ++at) {
      const auto i = static_cast<std::size_t>(at - rows.begin());
      const base::StringId id = trace_.counters().series[i];
      const std::string_view series = trace_.text(id);
      const bool is_nameless = series == "value" || series == "Value" || series == "v";
      take(id, is_nameless ? trace_.name_text(row) : series, trace_.counters().value[i]);
    }
  }

  std::vector<Target> targets() const {
    std::vector<Target> found;
    for (const Work& piece : window_.work) {
      if (trace_.kind()[piece.row] != Kind::kKernel) continue;
      found.push_back(
          {piece.start, piece.length(), piece.row, piece.launch, window_.counts(piece)});
    }
    if (found.empty()) {
      for (Row row = 0; row < trace_.size(); ++row) {
        if (!is_api_call(trace_.kind()[row]) || !launches_kernels(trace_.name_text(row))) continue;
        const Nanos start = trace_.start()[row];
        found.push_back({start, 0, row, row, window_.counts_at(start)});
      }
    }
    std::ranges::sort(found, {}, [](const Target& t) { return std::tuple(t.start, t.row); });
    return found;
  }

  // The profiler runs one kernel at a time, so the ranges come in the order of the kernels; their
  // times are made up.
  void pair_ranges(std::vector<Row> ranges) {
    std::ranges::sort(ranges, {}, [&](Row row) { return std::tuple(trace_.start()[row], row); });
    const std::vector<Target> found = targets();
    out_.ranges_found = ranges.size();
    out_.candidates = found.size();
    out_.has_kernels = !found.empty() && trace_.kind()[found.front().row] == Kind::kKernel;
    if (found.size() == ranges.size()) {
      for (std::size_t i = 0; i < ranges.size(); ++i) add_range(ranges[i], &found[i]);
      return;
    }
    // Else by name, for the names that come equally often.
    std::unordered_map<base::StringId, std::vector<const Target*>> by_name;
    std::unordered_map<base::StringId, std::size_t> wanted;
    if (out_.has_kernels) {
      for (const Target& target : found) by_name[trace_.name()[target.row]].push_back(&target);
    }
    for (const Row row : ranges) ++wanted[trace_.name()[row]];
    std::unordered_map<base::StringId, std::size_t> next;
    for (const Row row : ranges) {
      const base::StringId name = trace_.name()[row];
      const auto same = by_name.find(name);
      const bool pairs = same != by_name.end() && same->second.size() == wanted[name];
      add_range(row, pairs ? same->second[next[name]++] : nullptr);
    }
  }

  void add_range(Row row, const Target* target) {
    if (target != nullptr) ++out_.ranges_paired;
    if (target != nullptr && !target->counts) return;
    const bool is_named = trace_.name()[row] != base::kNoString;
    const std::string_view owner = owner_ == CounterOwner::kKernel
                                       ? (is_named ? trace_.name_text(row) : std::string_view{})
                                   : target == nullptr ? std::string_view{}
                                                       : owner_of(target->row, target->launch);
    const bool has_time = target != nullptr && out_.has_kernels;
    for_counters(row, [&](base::StringId, std::string_view counter, double value) {
      CounterSum one;
      one.sum = value;
      one.count = 1;
      one.time = has_time ? target->length : 0;
      one.has_time = has_time;
      out_.ranges[{owner, counter}].merge(one);
    });
  }

  // A sample holds until the next one; the last one as long as the one before it.
  void spread(const std::vector<Row>& rows) {
    const std::optional<std::int32_t> device =
        device_of(trace_.tracks()[trace_.track()[rows.front()]]);
    std::vector<const Work*> work;
    for (const Work& piece : window_.work) {
      if (trace_.kind()[piece.row] != Kind::kKernel) continue;
      if (device && window_.streams[piece.stream].device != *device) continue;
      work.push_back(&piece);
    }
    std::ranges::sort(work, {}, [](const Work* w) { return std::tuple(w->start, w->row); });
    std::vector<Nanos> until;  // the latest end of all so far
    until.reserve(work.size());
    for (const Work* piece : work) {
      until.push_back(std::max(piece->end, until.empty() ? piece->end : until.back()));
    }
    sampled_until_.clear();
    std::size_t low = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Nanos start = trace_.start()[rows[i]];
      const Nanos end = i + 1 < rows.size() ? trace_.start()[rows[i + 1]]
                        : i > 0             ? start + (start - trace_.start()[rows[i - 1]])
                                            : start;
      ++out_.samples_found;
      while (low < work.size() && until[low] <= start) ++low;
      // Kernels alone execute something: what was counted is theirs, also of those that are not
      // asked about.
      const auto for_running = [&](auto visit) {
        for (std::size_t w = low; w < work.size() && work[w]->start < end; ++w) {
          const Nanos both = std::min(work[w]->end, end) - std::max(work[w]->start, start);
          if (both > 0) visit(*work[w], both);
        }
      };
      Nanos running = 0;
      for_running([&](const Work&, Nanos both) { running += both; });
      for_running([&](const Work& piece, Nanos both) {
        if (window_.counts(piece)) add_sample(rows[i], piece, both, running);
      });
      out_.samples_idle += running == 0 ? 1 : 0;
      for_counters(rows[i], [&](base::StringId series, std::string_view, double) {
        sampled_until_[series] = end;
      });
    }
  }

  // `running` is the time of all kernels together in the sample.
  void add_sample(Row row, const Work& piece, Nanos both, Nanos running) {
    const std::string_view owner = owner_of(piece.row, piece.launch);
    for_counters(row, [&](base::StringId series, std::string_view counter, double value) {
      CounterSum one;
      one.is_sampled = true;
      one.time = both;
      one.weighed = value * static_cast<double>(both);
      one.sum = one.weighed / static_cast<double>(running);
      // A kernel that began during an earlier sample of this counter is counted already.
      const auto seen = sampled_until_.find(series);
      one.count = seen == sampled_until_.end() || piece.start >= seen->second ? 1 : 0;
      out_.samples[{owner, counter}].merge(one);
    });
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  CounterOwner owner_;
  WindowCounters out_;
  std::unordered_map<base::StringId, Nanos> sampled_until_;  // by series, of one track
};

void CounterSum::merge(const CounterSum& other) {
  sum += other.sum;
  weighed += other.weighed;
  count += other.count;
  time += other.time;
  has_time = has_time && other.has_time;
  is_sampled = is_sampled || other.is_sampled;
}

WindowCounters count_window(const WindowView& window, CounterOwner owner) {
  return CounterSumsCounting(window, owner).count();
}

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
