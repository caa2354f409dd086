#include "analysis/operators/counter_sums.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace stepscope::analysis {
namespace {

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

}  // namespace

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

}  // namespace stepscope::analysis
