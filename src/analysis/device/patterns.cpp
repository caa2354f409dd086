// Kernels that come in the same order again and again: under an operator, and anywhere on a stream
// where they could become one kernel.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/device/elementwise_chains.h"
#include "analysis/device/fusible.h"
#include "analysis/device/operator_sequences.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 2> kRoots = {"outermost", "shallowest"};
constexpr std::array kPatternsParameters = std::to_array<Parameter>({
    {"operator", ParameterType::kText, "",
     "sequences under operators and ranges whose name holds this; empty: under every operator"},
    {"roots", ParameterType::kChoice, "outermost",
     "of matches inside each other: outermost takes each that is in no other; shallowest, as HTA, "
     "only those with the fewest events around them",
     kRoots},
    {"min-length", ParameterType::kCount, "3", "kernels a sequence under an operator has at least"},
    {"min-count", ParameterType::kCount, "2", "how often a sequence comes at least"},
    {"top", ParameterType::kCount, "10",
     "rows per rank and table; of chains five times as many. 0: all"},
    {"longest", ParameterType::kCount, "32",
     "kernels of a sequence worth fusing, at most; up to 256"},
    {"shorter-than", ParameterType::kDuration, "0",
     "only kernels up to this length are worth fusing. 0: of any length"},
    {"most-gap", ParameterType::kDuration, "50us",
     "a longer gap before a kernel is not the cost of its launch; only this much of it counts"},
    {"kernel-cost", ParameterType::kDuration, "2us", "what a kernel takes that does nothing"},
});

constexpr std::array kSequenceColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"operator", Type::kText, Unit::kNone, "of which the sequence is the device work"},
    {"sequence", Type::kText, Unit::kNone, "names in the order they ran"},
    {"count", Type::kInt, Unit::kCount, "how often it started just this sequence"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of that work, added"},
    {"kernels", Type::kInt, Unit::kCount, "in the sequence; copies and memsets count too"},
    {"device_share", Type::kReal, Unit::kShare, "device_ns of all device work of the rank"},
    {"host_ns", Type::kInt, Unit::kNanos, "lengths of the operator's calls, added"},
    {"first_ns", Type::kInt, Unit::kInstant, "when the operator began the first time"},
});
constexpr std::array kFusionColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"operators", Type::kText, Unit::kNone, "that started the first of them; null: not recorded"},
    {"kernels", Type::kInt, Unit::kCount, "in the sequence; 1: one kernel several times in a row"},
    {"count", Type::kInt, Unit::kCount, "how often the sequence comes"},
    {"saves_ns", Type::kInt, Unit::kNanos,
     "estimate of what one kernel for each sequence would save: the gaps, and the fixed cost of "
     "all "
     "kernels but the first"},
    {"saves_share", Type::kReal, Unit::kShare,
     "what of saves_ns lies in steps, of the measured time of the rank"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of those kernels, added"},
    {"sequence", Type::kText, Unit::kNone, "names in the order they ran"},
    {"within", Type::kText, Unit::kNone,
     "the module or named range, else the outermost operator, most of them are started in"},
    {"gap_ns", Type::kInt, Unit::kNanos, "time between the kernels of a sequence, added"},
    {"saves_most_ns", Type::kInt, Unit::kNanos,
     "what it could save at most, if it took no longer than the longest kernel of the sequence"},
    {"launches", Type::kInt, Unit::kCount, "kernels in all of them"},
    {"in_a_row", Type::kInt, Unit::kCount, "the most that follow each other directly"},
    {"first_ns", Type::kInt, Unit::kInstant, "when the first of them began on the device"},
});
constexpr std::array kChainColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"operators", Type::kText, Unit::kNone,
     "that started the kernels, in their order; null: not recorded"},
    {"within", Type::kText, Unit::kNone,
     "the module or named range, else the outermost operator, the first is started in"},
    {"kernels", Type::kInt, Unit::kCount, "in each chain"},
    {"reductions", Type::kInt, Unit::kCount, "of them: sums, means, maxima"},
    {"count", Type::kInt, Unit::kCount, "chains of these operators"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of their kernels, added"},
    {"gap_ns", Type::kInt, Unit::kNanos,
     "idle time of the GPU before kernels of a chain that were launched already, added"},
    {"saves_least_ns", Type::kInt, Unit::kNanos,
     "what one kernel for each stretch between reductions would save at the least"},
    {"saves_ns", Type::kInt, Unit::kNanos,
     "and if the whole chain took no longer than its longest kernel"},
    {"saves_most_ns", Type::kInt, Unit::kNanos,
     "and if it took no longer than its shortest kernel that reads and writes all numbers"},
    {"longest_ns", Type::kInt, Unit::kNanos, "of the longest chain, its kernels added"},
    {"window", Type::kInt, Unit::kId, "of the longest chain"},
    {"step", Type::kInt, Unit::kId, "of the longest chain; null: of none"},
    {"event", Type::kInt, Unit::kId, "place of its first kernel in the file"},
});
constexpr std::array<std::string_view, 1> kDeviceBar = {"device_ns"};
constexpr std::array<std::string_view, 1> kSavesBar = {"saves_ns"};
constexpr std::array kPatternsTables = std::to_array<base::TableShape>({
    {"sequences",
     "device work one operator starts, in its order, the longest on the device first",
     kSequenceColumns,
     {base::Chart::kBars, "operator", kDeviceBar, "rank"}},
    {"fusions",
     "kernels that follow each other again and again and could be one, the largest saving first",
     kFusionColumns,
     {base::Chart::kBars, "operators", kSavesBar, "rank"}},
    {"chains",
     "elementwise kernels, and reductions between them, that follow each other directly, the "
     "largest saving first",
     kChainColumns},
});

// The first `count` names, as name_at gives them.
template <class NameAt>
std::string joined(std::size_t count, NameAt name_at) {
  std::vector<std::string_view> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) names.push_back(name_at(i));
  return joined_names(names);
}

struct PatternsSettings {
  SequenceChoice sequences;
  FusionLimits fusion;
  RepeatLimits repeats;
  std::uint64_t min_count;
};

struct Fusion {
  Repeat repeat;
  std::string sequence;
  std::optional<std::string> within, operators;
  Nanos device = 0, gap = 0, saves = 0, saves_in_steps = 0, most = 0, first = 0;
  std::uint64_t launches = 0;
};

struct RankPatterns {
  std::int32_t rank = 0;
  Nanos work = 0, measured = 0;
  std::vector<OperatorSequence> sequences;
  std::vector<Fusion> fusions;
  std::vector<ElementwiseChain> chains;
  bool has_device_work = false;
};

Fusion fusion_of(const FusibleText& text, std::span<const WindowView> windows, Repeat repeat) {
  Fusion out;
  const auto work_at = [&](std::uint32_t place) -> const Work& {
    const FusibleText::Kernel& kernel = text.kernels[place];
    return windows[kernel.window].work[kernel.work];
  };
  for (const auto& [first, count] : repeat.places) {
    Nanos longest = 0;
    Nanos saves = 0;
    Nanos most = 0;
    for (std::uint32_t i = first; i < first + count; ++i) {
      const Nanos length = work_at(i).length();
      out.device += length;
      longest = std::max(longest, length);
      most += length;
      if (i == first) continue;
      saves += text.text.joining[i];
      out.gap += text.gap[i];
      most += text.gap[i];
    }
    out.most += most - longest;
    const Nanos saved = std::min(saves, most - longest);
    out.saves += saved;
    if (work_at(first).step >= 0) out.saves_in_steps += saved;
    out.launches += count;
  }
  const Repeat::Place first = repeat.places.front();
  const auto names = text.text.symbols.begin() + first.first;
  out.sequence = joined(repeat.length, [&](std::size_t i) {
    return text.names[names[static_cast<std::ptrdiff_t>(i)]];
  });
  const RepeatOwners owners(windows, text);
  if (owners.knows(first)) {
    out.operators = joined(repeat.length, [&](std::size_t i) {
      return owners.operator_of(first.first + static_cast<std::uint32_t>(i));
    });
  }
  out.within = owners.around(repeat);
  out.first = work_at(first.first).start;
  out.repeat = std::move(repeat);
  return out;
}

RankPatterns compute_patterns(std::span<const WindowView> windows,
                              const PatternsSettings& settings) {
  RankPatterns out;
  out.rank = windows.front().rank;
  for (const WindowView& window : windows) {
    out.measured += window.measured_ns();
    out.has_device_work = out.has_device_work || !window.work.empty();
    for (const Work& piece : window.work) out.work += window.counts(piece) ? piece.length() : 0;
  }
  out.sequences = operator_sequences(windows, settings.sequences);
  std::erase_if(out.sequences, [&](const OperatorSequence& sequence) {
    return sequence.count < settings.min_count;
  });
  const FusibleText text = fusible_text(windows, settings.fusion);
  for (Repeat& repeat : find_repeats(text.text, settings.repeats)) {
    out.fusions.push_back(fusion_of(text, windows, std::move(repeat)));
  }
  std::ranges::stable_sort(out.fusions, std::ranges::greater{}, &Fusion::saves);
  out.chains = elementwise_chains(windows);
  return out;
}

void add_patterns_rank(const RankPatterns& rank, std::size_t top, base::Table& sequences,
                       base::Table& fusions) {
  const std::size_t shown = top == 0 ? rank.sequences.size() : std::min(top, rank.sequences.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorSequence& s = rank.sequences[i];
    sequences.add(
        {rank.rank, s.op, joined(s.kernels.size(), [&](std::size_t k) { return s.kernels[k]; }),
         s.count, s.device, s.kernels.size(),
         static_cast<double>(s.device) / static_cast<double>(rank.work), s.host, s.first});
  }
  for (const Fusion& f : rank.fusions) {
    fusions.add({rank.rank, f.operators, f.repeat.length, f.repeat.places.size(), f.saves,
                 static_cast<double>(f.saves_in_steps) / static_cast<double>(rank.measured),
                 f.device, f.sequence, f.within, f.gap, f.most, f.launches, f.repeat.in_a_row,
                 f.first});
  }
}

// The advice adds chains up, and a model has some dozens of different ones.
constexpr std::size_t kChainsForEach = 5;

void add_chains(const RankPatterns& rank, std::size_t top, base::Table& chains) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? base::Cell(base::Null{}) : base::Cell(text);
  };
  const std::size_t shown =
      top == 0 ? rank.chains.size() : std::min(kChainsForEach * top, rank.chains.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ElementwiseChain& c = rank.chains[i];
    chains.add({rank.rank, or_null(c.operators), or_null(c.within), c.kernels, c.reductions,
                c.count, c.device, c.gap, c.least, c.saves, c.most, c.longest, c.window,
                c.step >= 0 ? base::Cell(c.step) : base::Cell(base::Null{}), c.event});
  }
}

// Time grows with the length of what is looked for.
constexpr std::int64_t kMostKernels = 256;

PatternsSettings settings_of(const Options& options) {
  const auto small = [&](std::string_view name, std::int64_t least, std::int64_t most) {
    return static_cast<std::uint32_t>(std::clamp(options.count(name), least, most));
  };
  const auto top = static_cast<std::size_t>(options.count("top"));
  return {{options.text("operator"),
           options.text("roots") == kRoots[1] ? Roots::kShallowest : Roots::kOutermost,
           static_cast<std::size_t>(options.count("min-length"))},
          {options.duration("shorter-than"), options.duration("most-gap"),
           options.duration("kernel-cost")},
          {small("longest", 2, kMostKernels), small("min-count", 1, 1 << 30), top},
          static_cast<std::uint64_t>(options.count("min-count"))};
}

Answer run_patterns(const RunView& view, const Options& options) {
  const PatternsSettings settings = settings_of(options);
  // Windows of one rank stand together; a sequence may come in all of them.
  std::vector<std::span<const WindowView>> ranks;
  for (std::size_t begin = 0, end = 0; begin < view.windows.size(); begin = end) {
    while (end < view.windows.size() && view.windows[end].rank == view.windows[begin].rank) ++end;
    ranks.push_back(std::span(view.windows).subspan(begin, end - begin));
  }
  std::vector<RankPatterns> found(ranks.size());
  base::parallel_for(ranks.size(), view.threads,
                     [&](std::size_t i) { found[i] = compute_patterns(ranks[i], settings); });
  Answer answer;
  base::Table sequences(kPatternsTables[0]);
  base::Table fusions(kPatternsTables[1]);
  base::Table chains(kPatternsTables[2]);
  for (const RankPatterns& rank : found) {
    add_patterns_rank(rank, settings.repeats.top, sequences, fusions);
    add_chains(rank, settings.repeats.top, chains);
  }
  if (!view.has_device_work()) {
    answer.remarks.push_back(why_no_device_work(view));
  } else if (sequences.rows() == 0) {
    answer.remarks.push_back(
        settings.sequences.name_holds.empty()
            ? fmt::format("No operator started the same {} or more kernels at least {} times.",
                          settings.sequences.min_length, settings.min_count)
            : fmt::format("No operator or range whose name holds '{}' started the same {} or more "
                          "kernels at least {} times.",
                          settings.sequences.name_holds, settings.sequences.min_length,
                          settings.min_count));
  }
  if (options.count("longest") > kMostKernels) {
    answer.remarks.push_back(Remark::on_table(
        "fusions", fmt::format("Sequences are looked for up to {} kernels long.", kMostKernels)));
  }
  answer.tables.push_back(std::move(sequences));
  answer.tables.push_back(std::move(fusions));
  answer.tables.push_back(std::move(chains));
  return answer;
}

}  // namespace

const Analysis kPatterns{
    .name = "patterns",
    .title = "Kernel patterns",
    .question = "Which kernels always follow each other, and what would fusing them save?",
    .parameters = kPatternsParameters,
    .tables = kPatternsTables,
    .run = run_patterns,
};

}  // namespace stepscope::analysis
