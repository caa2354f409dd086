// Tables and styled lines for terminals. Alignment and quiet colours instead of boxes; without a
// terminal nothing is coloured and nothing is cut, so that piped output is complete.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::report {

// What the output may look like.
struct Look {
  bool colour = false;
  std::size_t width = 0;  // columns of the terminal; 0: unlimited
};

enum class Style : unsigned char { kPlain, kStrong, kFaint, kGood, kWarning, kBad, kBar };
std::string styled(std::string_view text, Style style, const Look& look);

enum class Align : unsigned char { kLeft, kRight };

// What happens to a column that does not fit.
enum class Fit : unsigned char { kKeep, kCutEnd, kCutMiddle, kWrap };

struct Column {
  std::string title;  // may have several lines
  Align align = Align::kLeft;
  Fit fit = Fit::kKeep;
};

struct Cell {
  // Implicit on purpose: rows are written as lists of strings.
  Cell(std::string text, Style style = Style::kPlain) : text(std::move(text)), style(style) {}
  Cell(const char* text) : text(text) {}

  std::string text;
  Style style = Style::kPlain;
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  // The heading stands at the margin, rows are indented by two; a table without titles has no
  // heading. Short titles stand on the last line of a heading of several. Every line ends with a
  // line break and none with a space.
  std::string render(const Look& look) const;

 private:
  std::vector<std::size_t> widths(const Look& look) const;
  std::string heading(const std::vector<std::size_t>& width, const Look& look) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Breaks text into lines of at most `width` columns at spaces; a word that is longer stands alone.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace stepscope::report
