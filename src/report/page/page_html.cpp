// The report as one HTML file: charts drawn from the tables' descriptors, tables, the glossary.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/ascii.h"
#include "report/charts/svg_chart.h"
#include "report/findings/advice.h"
#include "report/help/help.h"
#include "report/page/page.h"
#include "report/page/table_html.h"
#include "report/tables/cell_text.h"
#include "report/tables/short_names.h"
#include "report/tables/shown_columns.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kPageHtmlMostRanks = 16;  // with tables of their own

// "Where the step time goes" → "where-the-step-time-goes"
std::string anchor(std::string_view title) {
  std::string out;
  for (const char c : title) {
    const char small = base::lowered(c);
    out += (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9') ? small : '-';
  }
  return out;
}

// The charts and the table of a part, or of one rank of it.
std::string content_html(const base::Table& table, const Block& block, RankNote note) {
  const Part& part = *block.part;
  const bool charted = part.shown != Shown::kTable && part.shown != Shown::kList;
  const bool tabled = part.shown != Shown::kChart && part.shown != Shown::kSpark;
  std::string html = charted ? charts_html(table) : std::string();
  const std::string numbers = table_html(table, block.columns, part.rows, note);
  if (tabled) return html + numbers;
  return html + fmt::format("<details><summary>numbers</summary>\n{}</details>\n", numbers);
}

std::string block_html(const Block& block, RankNote note) {
  const Part& part = *block.part;
  std::string html;
  if (!part.caption.empty() && !part.folded) {
    html += fmt::format("<p class=\"about\">{}</p>\n", html_text(part.caption));
  }
  if (block.by_rank.empty()) html += content_html(block.whole_table(), block, note);
  for (std::size_t i = 0; i < block.by_rank.size(); ++i) {
    if (i == kPageHtmlMostRanks) {
      html += fmt::format("<p class=\"more\">… {} more ranks; --rank chooses them</p>\n",
                          block.by_rank.size() - i);
      break;
    }
    const base::Table& table = block.by_rank[i];
    html += fmt::format("<details{}><summary>rank {}</summary>\n{}</details>\n",
                        i == 0 ? " open=\"\"" : "", table.int_at(*table.find("rank"), 0),
                        content_html(table, block, {.shown = false}));
  }
  if (!part.folded) return html;
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", html_text(part.caption),
                     html);
}

std::string section_html(const PageSection& section, RankNote note) {
  std::string html = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n",
                                 anchor(section.section->title), html_text(section.title));
  if (!section.blocks.empty()) {
    html += fmt::format("<p class=\"about\">{}</p>\n", html_text(section.about));
  }
  for (const Block& block : section.blocks) html += block_html(block, note);
  for (const std::string& remark : section.remarks) {
    html += fmt::format("<p class=\"remark\">{}</p>\n", html_text(printable(remark)));
  }
  return html + "</section>\n";
}

std::string findings_html(const Page& page) {
  if (page.advice == nullptr) return {};
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", anchor(kAdviceTitle),
                     kAdviceTitle, advice_html(*page.advice));
}

std::string oddities_html(const Page& page) {
  if (!page.has_oddities()) return {};
  std::string html = fmt::format("<section id=\"odd\"{}>\n<h2>{}</h2>\n<dl class=\"facts\">\n",
                                 page.lost_data ? " class=\"lost\"" : "", page.oddities_title());
  for (const NamedText& odd : page.oddities) {
    html += fmt::format("<dt><code>{}</code></dt><dd>{}</dd>\n", html_text(odd.name),
                        html_text(odd.text));
  }
  for (const std::string& failure : page.failures) {
    html += fmt::format("<dt>not readable</dt><dd>{}</dd>\n", html_text(failure));
  }
  return html + "</dl>\n</section>\n";
}

std::string navigation(const Page& page) {
  std::string html = "<nav>";
  if (page.advice != nullptr) {
    html += fmt::format("<a href=\"#{}\">{}</a> ", anchor(kAdviceTitle), kAdviceTitle);
  }
  for (const PageSection& section : page.sections) {
    html += fmt::format("<a href=\"#{}\">{}</a> ", anchor(section.section->title),
                        html_text(section.section->title));
  }
  return html + fmt::format("<a href=\"#next\">{}</a> <a href=\"#glossary\">Glossary</a></nav>\n",
                            kNextTitle);
}

}  // namespace

std::string page_html(const Page& page, std::string_view program) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{} · stepscope</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n"
      "<dl class=\"facts\">\n",
      html_text(page.title), kHtmlStyle, html_text(page.title));
  for (const NamedText& fact : page.facts) {
    const std::string text = html_text(fact.text);
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(fact.name),
                        fact.is_code ? fmt::format("<code>{}</code>", text) : text);
  }
  html += fmt::format("</dl>\n{}", navigation(page));
  html += findings_html(page);
  for (const PageSection& section : page.sections) html += section_html(section, page.note());
  html += oddities_html(page);
  html += fmt::format("<section id=\"next\">\n<h2>{}</h2>\n<pre>", kNextTitle);
  for (const NamedText& next : page.next) {
    html += fmt::format("{}  <i># {}</i>\n", html_text(next.name), html_text(next.text));
  }
  html +=
      "</pre>\n</section>\n<section id=\"glossary\">\n<h2>Glossary</h2>\n<details><summary>what "
      "the words mean</summary>\n<dl class=\"words\">\n";
  for (const Word& word : glossary()) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(word.word), html_text(word.meaning));
  }
  html += fmt::format("</dl>\n</details>\n</section>\n<footer>made by {}</footer>\n</main>\n",
                      html_text(program));
  return html + fmt::format("<script>{}</script>\n</body>\n</html>\n", kHtmlScript);
}

}  // namespace stepscope::report
