// Tables and charts as HTML.
#include "report/page/table_html.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "report/charts/series.h"
#include "report/charts/svg_chart.h"
#include "report/tables/cell_text.h"
#include "report/tables/short_names.h"
#include "report/tables/shown_columns.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using base::Type;
using base::Unit;

constexpr std::size_t kMostCharts = 2;  // before the rest is folded
constexpr std::size_t kMostFolded = 12;
constexpr std::size_t kMostHtmlRows = 200;  // of a table; files have them all
constexpr std::size_t kWidestName = 110;

// A share shows its size after the number.
std::string number_cell(const base::Table& table, std::size_t column, std::size_t row,
                        std::int64_t first) {
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
                     html_text(cell_text(table, column, row, first)));
}

std::string text_cells_title(std::string_view full, const std::string& shown) {
  const std::string whole = printable(full);
  return whole == shown ? std::string() : fmt::format(" title=\"{}\"", html_text(whole));
}

// The page's style, for what is inside of one element only.
std::string scoped_style() {
  std::string style(kHtmlStyle);
  for (const std::string_view whole : {":root", "body{"}) {
    const std::string own = whole == ":root" ? ":scope" : ":scope{";
    for (std::size_t at = style.find(whole); at != std::string::npos; at = style.find(whole, at)) {
      style.replace(at, whole.size(), own);
      at += own.size();
    }
  }
  return fmt::format("<style>@scope (.stepscope){{{}}}</style>\n", style);
}

std::string fragment(const std::string& content) {
  return fmt::format("<div class=\"stepscope\">\n{}{}</div>\n", scoped_style(), content);
}

}  // namespace

std::string table_html(const base::Table& table, std::span<const std::string_view> columns,
                       std::size_t most, RankNote note) {
  const ShownColumns shown = shown_columns(table, columns);
  const std::size_t rows =
      std::min(table.rows(), most == 0 ? kMostHtmlRows : std::min(most, kMostHtmlRows));
  const std::string lifted = lifted_text(table, shown, note);
  std::string html =
      lifted.empty() ? std::string() : fmt::format("<p class=\"more\">{}</p>\n", html_text(lifted));
  html += "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::size_t c : shown.columns) {
    const base::ColumnShape& shape = table.shape().columns[c];
    html += fmt::format(
        "<th{}{}>{}</th>", is_number(shape) ? " class=\"n\"" : "",
        shape.about.empty() ? std::string() : fmt::format(" title=\"{}\"", html_text(shape.about)),
        html_text(column_title(table.shape(), c)));
  }
  html += "</tr></thead>\n<tbody>\n";
  const std::int64_t first = first_instant(table);
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
        lines[r] += number_cell(table, c, r, first);
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
  if (const std::string note = instants_note(table, shown.columns, first); !note.empty()) {
    html += fmt::format("<p class=\"more\">{}</p>\n", html_text(note));
  }
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

std::string table_fragment(const base::Table& table, std::size_t rows) {
  return fragment(charts_html(table) + table_html(table, {}, rows));
}

std::string answer_fragment(const analysis::Analysis& about,
                            std::span<const base::Table* const> tables,
                            std::span<const analysis::Remark> remarks) {
  constexpr std::size_t kRows = 20;
  std::string html = fmt::format("<h3>{}</h3>\n", html_text(about.question));
  for (const analysis::Remark& remark : remarks) {
    html += fmt::format("<p class=\"remark\">{}</p>\n", html_text(printable(remark.text)));
  }
  bool is_open = true;  // the first that has rows: the main one
  for (const base::Table* table : tables) {
    if (table->rows() == 0) continue;
    html += fmt::format("<details{}><summary>{}: {}</summary>\n{}{}</details>\n",
                        is_open ? " open=\"\"" : "", html_text(table->name()),
                        html_text(table->shape().about), charts_html(*table),
                        table_html(*table, {}, kRows));
    is_open = false;
  }
  return fragment(html);
}

}  // namespace stepscope::report
