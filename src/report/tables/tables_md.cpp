// Answers as Markdown.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/tables/cell_text.h"
#include "report/tables/short_names.h"
#include "report/tables/shown_columns.h"
#include "report/tables/tables.h"

namespace stepscope::report {

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (c == '|' || c == '*' || c == '_' || c == '`' || c == '[' || c == ']' || c == '\\' ||
          c == '~' || c == '#') {
        out += '\\';
      }
      out += c;
    }
  }
  return out;
}

std::string table_md(const base::Table& table, std::span<const std::string_view> columns,
                     std::size_t rows, RankNote rank) {
  constexpr std::size_t kWidestName = 80;
  const ShownColumns kept = shown_columns(table, columns);
  std::string head = "|";
  std::string rule = "|";
  for (const std::size_t c : kept.columns) {
    head += fmt::format(" {} |", markdown_text(column_title(table.shape(), c)));
    rule += is_number(table.shape().columns[c]) ? "---:|" : "---|";
  }
  const std::size_t shown = rows == 0 ? table.rows() : std::min(rows, table.rows());
  const std::int64_t first = first_instant(table);
  std::vector<std::string> lines(shown, "|");
  for (const std::size_t c : kept.columns) {
    const bool names = table.shape().columns[c].type == base::Type::kText;
    std::vector<std::string_view> full;
    for (std::size_t r = 0; names && r < shown; ++r) full.push_back(table.text_at(c, r));
    const std::vector<std::string> texts = short_names(full, kWidestName);
    const std::vector<std::size_t> spaces = indents(table, c);
    for (std::size_t r = 0; r < shown; ++r) {
      const bool name = names && !table.is_null(c, r);
      // Markdown takes spaces away, but not these.
      for (std::size_t i = 0; !spaces.empty() && i < spaces[r]; ++i) lines[r] += "&nbsp;";
      lines[r] +=
          fmt::format(" {} |", markdown_text(name ? texts[r] : cell_text(table, c, r, first)));
    }
  }
  const std::string lifted = lifted_text(table, kept, rank);
  std::string out = lifted.empty() ? std::string() : markdown_text(lifted) + "\n\n";
  out += head + "\n" + rule + "\n";
  for (const std::string& line : lines) out += line + "\n";
  if (shown < table.rows()) out += fmt::format("\n… {} more rows\n", table.rows() - shown);
  if (const std::string note = instants_note(table, kept.columns, first); !note.empty()) {
    out += fmt::format("\n{}\n", note);
  }
  return out;
}

std::string answer_md(const analysis::Analysis& about, const analysis::Answer& answer,
                      std::span<const std::string_view> columns) {
  std::string out = fmt::format("## {}\n\n{}\n", about.title, about.question);
  bool is_empty = true;
  for (const base::Table& table : answer.tables) {
    if (table.rows() == 0) continue;
    is_empty = false;
    out += fmt::format("\n### {}\n\nA row is {}.\n\n", markdown_text(table.name()),
                       markdown_text(table.shape().about));
    out += table_md(table, columns);
  }
  if (is_empty) out += "\nNo rows.\n";
  for (const analysis::Remark& remark : answer.remarks) {
    out += fmt::format("\n{}\n", markdown_text(remark.text));
  }
  return out;
}

}  // namespace stepscope::report
