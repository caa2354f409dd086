// The small texts that all forms of findings share.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/findings/advice.h"
#include "report/tables/cell_text.h"
#include "report/tables/short_names.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {

namespace {

// Averages over steps: more digits than these say no more.
std::string counted_text(double count) {
  constexpr double kFew = 9.95;
  const double tenths = std::round(10 * count) / 10;
  if (tenths == 0) return figure_text(count, base::Unit::kNone);
  if (std::abs(count) >= kFew) return figure_text(std::round(count), base::Unit::kCount);
  if (tenths == std::round(tenths)) return figure_text(tenths, base::Unit::kCount);
  return fmt::format("{:.1f}", tenths);
}

// Kernels by the part of their name that people read.
std::string written(const advice::Figure& figure) {
  if (figure.text.empty()) {
    return figure.unit == base::Unit::kCount ? counted_text(figure.value)
                                             : figure_text(figure.value, figure.unit);
  }
  return printable(figure.is_kernel ? plain_name(figure.text) : figure.text);
}

}  // namespace

std::string sentence_text(const advice::Sentence& sentence) {
  std::string out;
  std::size_t used = 0;
  std::string_view left = sentence.form;
  for (std::size_t at = left.find("{}"); at != std::string_view::npos; at = left.find("{}")) {
    out += left.substr(0, at);
    left.remove_prefix(at + 2);
    if (used == sentence.figures.size()) continue;
    out += written(sentence.figures[used++]);
  }
  return out + std::string(left);
}

std::string gain_text(const advice::Advice& advice, const advice::Finding& finding) {
  if (!finding.gain || finding.gain->high == 0) return {};
  const auto [low, high] = *finding.gain;
  const double whole = finding.measured.whole_ns > 0 ? finding.measured.whole_ns
                                                     : static_cast<double>(advice.step_ns);
  // Shares of steps that were traced, and of others: each says of how long a step.
  const bool differ = std::ranges::any_of(
      advice.findings, [](const advice::Finding& one) { return one.untraced_step_ns > 0; });
  const std::string of_step = differ && !finding.here
                                  ? fmt::format(" of {}", duration_text(std::llround(whole)))
                                  : std::string();
  // What comes more often than in this recording makes the step longer, too: of how long a one?
  const double others = finding.here ? whole - static_cast<double>(finding.here->middle()) : 0;
  const auto share = [&](base::Nanos part) {
    const auto own = static_cast<double>(part);
    if (!finding.here) return share_text(own / whole);
    const double longer = std::max(1.0, others + own);
    return fmt::format("{} of {}", share_text(own / longer), duration_text(std::llround(longer)));
  };
  const std::string_view step = finding.here ? "step of a long training" : "step";
  std::string out =
      low == 0
          ? fmt::format("at most {} per {} ({}{})", duration_text(high), step, share(high), of_step)
          : fmt::format("{} to {} per {} ({} to {}{})", duration_text(low), duration_text(high),
                        step, share(low), share(high), of_step);
  if (finding.remaining && finding.remaining->high < high) {
    out += fmt::format("; at most {} once those above are mended",
                       duration_text(finding.remaining->high));
  }
  return out;
}

std::string verify_text(const advice::Advice& advice, const advice::Finding& finding,
                        std::string_view path) {
  const bool of_each_step = finding.gain && finding.gain->low > 0 && !finding.here;
  if (!of_each_step || advice.step_ns <= 0 || finding.verify.empty()) return finding.verify;
  return fmt::format("{} `stepscope diff {} {}` shows a mean step of {} or less.", finding.verify,
                     path.empty() ? "before.json" : path, advice::new_recording(advice.recorder),
                     duration_text(advice.step_ns - finding.gain->low));
}

std::string about_gain_text(const advice::Finding& finding) {
  const std::string text = sentence_text(finding.about_gain);
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::string detail_text(const advice::Finding& finding) {
  return sentence_text(finding.detail) + sentence_text(finding.about_gain);
}

std::string confidence_text(const advice::Finding& finding) {
  std::string out(advice::name_of(finding.confidence));
  if (!finding.gain || finding.gain->high == 0) return out;
  constexpr base::Nanos kRough = 2;  // the larger figure is more than so many times the smaller
  if (finding.gain->low == 0) {
    out += " for the cause; the gain may be nothing";
  } else if (finding.gain->high > kRough * finding.gain->low) {
    out += " for the cause; the gain is rough";
  }
  return out;
}

std::string place_text(const advice::Evidence& evidence) {
  std::string out;
  const auto add = [&](std::string_view what, std::int64_t number) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, number);
  };
  if (evidence.rank) add("rank", *evidence.rank);
  if (evidence.window && *evidence.window > 0) add("recording", *evidence.window);
  if (evidence.step) add("step", *evidence.step);
  if (evidence.event) add("event", *evidence.event);
  return out;
}

std::string explain_command(const advice::Finding& finding) {
  return fmt::format("stepscope advise --explain {}", finding.rule);
}

std::string open_command(const advice::Advice& advice, const advice::Finding& finding) {
  if (advice.path.empty()) return {};
  for (const advice::Evidence& evidence : finding.evidence) {
    if (!evidence.event || !evidence.rank) continue;
    return fmt::format("stepscope serve {} --event {}.{}.{}", advice.path, *evidence.rank,
                       evidence.window.value_or(0), *evidence.event);
  }
  return {};
}

std::string code_text(const advice::Advice& advice, const advice::Change& change) {
  constexpr std::string_view kPath = "stepscope diff PATH ";
  std::string code = change.code;
  if (advice.path.empty() || !code.starts_with(kPath)) return code;
  return fmt::format("stepscope diff {} {}", advice.path, code.substr(kPath.size()));
}

std::string missing_text(const advice::NotJudged& missing) {
  std::string out = fmt::format("{}.", printable(missing.why));
  if (!missing.record.empty()) out += fmt::format(" Record: {}.", missing.record);
  return out;
}

std::vector<RulesByWanted> rules_by_wanted(const advice::Advice& advice) {
  std::vector<RulesByWanted> out;
  for (const advice::NotJudged& one : advice.not_judged) {
    auto found = std::ranges::find(out, one.wanted, &RulesByWanted::wanted);
    if (found == out.end()) found = out.insert(out.end(), {one.wanted, {}});
    found->rules.push_back(one.rule);
  }
  return out;
}

std::string measure_text(const advice::Measure& measure) {
  std::string out = fmt::format("{}: {}", measure.name, figure_text(measure.value, measure.unit));
  if (measure.unit == base::Unit::kShare && measure.whole_ns > 0) {
    out += fmt::format(", {} of {}", duration_text(std::llround(measure.value * measure.whole_ns)),
                       duration_text(std::llround(measure.whole_ns)));
  }
  if (measure.threshold > 0) {
    out += fmt::format(" (threshold {})", figure_text(measure.threshold, measure.unit));
  }
  return out;
}

}  // namespace stepscope::report
