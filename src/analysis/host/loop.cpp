// What the thread that trains does in each step, where the CPU does the work: every moment of a
// step belongs to one part. Definition: docs/metrics/loop.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/device/classes.h"
#include "analysis/host/interruptions.h"
#include "analysis/host/own_time.h"
#include "analysis/idle/idle_hosts.h"
#include "analysis/key_columns.h"
#include "analysis/name_sign.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/view.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;
using trace::Kind;
using trace::Row;

enum class LoopPart : std::uint8_t {
  kData,         // waits for the loader, or the loader without workers at work
  kForward,      // operators that are in none of the others
  kNoGradients,  // a model that runs without gradients beside one that learns
  kValues,       // one number after the other is taken out of tensors
  kRandom,       // random numbers are made
  kBackward,
  kOptimizer,
  kRange,   // in a range that somebody named, and no operator runs
  kPython,  // between operators, for as long as Python takes to come to the next
  kPause,   // the same, for longer
};
constexpr std::size_t kLoopParts = 10;
constexpr std::array<std::string_view, kLoopParts> kLoopPartNames = {
    "data",     "forward",   "no gradients", "single values", "random numbers",
    "backward", "optimizer", "named ranges", "Python",        "pauses"};

// An operator that is busy for no longer hardly computes: most of it is calling it.
constexpr Nanos kShortOperator = 10'000;
// Python comes to the next operator within that time; a profiler takes its part of it.
constexpr Nanos kShortGap = 100'000;
// Between two values that are taken out: an index, a comparison, the loop.
constexpr std::size_t kOperatorsBetween = 4;
constexpr std::size_t kManyValues = 10;  // of a step
// So long a scheduler may take a processor away.
constexpr Nanos kLostProcessor = 30'000'000;

constexpr std::array<std::string_view, 3> kValueReads = {"aten::item", "aten::_local_scalar_dense",
                                                         "aten::is_nonzero"};
constexpr std::array<std::string_view, 11> kRandomOperators = {
    "aten::randn",    "aten::rand",      "aten::randint",     "aten::normal_",
    "aten::uniform_", "aten::normal",    "aten::multinomial", "aten::randperm",
    "aten::random_",  "aten::rand_like", "aten::randn_like"};
// A model has some of them, whatever it is; what only counts and compares has none.
constexpr std::array<std::string_view, 14> kModelOperators = {"aten::linear",
                                                              "aten::matmul",
                                                              "aten::mm",
                                                              "aten::addmm",
                                                              "aten::bmm",
                                                              "aten::baddbmm",
                                                              "aten::conv1d",
                                                              "aten::conv2d",
                                                              "aten::conv3d",
                                                              "aten::convolution",
                                                              "aten::lstm",
                                                              "aten::gru",
                                                              "aten::scaled_dot_product_attention",
                                                              "aten::multi_head_attention_forward"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}
bool reads_a_value(std::string_view name) { return is_one_of(name, kValueReads); }
bool makes_random_numbers(std::string_view name) { return is_one_of(name, kRandomOperators); }
bool is_of_models(std::string_view name) { return is_one_of(name, kModelOperators); }
bool is_backward(std::string_view name) {
  return name == "backward" || name.starts_with("autograd::engine::evaluate_function: ");
}
bool is_optimizer(std::string_view name) {
  return name == "optimizer step" || name.starts_with("Optimizer.");
}

// A stretch of a step in which the thread was in one place.
struct LoopPiece {
  Nanos start = 0, end = 0;
  LoopPart part = LoopPart::kPause;
  base::StringId name = base::kNoString;  // of the operator or the range
  bool is_operator = false, has_gradients = false;
  Nanos short_ns = 0;  // of it in operators that are short
  Nanos length() const { return end - start; }
};

struct LoopSum {
  Nanos sum = 0, longest = 0, brief = 0;
  std::uint64_t calls = 0;
  void add(Nanos length) {
    sum += length;
    longest = std::max(longest, length);
  }
  void merge(const LoopSum& other) {
    sum += other.sum;
    longest = std::max(longest, other.longest);
    brief += other.brief;
    calls += other.calls;
  }
};

// Of one window, or of all windows of a rank.
struct LoopSums {
  std::array<LoopSum, kLoopParts> parts = {};
  std::map<std::pair<std::size_t, std::string>, LoopSum> names;  // operators and ranges by part
  std::map<std::string, LoopSum> functions;                      // of Python, outside operators
  std::uint64_t steps = 0;
  Nanos all = 0;
  // Operators of models: in the forward pass that learns, and without gradients.
  std::uint64_t learning = 0, evaluating = 0;

  void merge(const LoopSums& other) {
    for (std::size_t i = 0; i < kLoopParts; ++i) parts[i].merge(other.parts[i]);
    for (const auto& [key, sum] : other.names) names[key].merge(sum);
    for (const auto& [key, sum] : other.functions) functions[key].merge(sum);
    steps += other.steps;
    all += other.all;
    learning += other.learning;
    evaluating += other.evaluating;
  }
};

class LoopWindow {
 public:
  explicit LoopWindow(const WindowView& window)
      : window_(window),
        trace_(*window.trace),
        times_(window),
        data_(trace_, names_data_loading),
        backward_(trace_, is_backward),
        optimizer_(trace_, is_optimizer),
        values_(trace_, reads_a_value),
        random_(trace_, makes_random_numbers),
        models_(trace_, is_of_models),
        marks_(trace_, trace::names_a_step) {}

  LoopSums take() {
    for (const StepTime& step : window_.steps) {
      if (!step.selected) continue;
      const std::uint32_t track = track_of(step);
      if (track == kNoTrack) continue;
      cut(trace_.tracks()[track], step.host);
      find_values();
      find_evaluation();
      add_pieces(step.host);
      add_functions(trace_.tracks()[track], step.host);
    }
    take_names();
    return std::move(sums_);
  }

 private:
  static constexpr std::uint32_t kNoTrack = 0xffffffff;

  // The thread that marks the steps; without marks the one with the most operators.
  std::uint32_t track_of(const StepTime& step) const {
    for (const trace::Step& one : trace_.steps().list) {
      if (one.row != trace::kNoRow && one.number == step.number) return trace_.track()[one.row];
    }
    if (most_ == kNoTrack) {
      std::size_t most = 0;
      for (std::uint32_t i = 0; i < trace_.tracks().size(); ++i) {
        const trace::Track& track = trace_.tracks()[i];
        if (track.is_device) continue;
        std::size_t count = 0;
        for (Row row = track.begin; row < track.end; ++row) {
          count += trace_.kind()[row] == Kind::kCpuOp ? 1 : 0;
        }
        if (count > most) {
          most = count;
          most_ = i;
        }
      }
    }
    return most_;
  }

  bool is_operator(Row row) const {
    return trace_.kind()[row] == Kind::kCpuOp && OwnTime::is_span(trace_, row);
  }
  bool is_range(Row row) {
    return trace_.kind()[row] == Kind::kAnnotation && OwnTime::is_span(trace_, row) &&
           !marks_.matches_row(row);
  }

  Row first_in(const trace::Track& track, const Interval& step) const {
    const auto starts = trace_.start().subspan(track.begin, track.end - track.begin);
    return track.begin +
           static_cast<Row>(std::ranges::lower_bound(starts, step.start) - starts.begin());
  }

  // Ranges that began before the step.
  void open_around(Row first, const trace::Track& track) {
    open_.clear();
    if (first >= track.end) return;
    for (Row at = trace_.parent()[first]; at != trace::kNoRow; at = trace_.parent()[at]) {
      if (is_range(at)) open_.push_back(at);
    }
    std::ranges::reverse(open_);
  }

  // The step of a thread as pieces that follow each other: operators that no operator called,
  // and what lies between.
  void cut(const trace::Track& track, const Interval& step) {
    pieces_.clear();
    now_ = step.start;
    const Row first = first_in(track, step);
    open_around(first, track);
    Row top = trace::kNoRow;  // the operator that the rows after it may be in
    for (Row row = first; row < track.end; ++row) {
      if (trace_.start()[row] >= step.end) break;
      const bool operates = is_operator(row);
      if (!operates && !is_range(row)) continue;
      if (top != trace::kNoRow && trace_.start()[row] < trace_.end(top)) {
        if (operates) add_short(row, top_piece_);
        continue;
      }
      top = trace::kNoRow;
      run_to(std::min(trace_.start()[row], step.end));
      if (!operates) {
        open_.push_back(row);
        continue;
      }
      top = row;
      top_piece_ = pieces_.size();
      const Nanos end = std::min(trace_.end(row), step.end);
      pieces_.push_back({.start = now_,
                         .end = std::max(now_, end),
                         .part = part_of(row),
                         .name = trace_.name()[row],
                         .is_operator = true,
                         .has_gradients = has_gradients(row)});
      add_short(row, top_piece_);
      now_ = std::max(now_, end);
    }
    run_to(step.end);
  }

  void add_short(Row row, std::size_t piece) {
    const Nanos own = times_.self_ns(row);
    if (own <= kShortOperator) pieces_[piece].short_ns += own;
  }

  bool has_gradients(Row row) const {
    const std::uint32_t entry = trace_.ops().rows.find(row);
    return entry != base::RowSet::kNone && trace_.ops().sequence[entry] >= 0;
  }

  // The ranges that are open, up to this time.
  void run_to(Nanos time) {
    while (now_ < time) {
      while (!open_.empty() && trace_.end(open_.back()) <= now_) open_.pop_back();
      const Nanos end = open_.empty() ? time : std::min(time, trace_.end(open_.back()));
      LoopPiece gap{.start = now_, .end = end, .part = part_of_open(end - now_)};
      if (!open_.empty()) gap.name = trace_.name()[open_.back()];
      pieces_.push_back(gap);
      now_ = end;
    }
  }

  LoopPart part_of_open(Nanos length) {
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (data_.matches_row(open_[i])) return LoopPart::kData;
      if (optimizer_.matches_row(open_[i])) return LoopPart::kOptimizer;
      if (backward_.matches_row(open_[i])) return LoopPart::kBackward;
    }
    if (length <= kShortGap) return LoopPart::kPython;
    return open_.empty() ? LoopPart::kPause : LoopPart::kRange;
  }

  LoopPart part_of(Row row) {
    if (backward_.matches_row(row)) return LoopPart::kBackward;
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (trace_.end(open_[i]) <= trace_.start()[row]) continue;
      if (data_.matches_row(open_[i])) return LoopPart::kData;
      if (optimizer_.matches_row(open_[i])) return LoopPart::kOptimizer;
      if (backward_.matches_row(open_[i])) return LoopPart::kBackward;
    }
    return random_.matches_row(row) ? LoopPart::kRandom : LoopPart::kForward;
  }

  static bool may_move(const LoopPiece& piece) {
    return piece.part == LoopPart::kForward || piece.part == LoopPart::kPython;
  }

  // A thread may lose its processor there.
  static bool is_between(const LoopPiece& piece) {
    return may_move(piece) || (!piece.is_operator && piece.part == LoopPart::kPause &&
                               piece.length() <= kLostProcessor);
  }

  // Values that are taken out one after the other: what lies between them is done for them.
  void find_values() {
    std::vector<std::size_t> reads;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const LoopPiece& piece = pieces_[i];
      if (piece.is_operator && piece.part == LoopPart::kForward &&
          values_.matches_name(piece.name)) {
        reads.push_back(i);
      }
    }
    if (reads.size() < kManyValues) return;
    std::size_t before = reads.front();
    for (const std::size_t read : reads) {
      std::size_t operators = 0;
      for (std::size_t i = before + 1; i < read; ++i) {
        operators += pieces_[i].is_operator || !is_between(pieces_[i]) ? 1 : 0;
      }
      const bool follows = read != before && operators <= kOperatorsBetween;
      for (std::size_t i = follows ? before + 1 : read; i <= read; ++i) {
        if (is_between(pieces_[i])) pieces_[i].part = LoopPart::kValues;
      }
      before = read;
    }
  }

  // Operators that autograd does not number, among them some of a model.
  void find_evaluation() {
    const bool learns = std::ranges::any_of(
        pieces_, [](const LoopPiece& one) { return one.part == LoopPart::kBackward; });
    if (!learns) return;
    for (std::size_t i = 0; i < pieces_.size();) {
      if (!starts_without(pieces_[i])) {
        if (pieces_[i].is_operator && pieces_[i].has_gradients &&
            pieces_[i].part == LoopPart::kForward && models_.matches_name(pieces_[i].name)) {
          ++sums_.learning;
        }
        ++i;
        continue;
      }
      std::size_t last = i;
      std::uint64_t of_model = 0;
      std::size_t end = i;
      for (; end < pieces_.size(); ++end) {
        const LoopPiece& one = pieces_[end];
        if (one.is_operator ? !starts_without(one) : one.part != LoopPart::kPython) break;
        if (!one.is_operator) continue;
        last = end;
        of_model += models_.matches_name(one.name) ? 1 : 0;
      }
      if (of_model > 0) {
        sums_.evaluating += of_model;
        for (std::size_t k = i; k <= last; ++k) pieces_[k].part = LoopPart::kNoGradients;
      }
      i = end > i ? end : i + 1;
    }
  }
  static bool starts_without(const LoopPiece& piece) {
    return piece.is_operator && !piece.has_gradients && piece.part == LoopPart::kForward;
  }

  void add_pieces(const Interval& step) {
    ++sums_.steps;
    sums_.all += step.length();
    for (const LoopPiece& piece : pieces_) {
      const auto part = static_cast<std::size_t>(piece.part);
      const bool is_short_gap = !piece.is_operator && piece.length() <= kShortGap;
      const Nanos brief = is_short_gap ? piece.length() : std::min(piece.short_ns, piece.length());
      LoopSum& sum = sums_.parts[part];
      sum.add(piece.length());
      sum.brief += brief;
      sum.calls += piece.is_operator ? 1 : 0;
      if (piece.name == base::kNoString) continue;
      if (!piece.is_operator && piece.part != LoopPart::kRange) continue;
      LoopSum& named = named_[part][piece.name];
      named.add(piece.length());
      named.brief += brief;
      ++named.calls;
    }
  }

  void take_names() {
    for (std::size_t part = 0; part < kLoopParts; ++part) {
      for (const auto& [name, sum] : named_[part]) {
        sums_.names[{part, std::string(trace_.text(name))}].merge(sum);
      }
    }
  }

  // Frames that are innermost while no operator runs, where Python was recorded.
  void add_functions(const trace::Track& track, const Interval& step) {
    Nanos until = 0;  // the end of the operator that the rows after it may be in
    for (Row row = first_in(track, step); row < track.end; ++row) {
      if (trace_.start()[row] >= step.end) break;
      if (is_operator(row)) until = std::max(until, trace_.end(row));
      if (trace_.kind()[row] != Kind::kPython || !OwnTime::is_span(trace_, row)) continue;
      const Nanos own = times_.self_ns(row);
      // Thousands of short ones come to little, and to many names.
      if (trace_.start()[row] < until || own < kShortOperator) continue;
      LoopSum& sum = sums_.functions[function_of(row)];
      sum.add(own);
      ++sum.calls;
    }
  }

  // A function without a file is called by one that has it.
  std::string function_of(Row row) const {
    std::string name = without_addresses(trace_.name_text(row));
    for (Row at = times_.parent(row); name.starts_with('<') && at != trace::kNoRow;
         at = times_.parent(at)) {
      if (trace_.kind()[at] != Kind::kPython) continue;
      const std::string_view caller = trace_.name_text(at);
      if (caller.starts_with('<')) continue;
      return name + " in " + std::string(caller);
    }
    return name;
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  OwnTime times_;
  NameSign data_, backward_, optimizer_, values_, random_, models_, marks_;
  mutable std::uint32_t most_ = kNoTrack;
  std::vector<LoopPiece> pieces_;
  std::array<std::unordered_map<base::StringId, LoopSum>, kLoopParts> named_;
  std::vector<Row> open_;
  std::size_t top_piece_ = 0;
  Nanos now_ = 0;
  LoopSums sums_;
};

constexpr std::array kLoopParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20", "rows of operators and functions per rank. 0: all"},
});

constexpr base::ColumnShape kLoopPart{"part", Type::kText, Unit::kNone,
                                      "data, forward, backward, optimizer, …"};
constexpr base::ColumnShape kLoopCalls{"calls", Type::kInt, Unit::kCount,
                                       "operators that no operator called, in all steps"};
constexpr base::ColumnShape kLoopShare{"share", Type::kReal, Unit::kShare,
                                       "of the time of all steps"};
constexpr base::ColumnShape kLoopBrief{
    "short_ns", Type::kInt, Unit::kNanos,
    "of sum_ns in operators of at most 10 us and in gaps of at most 100 us between operators"};
constexpr base::ColumnShape kLoopTotal{"sum_ns", Type::kInt, Unit::kNanos, "all steps together"};
constexpr base::ColumnShape kLoopMean{"mean_ns", Type::kReal, Unit::kNanos, "per step"};
constexpr base::ColumnShape kLoopLongest{"longest_ns", Type::kInt, Unit::kNanos,
                                         "the longest of its stretches"};

constexpr std::array kLoopPartColumns =
    std::to_array<base::ColumnShape>({key::kRank, kLoopPart, kLoopMean, kLoopShare, kLoopTotal,
                                      kLoopBrief, kLoopLongest, kLoopCalls});
constexpr std::array kLoopNameColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kLoopPart,
    {"name", Type::kText, Unit::kNone, "of the operator or the range"},
    kLoopCalls,
    kLoopMean,
    kLoopShare,
    kLoopTotal,
    kLoopBrief,
    kLoopLongest,
});
constexpr std::array kLoopFunctionColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"function", Type::kText, Unit::kNone,
     "of Python, while no operator runs; one without a file with the one that called it"},
    {"calls", Type::kInt, Unit::kCount, "in all steps"},
    kLoopMean,
    kLoopShare,
    kLoopTotal,
    kLoopLongest,
});
constexpr std::array kLoopStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"steps", Type::kInt, Unit::kCount, "that were looked at"},
    kLoopMean,
    {"learning", Type::kInt, Unit::kCount,
     "operators of models with gradients, in the forward passes of all steps"},
    {"evaluating", Type::kInt, Unit::kCount, "the same without gradients"},
});
constexpr std::array kLoopInterruptionColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"steps", Type::kInt, Unit::kCount, "that were looked at"},
    {"in_steps", Type::kInt, Unit::kCount, "of them with any"},
    {"times", Type::kInt, Unit::kCount, "in all steps"},
    {"names", Type::kInt, Unit::kCount, "operators of different names that it happened to"},
    kLoopMean,
    kLoopShare,
    kLoopLongest,
    {"longest_in", Type::kText, Unit::kNone, "the operator of the longest"},
});
constexpr std::array<std::string_view, 1> kLoopBar = {"mean_ns"};
constexpr std::array kLoopTables = std::to_array<base::TableShape>({
    {"parts",
     "one part of the average step of one rank, on the thread that trains",
     kLoopPartColumns,
     {base::Chart::kBars, "part", kLoopBar, "rank"}},
    {"names", "operators that no operator called, and ranges, by name and part", kLoopNameColumns},
    {"functions", "one function of Python; without rows where none was recorded",
     kLoopFunctionColumns},
    {"steps", "the steps of one rank", kLoopStepColumns},
    {"interruptions", "operators of one rank that stopped in the middle, its threads together",
     kLoopInterruptionColumns},
});

template <class Map>
auto longest_first(const Map& map, std::size_t top) {
  std::vector<const typename Map::value_type*> out;
  out.reserve(map.size());
  for (const auto& one : map) out.push_back(&one);
  std::ranges::stable_sort(out, std::ranges::greater{},
                           [](const auto* one) { return one->second.sum; });
  if (top > 0 && out.size() > top) out.resize(top);
  return out;
}

// Of GPU trainings, too.
void add_interruptions(base::Table& table, const RunView& view) {
  const auto partials = per_window<Interruptions>(view, interruptions);
  std::map<std::int32_t, Interruptions> ranks;
  for (std::size_t i = 0; i < partials.size(); ++i) ranks[view.windows[i].rank].merge(partials[i]);
  for (const auto& [rank, one] : ranks) {
    if (one.times == 0) continue;
    table.add({rank, one.steps, one.in_steps, one.times, one.names,
               static_cast<double>(one.sum) / static_cast<double>(one.steps),
               share_of(one.sum, one.all), one.longest, one.example});
  }
}

Answer run_loop(const RunView& view, const Options& options) {
  const auto partials = per_window<LoopSums>(view, [](const WindowView& window) {
    return window.work.empty() ? LoopWindow(window).take() : LoopSums();
  });
  std::map<std::int32_t, LoopSums> ranks;
  for (std::size_t i = 0; i < partials.size(); ++i) ranks[view.windows[i].rank].merge(partials[i]);
  const auto top = static_cast<std::size_t>(options.count("top"));
  Answer answer;
  for (const base::TableShape& shape : kLoopTables) answer.tables.emplace_back(shape);
  for (const auto& [rank, sums] : ranks) {
    if (sums.steps == 0) continue;
    const auto steps = static_cast<double>(sums.steps);
    const auto mean = [&](Nanos sum) { return static_cast<double>(sum) / steps; };
    for (std::size_t part = 0; part < kLoopParts; ++part) {
      const LoopSum& sum = sums.parts[part];
      answer.tables[0].add({rank, kLoopPartNames[part], mean(sum.sum), share_of(sum.sum, sums.all),
                            sum.sum, sum.brief, sum.longest, sum.calls});
    }
    for (const auto* one : longest_first(sums.names, top)) {
      const LoopSum& sum = one->second;
      answer.tables[1].add({rank, kLoopPartNames[one->first.first], one->first.second, sum.calls,
                            mean(sum.sum), share_of(sum.sum, sums.all), sum.sum, sum.brief,
                            sum.longest});
    }
    for (const auto* one : longest_first(sums.functions, top)) {
      const LoopSum& sum = one->second;
      answer.tables[2].add({rank, one->first, sum.calls, mean(sum.sum), share_of(sum.sum, sums.all),
                            sum.sum, sum.longest});
    }
    answer.tables[3].add({rank, sums.steps, mean(sums.all), sums.learning, sums.evaluating});
  }
  add_interruptions(answer.tables[4], view);
  if (view.has_device_work()) {
    answer.remarks.emplace_back(
        "A GPU was at work: what the host does meanwhile costs time where the GPU waits for it, "
        "which idle-time, stalls and cpu say.");
  }
  return answer;
}

}  // namespace

const Analysis kLoop{
    .name = "loop",
    .title = "Training loop on the CPU",
    .question = "What does the thread that trains do in each step?",
    .parameters = kLoopParameters,
    .tables = kLoopTables,
    .run = run_loop,
};

}  // namespace stepscope::analysis
