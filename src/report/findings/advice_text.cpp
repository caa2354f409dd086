// Findings on a terminal.
#include <algorithm>

#include <fmt/format.h>

#include "report/findings/advice.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using advice::Level;

Style level_style(Level level) {
  switch (level) {
    case Level::kCritical:
      return Style::kBad;
    case Level::kWarning:
      return Style::kWarning;
    case Level::kNotice:
      return Style::kStrong;
    case Level::kInfo:
      break;
  }
  return Style::kFaint;
}

std::string lines(std::string_view text, std::string_view indent, Style style, const Look& look) {
  std::string out;
  const std::size_t room = look.width > 40 ? look.width - indent.size() : 0;
  for (const std::string& line : wrapped(text, room)) {
    // A name that is longer than the line is known by both its ends.
    const std::string shown = room == 0 ? line : cut_middle(line, room);
    out += fmt::format("{}{}\n", indent, styled(shown, style, look));
  }
  return out;
}

// A label in the margin, then lines of text.
std::string labelled(std::string_view label, std::string_view text, const Look& look) {
  constexpr std::string_view kIndent = "               ";
  const std::string all = lines(text, kIndent, Style::kPlain, look);
  if (all.empty()) return {};
  return fmt::format("   {:<12}{}", label, all.substr(kIndent.size()));
}

std::string code_lines(std::string_view code, const Look& look) {
  std::string out;
  while (!code.empty()) {
    const std::string_view line = code.substr(0, code.find('\n'));
    out += fmt::format("                 {}\n", styled(line, Style::kGood, look));
    code.remove_prefix(std::min(line.size() + 1, code.size()));
  }
  return out;
}

std::string heading(const advice::Finding& finding, std::size_t number, const Look& look) {
  constexpr std::string_view kIndent = "             ";
  const std::string title = lines(sentence_text(finding.title), kIndent, Style::kStrong, look);
  return fmt::format("\n{:>2} {} {}", number,
                     styled(fmt::format("{:<9}", advice::name_of(finding.level)),
                            level_style(finding.level), look),
                     title.substr(kIndent.size()));
}

// Why, the gain and what to change.
std::string finding_text(const advice::Finding& finding, std::size_t number,
                         const advice::Advice& advice, const Look& look) {
  std::string out = heading(finding, number, look);
  out += lines(sentence_text(finding.detail), "   ", Style::kPlain, look);
  if (const std::string gain = gain_text(advice, finding); !gain.empty()) {
    out += labelled("gain", gain, look);
  }
  for (const advice::Change& change : finding.changes) {
    out += labelled(&change == finding.changes.data() ? "change" : "or", change.why, look);
    out += code_lines(code_text(advice, change), look);
  }
  return out;
}

// How sure it is, how to check the change, how it was measured and where to look.
std::string finding_details_text(const advice::Finding& finding, const advice::Advice& advice,
                                 const Look& look) {
  std::string out;
  if (const std::string about = about_gain_text(finding); !about.empty()) {
    out += labelled("the gain", about, look);
  }
  out += labelled("confidence", confidence_text(finding), look);
  out += labelled("check", verify_text(advice, finding, advice.path), look);
  out += labelled("measured", measure_text(finding.measured), look);
  for (const advice::Evidence& evidence : finding.evidence) {
    const std::string place = place_text(evidence);
    out += labelled(&evidence == finding.evidence.data() ? "where" : "",
                    sentence_text(evidence.text) + (place.empty() ? "" : " (" + place + ")"), look);
  }
  if (const std::string open = open_command(advice, finding); !open.empty()) {
    out += fmt::format("   {:<12}{}\n", "open", open);  // a command stays in one line
  }
  return out + labelled("read", explain_command(finding), look);
}

// A finding that is not the first, where there is little room.
std::string finding_line(const advice::Finding& finding, std::size_t number,
                         const advice::Advice& advice, const Look& look) {
  const std::string gain = gain_text(advice, finding);
  std::string out = heading(finding, number, look);
  if (!gain.empty()) out += labelled("gain", gain, look);
  if (finding.after_others && number > 1) {
    out += labelled("first", "Mend what is above and record again: this may come from it.", look);
  } else if (!finding.changes.empty()) {
    const advice::Change& first = finding.changes.front();
    out += labelled("change", first.why, look) + code_lines(code_text(advice, first), look);
  }
  return out;
}

// Every rule with its reason.
std::string not_judged_whole(const advice::Advice& advice, const Look& look) {
  std::string out = fmt::format(
      "\n{}\n",
      styled("Rules that could not judge, and what to record for them", Style::kFaint, look));
  for (std::size_t i = 0; i < advice.not_judged.size();) {
    const advice::NotJudged& first = advice.not_judged[i];
    std::string rules(first.rule);
    // Rules that lack the same stand together.
    for (++i; i < advice.not_judged.size(); ++i) {
      const advice::NotJudged& next = advice.not_judged[i];
      if (next.why != first.why || next.record != first.record) break;
      rules += fmt::format(", {}", next.rule);
    }
    out += lines(rules, "  ", Style::kPlain, look);
    out += lines(missing_text(first), "    ", Style::kFaint, look);
  }
  return out;
}

// A line for each thing to record: as many rules as have room.
std::string not_judged_brief(const advice::Advice& advice, const Look& look) {
  std::string out = fmt::format(
      "\n{}\n", styled(advice.not_judged.size() == 1
                           ? std::string("1 rule could not judge; what to record for it (--all: "
                                         "why, and how)")
                           : fmt::format("{} rules could not judge; what to record for them "
                                         "(--all: why, and how)",
                                         advice.not_judged.size()),
                       Style::kFaint, look));
  const std::size_t room = look.width > 40 ? look.width - 2 : 98;
  for (const auto& [wanted, rules] : rules_by_wanted(advice)) {
    if (wanted == advice::Wanted::kNothing) continue;
    std::string line = fmt::format("{}: ", advice::name_of(wanted));
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const std::size_t more = rules.size() - i;
      const std::string next = fmt::format("{}{}", i == 0 ? "" : ", ", rules[i]);
      const std::string rest = more > 1 ? fmt::format(" and {} more", more - 1) : "";
      if (i > 0 && text_width(line) + text_width(next) + text_width(rest) > room) {
        line += fmt::format(" and {} more", more);
        break;
      }
      line += next;
    }
    out += fmt::format("  {}\n", styled(line, Style::kFaint, look));
  }
  return out;
}

}  // namespace

std::string advice_text(const advice::Advice& advice, const Look& look, AdviceLength length) {
  std::string out;
  for (const advice::Sentence& sentence : advice.verdict) {
    out += lines(sentence_text(sentence), "  ", Style::kPlain, look);
  }
  std::size_t number = 0;
  for (const advice::Finding& finding : advice.findings) {
    ++number;
    // What is good to know costs a few lines, unless everything is asked for.
    const bool whole = number == 1 || length == AdviceLength::kEverything ||
                       (length == AdviceLength::kAll && finding.level > Level::kInfo);
    out += whole ? finding_text(finding, number, advice, look)
                 : finding_line(finding, number, advice, look);
    if (length == AdviceLength::kEverything) out += finding_details_text(finding, advice, look);
  }
  if (length == AdviceLength::kFirst) return out;
  if (length == AdviceLength::kAll && !advice.findings.empty()) {
    out +=
        "\n" + lines("--all shows how each was measured, where to look and how to check a change",
                     "", Style::kFaint, look);
  }
  if (advice.not_judged.empty()) return out;
  return out + (length == AdviceLength::kEverything ? not_judged_whole(advice, look)
                                                    : not_judged_brief(advice, look));
}

std::string brief_advice_text(const advice::Advice& advice, const Look& look, std::size_t most) {
  std::string out;
  for (const advice::Sentence& sentence : advice.verdict) {
    out += lines(sentence_text(sentence), "  ", Style::kPlain, look);
  }
  const auto line_count = [](std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  };
  const std::size_t count = advice.findings.size();
  for (std::size_t i = 0; i < count; ++i) {
    const advice::Finding& finding = advice.findings[i];
    std::string next = i == 0 ? finding_text(finding, 1, advice, look) : std::string();
    const bool is_too_long = line_count(out) + line_count(next) + 2 > most;
    if (i > 0 || is_too_long) next = finding_line(finding, i + 1, advice, look);
    if (i > 0 && line_count(out) + line_count(next) + 2 > most) {
      const std::string more =
          fmt::format("… {} more {}", count - i, count - i == 1 ? "finding" : "findings");
      return out + fmt::format("\n  {}\n", styled(more, Style::kFaint, look));
    }
    out += next;
  }
  return out;
}

}  // namespace stepscope::report
