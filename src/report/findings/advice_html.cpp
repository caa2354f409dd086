// Findings on the HTML page: the sentence and the gain at once, the rest when it is opened.
#include <fmt/format.h>

#include "report/charts/svg_chart.h"
#include "report/findings/advice.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

std::string html_paragraph(std::string_view text) {
  return text.empty() ? std::string() : fmt::format("<p>{}</p>\n", html_text(text));
}

std::string finding_html(const advice::Advice& advice, const advice::Finding& finding, bool open) {
  const std::string gain = gain_text(advice, finding);
  std::string html = fmt::format(
      "<details class=\"finding {0}\"{1}><summary><b class=\"level\">{0}</b> {2}{3}</summary>\n",
      advice::name_of(finding.level), open ? " open=\"\"" : "",
      html_text(sentence_text(finding.title)),
      gain.empty() ? "" : fmt::format(" <i>gain {}</i>", html_text(gain)));
  html += html_paragraph(detail_text(finding));
  for (const advice::Change& change : finding.changes) {
    html += html_paragraph(change.why);
    if (!change.code.empty()) html += fmt::format("<pre>{}</pre>\n", html_text(change.code));
  }
  html += "<details><summary>how to check it, how it was measured, where to look</summary>\n";
  html += html_paragraph("To check: " + verify_text(advice, finding, advice.path));
  html += "<dl class=\"facts\">\n";
  const auto fact = [&](std::string_view name, std::string_view text) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html_text(text));
  };
  fact("measured", measure_text(finding.measured));
  fact("confidence", confidence_text(finding));
  for (const advice::Evidence& evidence : finding.evidence) {
    const std::string place = place_text(evidence);
    fact("where", sentence_text(evidence.text) + (place.empty() ? "" : " (" + place + ")"));
  }
  html += "</dl>\n";
  return html + fmt::format("<p class=\"more\">{}</p>\n</details>\n</details>\n",
                            html_text(explain_command(finding)));
}

}  // namespace

std::string advice_html(const advice::Advice& advice) {
  std::string html;
  for (const advice::Sentence& sentence : advice.verdict)
    html += html_paragraph(sentence_text(sentence));
  for (const advice::Finding& finding : advice.findings) {
    html += finding_html(advice, finding, &finding == advice.findings.data());
  }
  if (!advice.not_judged.empty()) {
    html +=
        "<details><summary>rules that could not judge, and what to record for them</summary>\n"
        "<dl class=\"words\">\n";
    for (const advice::NotJudged& one : advice.not_judged) {
      html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(one.rule),
                          html_text(missing_text(one)));
    }
    html += "</dl>\n</details>\n";
  }
  return html;
}

}  // namespace stepscope::report
