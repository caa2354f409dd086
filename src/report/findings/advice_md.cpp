// Findings as Markdown, for issues and wikis.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/findings/advice.h"
#include "report/tables/tables.h"

namespace stepscope::report {

std::string advice_md(const advice::Advice& advice, AdviceLength length) {
  std::string out;
  for (const advice::Sentence& sentence : advice.verdict) {
    out += fmt::format("{}\n\n", markdown_text(sentence_text(sentence)));
  }
  std::size_t number = 0;
  for (const advice::Finding& finding : advice.findings) {
    out +=
        fmt::format("### {}. {}\n\n{}\n\n", ++number, markdown_text(sentence_text(finding.title)),
                    markdown_text(sentence_text(finding.detail)));
    const bool everything = length == AdviceLength::kEverything;
    out += fmt::format("- level: **{}**{}{}\n", advice::name_of(finding.level),
                       everything ? ", confidence " : "",
                       everything ? confidence_text(finding) : std::string());
    if (const std::string gain = gain_text(advice, finding); !gain.empty()) {
      out += fmt::format("- gain: {}\n", gain);
    }
    if (const std::string about = about_gain_text(finding); everything && !about.empty()) {
      out += fmt::format("- {}\n", markdown_text(about));
    }
    for (const advice::Change& change : finding.changes) {
      out += fmt::format("\n{}\n", markdown_text(change.why));
      if (!change.code.empty()) out += fmt::format("\n```\n{}\n```\n", code_text(advice, change));
    }
    out += '\n';
    if (!everything) continue;
    out += fmt::format("To check: {}\n\n", verify_text(advice, finding, advice.path));
    out += fmt::format("- measured: {}\n", markdown_text(measure_text(finding.measured)));
    for (const advice::Evidence& evidence : finding.evidence) {
      const std::string place = place_text(evidence);
      out += fmt::format("- where: {}{}\n", markdown_text(sentence_text(evidence.text)),
                         place.empty() ? "" : " (" + place + ")");
    }
    if (const std::string open = open_command(advice, finding); !open.empty()) {
      out += fmt::format("- to open it: `{}`\n", open);
    }
    out += fmt::format("- more: `{}`\n\n", explain_command(finding));
  }
  if (length == AdviceLength::kFirst || advice.not_judged.empty()) return out;
  out += "Rules that could not judge, and what to record for them:\n\n";
  if (length == AdviceLength::kEverything) {
    for (const advice::NotJudged& one : advice.not_judged) {
      out += fmt::format("- `{}`: {}\n", one.rule, markdown_text(missing_text(one)));
    }
    return out;
  }
  for (const auto& [wanted, rules] : rules_by_wanted(advice)) {
    out += fmt::format("- {}: `{}`\n", advice::name_of(wanted), fmt::join(rules, "`, `"));
  }
  return out;
}

}  // namespace stepscope::report
