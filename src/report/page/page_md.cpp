// The report as Markdown, for issues and wikis.
#include <fmt/format.h>

#include "report/charts/series.h"
#include "report/charts/text_chart.h"
#include "report/findings/advice.h"
#include "report/page/page.h"
#include "report/tables/tables.h"

namespace stepscope::report {
namespace {

// Charts of characters survive in a block of code.
std::string chart_md(const Block& block) {
  const Look look{.colour = false, .width = 100};
  std::string text;
  std::size_t drawn = 0;
  const base::Table& table = block.shown_table();
  for (const Series& series : series_of(table, table.shape().drawing, kNameWidth)) {
    if (drawn++ == kMostSparks) break;
    text += block.part->shown == Shown::kSpark ? spark_text(series, look)
                                               : stack_text(series, kMostBars, look);
  }
  return text.empty() ? text : fmt::format("```text\n{}```\n", text);
}

std::string findings_md(const Page& page) {
  if (page.advice == nullptr) return {};
  return fmt::format("\n## {}\n\n{}", kAdviceTitle, advice_md(*page.advice, AdviceLength::kFirst));
}

}  // namespace

std::string page_md(const Page& page) {
  std::string out = fmt::format("# {}\n\n", markdown_text(page.title));
  for (const NamedText& fact : page.facts) {
    out += fmt::format("- {}: {}\n", fact.name.empty() ? "and" : fact.name,
                       fact.is_code ? fmt::format("`{}`", fact.text) : markdown_text(fact.text));
  }
  out += findings_md(page);
  for (const PageSection& section : page.sections) {
    out += fmt::format("\n## {}\n", section.title);
    if (!section.blocks.empty()) out += fmt::format("\n{}\n", section.about);
    for (const Block& block : section.blocks) {
      const Part& part = *block.part;
      if (part.only_html) continue;
      if (!part.caption.empty()) out += fmt::format("\n{}\n", part.caption);
      if (part.shown == Shown::kChart || part.shown == Shown::kSpark) {
        out += fmt::format("\n{}", chart_md(block));
        continue;
      }
      RankNote note = page.note();
      note.first_of = block.by_rank.size();
      out += fmt::format("\n{}", table_md(block.shown_table(), block.columns, part.rows, note));
    }
    for (const std::string& remark : section.remarks) {
      out += fmt::format("\n{}\n", markdown_text(remark));
    }
  }
  if (page.has_oddities()) {
    out += fmt::format("\n## {}\n\n", page.oddities_title());
    for (const NamedText& odd : page.oddities) {
      out += fmt::format("- `{}`: {}\n", odd.name, markdown_text(odd.text));
    }
    for (const std::string& failure : page.failures) {
      out += fmt::format("- not readable: {}\n", markdown_text(failure));
    }
  }
  out += fmt::format("\n## {}\n\n```sh\n", kNextTitle);
  for (const NamedText& next : page.next) out += fmt::format("{}  # {}\n", next.name, next.text);
  return out + "```\n";
}

}  // namespace stepscope::report
