// The report as one HTML file: charts drawn from the tables' descriptors, tables, the glossary.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/cell_text.h"
#include "report/glossary.h"
#include "report/html_style.h"
#include "report/numbers.h"
#include "report/page.h"
#include "report/short_names.h"
#include "report/shown_columns.h"
#include "report/svg_chart.h"
#include "report/text_width.h"
#include "report/tree_rows.h"

namespace stepscope::report {
namespace {

using base::Type;
using base::Unit;

constexpr std::size_t kMostCharts = 2;  // before the rest is folded
constexpr std::size_t kMostFolded = 12;
constexpr std::size_t kMostRanks = 16;  // with tables of their own
constexpr std::size_t kMostRows = 200;  // of a table; files have them all
constexpr std::size_t kWidestName = 110;

// "Where the step time goes" → "where-the-step-time-goes"
std::string anchor(std::string_view title) {
  std::string out;
  for (const char c : title) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
    }
  }
  return out;
}

// A share shows its size behind the number.
std::string number_cell(const base::Table& table, std::size_t column, std::size_t row) {
  if (table.is_null(column, row)) return "<td class=\"n z\" data-v=\"\">–</td>";
  const double value = table.real_at(column, row);
  std::string style;
  std::string_view classes = "n";
  if (table.shape().columns[column].unit == Unit::kShare) {
    classes = "n b";
    style = fmt::format(" style=\"--p:{:.0f}%\"", 100 * std::clamp(value, 0.0, 1.0));
  }
  const std::string exact = table.shape().columns[column].type == Type::kInt
                                ? std::to_string(table.int_at(column, row))
                                : fmt::format("{:.6g}", value);
  return fmt::format("<td class=\"{}\" data-v=\"{}\"{}>{}</td>", classes, exact, style,
                     html_text(cell_text(table, column, row)));
}

std::string text_cells_title(std::string_view full, const std::string& shown) {
  const std::string whole = printable(full);
  return whole == shown ? std::string() : fmt::format(" title=\"{}\"", html_text(whole));
}

std::string table_html(const base::Table& table, std::span<const std::string_view> columns,
                       std::size_t most, bool with_rank) {
  const ShownColumns shown = shown_columns(table, columns);
  const std::size_t rows =
      std::min(table.rows(), most == 0 ? kMostRows : std::min(most, kMostRows));
  const std::string lifted = lifted_text(table, shown, {.shown = with_rank});
  std::string html =
      lifted.empty() ? std::string() : fmt::format("<p class=\"more\">{}</p>\n", html_text(lifted));
  html += "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::size_t c : shown.columns) {
    const base::ColumnShape& shape = table.shape().columns[c];
    html += fmt::format(
        "<th{}{}>{}</th>", is_number(shape) ? " class=\"n\"" : "",
        shape.about.empty() ? std::string() : fmt::format(" title=\"{}\"", html_text(shape.about)),
        html_text(column_title(shape)));
  }
  html += "</tr></thead>\n<tbody>\n";
  std::vector<std::string> lines(rows);
  for (const std::size_t c : shown.columns) {
    const base::ColumnShape& shape = table.shape().columns[c];
    std::vector<std::string_view> names;
    for (std::size_t r = 0; shape.type == Type::kText && r < rows; ++r) {
      names.push_back(table.text_at(c, r));
    }
    const std::vector<std::string> texts = short_names(names, kWidestName);
    std::size_t longest = 0;
    for (const std::string& text : texts) longest = std::max(longest, text.size());
    const std::vector<std::size_t> spaces = indents(table, c);
    constexpr std::size_t kShort = 28;
    for (std::size_t r = 0; r < rows; ++r) {
      if (is_number(shape)) {
        lines[r] += number_cell(table, c, r);
      } else if (table.is_null(c, r) || shape.type != Type::kText) {
        lines[r] += fmt::format("<td{}>{}</td>", table.is_null(c, r) ? " class=\"z\"" : "",
                                html_text(cell_text(table, c, r)));
      } else {
        const std::string indent = spaces.empty() || spaces[r] == 0
                                       ? std::string()
                                       : fmt::format(" style=\"padding-left:{}px\"", spaces[r] * 8);
        lines[r] += fmt::format("<td class=\"{}\"{}{}>{}</td>", longest > kShort ? "t" : "w",
                                indent, text_cells_title(names[r], texts[r]), html_text(texts[r]));
      }
    }
  }
  for (const std::string& line : lines) html += fmt::format("<tr>{}</tr>\n", line);
  html += "</tbody></table></div>\n";
  if (rows < table.rows()) {
    const std::size_t more = table.rows() - rows;
    html += fmt::format("<p class=\"more\">… {} more {}</p>\n", count_text(more),
                        more == 1 ? "row" : "rows");
  }
  return html;
}

std::string charts_html(const base::Table& table) {
  constexpr std::size_t kNameWidth = 44;
  const base::Drawing& drawing = table.shape().drawing;
  const std::vector<Series> all = series_of(table, drawing, kNameWidth);
  if (all.empty()) return {};
  std::string html = svg_legend(all.front(), drawing.chart);
  std::string folded;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string svg = svg_chart(all[i], drawing.chart);
    if (svg.empty()) continue;
    std::string& place = i < kMostCharts ? html : folded;
    if (all.size() > 1) place += fmt::format("<h3>{}</h3>\n", html_text(all[i].group));
    place += svg;
    if (i + 1 == kMostCharts + kMostFolded) break;
  }
  if (!folded.empty()) {
    html += fmt::format("<details><summary>{} more</summary>\n{}</details>\n",
                        std::min(all.size() - kMostCharts, kMostFolded), folded);
  }
  return html;
}

// The charts and the table of a part, or of one rank of it.
std::string content_html(const base::Table& table, const Part& part, bool with_rank) {
  const bool charted = part.shown != Shown::kTable && part.shown != Shown::kList;
  const bool tabled = part.shown != Shown::kChart && part.shown != Shown::kSpark;
  std::string html = charted ? charts_html(table) : std::string();
  const std::string numbers = table_html(table, part.columns, part.rows, with_rank);
  if (tabled) return html + numbers;
  return html + fmt::format("<details><summary>numbers</summary>\n{}</details>\n", numbers);
}

std::string block_html(const Block& block, bool with_rank) {
  const Part& part = *block.part;
  std::string html;
  if (!part.caption.empty() && !part.folded) {
    html += fmt::format("<p class=\"about\">{}</p>\n", html_text(part.caption));
  }
  if (block.by_rank.empty()) html += content_html(*block.table, part, with_rank);
  for (std::size_t i = 0; i < block.by_rank.size(); ++i) {
    if (i == kMostRanks) {
      html += fmt::format("<p class=\"more\">… {} more ranks; --rank chooses them</p>\n",
                          block.by_rank.size() - i);
      break;
    }
    const base::Table& table = block.by_rank[i];
    html += fmt::format("<details{}><summary>rank {}</summary>\n{}</details>\n",
                        i == 0 ? " open=\"\"" : "", table.int_at(*table.find("rank"), 0),
                        content_html(table, part, false));
  }
  if (!part.folded) return html;
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", html_text(part.caption),
                     html);
}

std::string section_html(const PageSection& section, bool with_rank) {
  const Section& about = *section.section;
  std::string html = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", anchor(about.title),
                                 html_text(about.title));
  if (!section.blocks.empty()) {
    html += fmt::format("<p class=\"about\">{}</p>\n", html_text(about.about));
  }
  for (const Block& block : section.blocks) html += block_html(block, with_rank);
  for (const std::string& remark : section.remarks) {
    html += fmt::format("<p class=\"remark\">{}</p>\n", html_text(printable(remark)));
  }
  return html + "</section>\n";
}

std::string oddities_html(const Page& page) {
  if (page.oddities.empty() && page.failures.empty()) return {};
  std::string html =
      fmt::format("<section id=\"odd\"{}>\n<h2>{}</h2>\n<dl class=\"facts\">\n",
                  page.lost_data ? " class=\"lost\"" : "",
                  page.lost_data ? "Data was lost while reading" : "Odd things met while reading");
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
  for (const PageSection& section : page.sections) {
    html += fmt::format("<a href=\"#{}\">{}</a> ", anchor(section.section->title),
                        html_text(section.section->title));
  }
  return html +
         "<a href=\"#next\">What to look at next</a> <a href=\"#glossary\">Glossary</a></nav>\n";
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
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(fact.name), html_text(fact.text));
  }
  html += fmt::format("</dl>\n{}", navigation(page));
  for (const PageSection& section : page.sections) html += section_html(section, !page.one_rank);
  html += oddities_html(page);
  html += "<section id=\"next\">\n<h2>What to look at next</h2>\n<pre>";
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
