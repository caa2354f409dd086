// A table laid out as text for people.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "report/tables/cell_text.h"
#include "report/tables/short_names.h"
#include "report/tables/shown_columns.h"
#include "report/tables/tables.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using base::Type;
using base::Unit;

constexpr std::size_t kRowIndent = 2;
constexpr std::size_t kColumnGap = 2;
constexpr std::size_t kBarWidth = 8;
constexpr std::size_t kLeastText = 14;       // a column of names is never squeezed below this
constexpr std::size_t kTextBesideBars = 32;  // and bars may not squeeze it below this
constexpr std::size_t kWidestText = 100;     // without a width, names go on for lines

// A column on its way to the page.
struct Laid {
  std::size_t column = 0;
  std::string title = {};  // broken into lines
  std::size_t width = 0;
  std::size_t title_width = 0;
  bool is_text = false;
  bool is_sentence = false;  // broken into lines
  bool has_bar = false;
  std::vector<std::size_t> indents = {};  // of a tree's names, by row
};

std::string indented_lines(std::string_view title) {
  const std::string indent(kRowIndent, ' ');
  std::string text = indent;
  for (const char c : title) text += c == '\n' ? "\n" + indent : std::string(1, c);
  return text;
}

class Layout {
 public:
  Layout(const base::Table& table, const TableTextOptions& options)
      : table_(table),
        options_(options),
        rows_(options.rows == 0 ? table.rows() : std::min(options.rows, table.rows())),
        shown_(shown_columns(table, options.columns)) {
    for (const std::size_t c : shown_.columns) laid_.push_back(lay(c));
    fit();
  }

  std::string text() const {
    std::vector<Column> columns;
    for (const Laid& laid : laid_) {
      const bool number = is_number(shape(laid.column));
      // A first title begins at the margin; here it stands above its column.
      columns.push_back({columns.empty() ? indented_lines(laid.title) : laid.title,
                         number ? Align::kRight : Align::kLeft,
                         laid.is_sentence ? Fit::kWrap : Fit::kKeep});
      if (laid.has_bar) columns.push_back({"", Align::kLeft});
    }
    TextTable page(std::move(columns));
    std::vector<std::vector<Cell>> cells(rows_);
    for (const Laid& laid : laid_) add_column(laid, cells);
    for (std::vector<Cell>& row : cells) page.add(std::move(row));
    return above() + page.render(options_.look) + left_out_text();
  }

 private:
  const base::ColumnShape& shape(std::size_t column) const {
    return table_.shape().columns[column];
  }

  Laid lay(std::size_t column) const {
    Laid laid{.column = column,
              .is_text = shape(column).type == Type::kText,
              .is_sentence = is_sentence(shape(column)),
              .indents = indents(table_, column)};
    std::size_t cells = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      const std::string text = cell_text(table_, column, r, first_);
      const std::size_t indent = laid.indents.empty() ? 0 : laid.indents[r];
      cells = std::max(cells, indent + text_width(laid.is_text ? plain_name(text) : text));
    }
    // A title is broken where that makes the column narrower.
    const std::vector<std::string> lines =
        wrapped(column_title(table_.shape(), column), std::max<std::size_t>(cells, 1));
    for (const std::string& line : lines) {
      laid.title_width = std::max(laid.title_width, text_width(line));
      if (!laid.title.empty()) laid.title += '\n';
      laid.title += line;
    }
    laid.width = std::max(cells, laid.title_width);
    return laid;
  }

  std::size_t total() const {
    std::size_t sum = kRowIndent;
    for (const Laid& laid : laid_) {
      sum += laid.width + kColumnGap + (laid.has_bar ? kBarWidth + kColumnGap : 0);
    }
    return sum - kColumnGap;
  }

  // Names give way first, the longest most; then the columns on the right.
  void fit() {
    if (laid_.empty()) return;
    const std::size_t width = options_.look.width;
    if (width == 0) {
      for (Laid& laid : laid_) {
        if (laid.is_text) laid.width = std::min(laid.width, kWidestText);
      }
    } else {
      // Names that cannot be read are worth less than the columns on the right.
      const std::size_t least = std::max(kLeastText, width * 2 / 5);
      squeeze(width, least);
      while (total() > width && laid_.size() > 3) {
        ++dropped_;
        laid_.pop_back();
        restore();
        squeeze(width, least);
      }
      squeeze(width, kLeastText);
    }
    if (options_.bars) add_bars(width);
  }

  void restore() {
    for (Laid& laid : laid_) {
      if (laid.is_text) laid.width = lay(laid.column).width;
    }
  }

  void squeeze(std::size_t width, std::size_t least) {
    while (total() > width) {
      Laid* widest = nullptr;
      for (Laid& laid : laid_) {
        if (!laid.is_text || laid.width <= std::max(least, laid.title_width)) continue;
        if (widest == nullptr || laid.width > widest->width) widest = &laid;
      }
      if (widest == nullptr) return;
      --widest->width;
    }
  }

  void add_bars(std::size_t width) {
    for (std::size_t i = 0; i < laid_.size(); ++i) {
      if (shape(laid_[i].column).unit != Unit::kShare) continue;
      const std::vector<Laid> before = laid_;
      laid_[i].has_bar = true;
      if (width == 0) continue;
      squeeze(width, kTextBesideBars);
      if (total() > width) laid_ = before;
    }
  }

  void add_column(const Laid& laid, std::vector<std::vector<Cell>>& cells) const {
    if (laid.is_text && !laid.is_sentence) {
      // Names of a tree have less room, the further in they are.
      std::map<std::size_t, std::vector<std::size_t>> by_indent;
      for (std::size_t r = 0; r < rows_; ++r) {
        if (table_.is_null(laid.column, r)) {
          cells[r].emplace_back(cut_end(cell_text(table_, laid.column, r), laid.width),
                                Style::kFaint);
        } else {
          by_indent[laid.indents.empty() ? 0 : laid.indents[r]].push_back(r);
        }
      }
      for (const auto& [indent, rows] : by_indent) {
        std::vector<std::string_view> names;
        for (const std::size_t r : rows) names.push_back(table_.text_at(laid.column, r));
        const std::size_t room = std::max(laid.width, indent + 1) - indent;
        const std::vector<std::string> texts = short_names(names, room);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          cells[rows[i]].emplace_back(cut_end(std::string(indent, ' ') + texts[i], laid.width));
        }
      }
      return;
    }
    for (std::size_t r = 0; r < rows_; ++r) {
      const bool null = table_.is_null(laid.column, r);
      cells[r].emplace_back(cell_text(table_, laid.column, r, first_),
                            null ? Style::kFaint : Style::kPlain);
      if (!laid.has_bar) continue;
      cells[r].emplace_back(null ? "" : bar_text(table_.real_at(laid.column, r), kBarWidth),
                            Style::kBar);
    }
  }

  std::string above() const {
    std::string text = lifted_text(table_, shown_, options_.rank);
    if (text.empty()) return text;
    return std::string(kRowIndent, ' ') + styled(text, Style::kFaint, options_.look) + "\n";
  }

  std::string names_of(const std::vector<std::size_t>& columns) const {
    std::string names;
    for (const std::size_t c : columns) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", shape(c).name);
    }
    return names;
  }

  std::string left_out_text() const {
    std::string text;
    const auto add = [&](const std::string& sentence) {
      const std::size_t room = options_.look.width > 40 ? options_.look.width - kRowIndent : 0;
      for (const std::string& line : wrapped(sentence, room)) {
        text +=
            fmt::format("{}\n", styled(fmt::format("  {}", line), Style::kFaint, options_.look));
      }
    };
    if (rows_ < table_.rows()) {
      const std::size_t more = table_.rows() - rows_;
      add(fmt::format("… {} more {}", count_text(more), more == 1 ? "row" : "rows"));
    }
    if (dropped_ > 0 && options_.names_left_out) {
      add(fmt::format("… {} more {} (--width 0)", dropped_, dropped_ == 1 ? "column" : "columns"));
    }
    std::vector<std::size_t> columns;
    columns.reserve(laid_.size());
    for (const Laid& laid : laid_) columns.push_back(laid.column);
    if (const std::string note = instants_note(table_, columns, first_); !note.empty()) add(note);
    if (options_.names_left_out && !shown_.empty.empty())
      add(fmt::format("nothing in: {}", names_of(shown_.empty)));
    return text;
  }

  const base::Table& table_;
  const TableTextOptions& options_;
  std::int64_t first_ = first_instant(table_);
  std::size_t rows_;
  ShownColumns shown_;
  std::vector<Laid> laid_;
  std::size_t dropped_ = 0;  // columns that did not fit
};

// A row as a list: column, value, meaning.
std::string list_table_text(const base::Table& table, const TableTextOptions& options) {
  TextTable page({{""}, {"", Align::kRight}, {"", Align::kLeft, Fit::kWrap}});
  const auto add = [&](std::size_t c) {
    const base::ColumnShape& shape = table.shape().columns[c];
    std::string value = cell_text(table, c, 0);
    if (shape.type == Type::kText) {
      value = short_names(std::array{std::string_view(value)}, 40).front();
    }
    page.add(
        {column_title(table.shape(), c), value, Cell(std::string(shape.about), Style::kFaint)});
  };
  if (options.columns.empty()) {
    for (std::size_t c = 0; c < table.width(); ++c) add(c);
  } else {
    for (const std::string_view name : options.columns) {
      if (const auto found = table.find(name)) add(*found);
    }
  }
  return page.render(options.look);
}

}  // namespace

std::string bar_text(double share, std::size_t width) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double inside = std::clamp(share, 0.0, 1.0);
  auto eighths = static_cast<std::size_t>(std::lround(inside * static_cast<double>(width * 8)));
  if (share > 0 && eighths == 0) eighths = 1;
  std::string bar;
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar += kEighths[eighths % 8];
}

std::string table_text(const base::Table& table, const TableTextOptions& options) {
  constexpr std::size_t kFewColumns = 5;
  if (table.rows() == 0) return styled("  no rows", Style::kFaint, options.look) + "\n";
  const std::size_t columns = options.columns.empty() ? table.width() : options.columns.size();
  if (options.lists && table.rows() == 1 && columns > kFewColumns)
    return list_table_text(table, options);
  return Layout(table, options).text();
}

std::string answer_text(const analysis::Analysis& about, const analysis::Answer& answer,
                        const TableTextOptions& options) {
  const Look& look = options.look;
  std::string text =
      fmt::format("{}: {}\n", styled(about.title, Style::kStrong, look), about.question);
  bool is_empty = true;
  for (const base::Table& table : answer.tables) {
    if (table.rows() == 0) continue;
    is_empty = false;
    text +=
        fmt::format("\n{} {}\n", styled(table.name(), Style::kStrong, look),
                    styled(fmt::format("· a row is {}", table.shape().about), Style::kFaint, look));
    text += table_text(table, options);
  }
  if (is_empty) text += "\n" + styled("  no rows", Style::kFaint, look) + "\n";
  for (const analysis::Remark& remark : answer.remarks) {
    text += '\n';
    for (const std::string& line : wrapped(printable(remark.text), look.width)) text += line + "\n";
  }
  return text;
}

}  // namespace stepscope::report
