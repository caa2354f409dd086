// The page and the sentence of a comparison of two runs.
#include "analysis/compare/diff.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/table_line.h"
#include "report/compare/compare.h"
#include "report/tables/cell_text.h"
#include "report/tables/tables.h"
#include "report/writing/json_writer.h"
#include "report/writing/numbers.h"

namespace stepscope::report {
namespace {

using base::TableLine;

constexpr std::array<std::string_view, 8> kDiffTimeColumns = {
    "quantity",     "before_ns", "after_ns",   "change_ns",
    "change_share", "low_share", "high_share", "significant"};
constexpr std::array kDiffTimes = std::to_array<Part>({
    {.analysis = "diff", .table = "times", .columns = kDiffTimeColumns, .bars = false},
});
constexpr std::array kParts = std::to_array<Part>({
    {.analysis = "diff", .table = "parts", .shown = Shown::kBoth, .bars = false},
});
// `was` stands beside the name it had: columns on the right give way first.
constexpr std::array<std::string_view, 8> kDiffKernelColumns = {
    "verdict", "kernel", "was", "before_ns", "after_ns", "change_ns", "error_ns", "after_count"};
constexpr std::array kDiffKernels = std::to_array<Part>({
    {.analysis = "diff", .table = "kernels", .columns = kDiffKernelColumns, .rows = 12},
});
constexpr std::array<std::string_view, 8> kDiffOperatorColumns = {
    "verdict",        "operator",      "before_device_ns", "after_device_ns",
    "before_host_ns", "after_host_ns", "before_calls",     "after_calls"};
constexpr std::array kDiffOperators = std::to_array<Part>({
    {.analysis = "diff", .table = "operators", .columns = kDiffOperatorColumns, .rows = 12},
});
constexpr std::array kDiffMemory = std::to_array<Part>({
    {.analysis = "diff", .table = "memory", .bars = false},
});
constexpr std::array kDiffSections = std::to_array<Section>({
    {"Step time",
     "typical is the mean of the middle half of the steps; in 95 of 100 cases the change lies "
     "between low and high, the spread between runs of one program included",
     kDiffTimes, ""},
    {"Where the difference is",
     "the typical step, every moment counted once, for the first part that applies; changes add up "
     "to that of the step",
     kParts, ""},
    {"Kernels",
     "per step, the largest changes first; error: how far off a change may be; unsure: it may be "
     "noise",
     kDiffKernels, ""},
    {"Operators", "per step, the largest changes first; unsure: it may be noise", kDiffOperators,
     ""},
    {"Memory", "peaks", kDiffMemory, ""},
});

std::optional<TableLine> line_of(const analysis::Answer& answer, std::string_view quantity) {
  const base::Table* times = table_of(answer, "times");
  for (std::size_t r = 0; times != nullptr && r < times->rows(); ++r) {
    if (TableLine(*times, r).text("quantity") == quantity) return TableLine(*times, r);
  }
  return std::nullopt;
}

std::string_view part_words(std::string_view part) {
  static constexpr std::array kWords =
      std::to_array<std::pair<std::string_view, std::string_view>>({
          {"kernel", "kernels"},
          {"memcpy", "copies"},
          {"memset", "memsets"},
          {"runtime", "calls to the GPU"},
          {"dataloader", "DataLoader"},
          {"cpu_exec", "operators on the CPU"},
          {"other", "Python and what was not recorded"},
      });
  const auto* const found =
      std::ranges::find(kWords, part, [](const auto& pair) { return pair.first; });
  return found == kWords.end() ? part : found->second;
}

// A sentence has one unit: that of the longer of the two steps it is about.
class OneUnit {
 public:
  explicit OneUnit(const TableLine& step)
      : like_(std::llround(std::max(step.number("before_ns"), step.number("after_ns")))) {}
  std::string text(double ns) const { return duration_text_like(std::llround(ns), like_); }

 private:
  base::Nanos like_;
};

std::string times_text(const TableLine& line) {
  return durations_text(std::llround(line.number("before_ns")),
                        std::llround(line.number("after_ns")));
}

std::string diff_change_text(const TableLine& line) {
  if (!line.has_value("change_share")) return {};
  if (!line.has_value("low_share"))
    return fmt::format(" ({})", signed_share_text(line.number("change_share")));
  return fmt::format(" ({})",
                     bounded_share_text(line.number("change_share"), line.number("low_share"),
                                        line.number("high_share")));
}

// Whether parts are of other steps than those whose lengths are compared.
bool parts_are_of_others(const analysis::Answer& diff) {
  const base::Table* sides = table_of(diff, "sides");
  for (std::size_t r = 0; sides != nullptr && r < sides->rows(); ++r) {
    if (TableLine(*sides, r).has_value("traced_steps")) return true;
  }
  return false;
}

// One side was traced and the other was not.
bool kinds_differ(const analysis::Answer& diff) {
  const base::Table* sides = table_of(diff, "sides");
  return sides != nullptr && sides->rows() == 2 &&
         TableLine(*sides, 0).text("kind") != TableLine(*sides, 1).text("kind");
}

// "operators on the CPU +27.8 ms".
std::string signed_part(const TableLine& line, const OneUnit& unit) {
  const double change = line.number("change_ns");
  return fmt::format("{} {}{}", part_words(line.text("part")), change < 0 ? "−" : "+",
                     unit.text(std::abs(change)));
}

// The parts that explain most of the change.
std::string reasons_text(const analysis::Answer& diff, double change_ns, const OneUnit& unit) {
  constexpr double kWorthNaming = 0.2;  // of the change
  constexpr double kAllOfIt = 1.1;      // of the change: the others make up for the little more
  constexpr std::size_t kMost = 2;
  const base::Table* parts = table_of(diff, "parts");
  double all = 0;
  for (std::size_t r = 0; parts != nullptr && r < parts->rows(); ++r) {
    all += TableLine(*parts, r).number("change_ns");
  }
  if (all * change_ns <= 0) return {};  // traced steps tell another story
  const auto size = [](const TableLine& line) { return std::abs(line.number("change_ns")); };
  std::vector<TableLine> named, against;
  for (std::size_t r = 0; r < parts->rows(); ++r) {
    const TableLine line(*parts, r);
    const double share = line.number("change_ns") / all;
    if (share >= kWorthNaming) named.push_back(line);
    if (share <= -kWorthNaming) against.push_back(line);
  }
  std::ranges::stable_sort(named, std::ranges::greater{}, size);
  // More than the whole is no part of it: then what made up for it is named, too.
  if (!parts_are_of_others(diff) && !named.empty() && size(named.front()) > std::abs(change_ns)) {
    const auto most = std::ranges::max_element(against, {}, size);
    if (most == against.end() && size(named.front()) <= kAllOfIt * std::abs(change_ns)) {
      return fmt::format("; all of it: {}", part_words(named.front().text("part")));
    }
    const std::string out = "; " + signed_part(named.front(), unit);
    return most == against.end() ? out : out + ", " + signed_part(*most, unit);
  }
  // A profiler changes steps: what they are made of is theirs, and need not add up to the others.
  const bool of_it = !parts_are_of_others(diff) ||
                     (std::abs(all) < 2 * std::abs(change_ns) && !named.empty() &&
                      std::abs(named.front().number("change_ns")) <= std::abs(change_ns));
  std::string out;
  for (std::size_t i = 0; i < std::min(kMost, named.size()); ++i) {
    const std::string_view before = i > 0 ? ", " : of_it ? "; " : "; in traced steps ";
    out += fmt::format("{}{}{}: {}", before, unit.text(std::abs(named[i].number("change_ns"))),
                       i == 0 && of_it ? " of it" : "", part_words(named[i].text("part")));
  }
  return out;
}

std::string side_text(const TableLine& line, bool several_ranks) {
  std::string out(line.text("run"));
  if (several_ranks) out += fmt::format(", rank {}", line.whole("rank"));
  out += ": " + counted(static_cast<std::uint64_t>(line.whole("steps")), "step");
  if (line.text("kind") == "untraced") out += " outside of trace windows";
  out += left_out_steps_text(static_cast<std::size_t>(line.whole("warmup_steps")),
                             static_cast<std::size_t>(line.whole("window_steps")));
  if (line.has_value("traced_steps")) {
    out += fmt::format(", {} traced", line.whole("traced_steps"));
  }
  if (line.has_value("gpu")) out += fmt::format(", {}", line.text("gpu"));
  return out;
}

}  // namespace

std::string diff_sentence(const analysis::Answer& diff) {
  const auto typical = line_of(diff, "typical");
  if (!typical) return "nothing to compare: one side has no steps";
  const OneUnit unit(*typical);
  const std::string head =
      fmt::format("step {}{}", times_text(*typical), diff_change_text(*typical));
  if (kinds_differ(diff)) {
    return head + "; unsure: one side was traced, the other was not, and a profiler costs time";
  }
  if (!typical->has_value("significant")) {
    return head + reasons_text(diff, typical->number("change_ns"), unit) +
           "; too few steps to say how sure that is";
  }
  if (typical->whole("significant") != 0) {
    return head + reasons_text(diff, typical->number("change_ns"), unit);
  }
  const auto mean = line_of(diff, "mean");
  if (mean && mean->whole("significant") != 0) {
    return fmt::format(
        "{}: of the typical step, which leaves the longest and the shortest out, that may be "
        "noise; "
        "of the mean of all steps it is not: {}{}",
        head, times_text(*mean), diff_change_text(*mean));
  }
  return head + ": no difference beyond noise";
}

Page make_diff_page(const Answers& answers, std::span<const std::string> given) {
  Page page;
  const analysis::Answer& diff = answers.answers.front().answer;
  page.title = diff_sentence(diff);
  if (const base::Table* sides = table_of(diff, "sides")) {
    bool several_ranks = false;
    for (std::size_t r = 0; r < sides->rows(); ++r) {
      several_ranks = several_ranks || TableLine(*sides, r).whole("rank") != 0;
    }
    for (std::size_t r = 0; r < sides->rows(); ++r) {
      const TableLine line(*sides, r);
      page.facts.push_back({std::string(line.text("side")), side_text(line, several_ranks)});
    }
  }
  add_sections(kDiffSections, answers, page);
  page.one_rank = true;
  const std::string paths = typed_again(given);
  page.next = {{fmt::format("stepscope diff --json {}", paths), "every row, full precision"},
               {fmt::format("stepscope diff --html diff.html {}", paths), "this page with charts"}};
  return page;
}

std::string diff_json(const analysis::Answer& diff) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.diff/1");
  json.member("sentence", std::string_view(diff_sentence(diff)));
  write_answer(json, diff);
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::report
