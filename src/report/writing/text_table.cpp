// Lays columns out for a terminal.
#include "report/writing/text_table.h"

#include <algorithm>
#include <array>

#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kCellGap = 2;     // between columns
constexpr std::size_t kHeadIndent = 2;  // of rows below their heading
constexpr std::size_t kLeastCut = 8;    // a column is never squeezed below this

std::string spaces(std::size_t count) { return std::string(count, ' '); }

std::string fitted(const std::string& text, Fit fit, std::size_t width) {
  if (text_width(text) <= width) return text;
  if (fit == Fit::kCutMiddle) return cut_middle(text, width);
  if (fit == Fit::kCutEnd) return cut_end(text, width);
  return text;
}

// Where a line may break: at a space, but not between a number and its unit.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  constexpr std::size_t kLongestUnit = 4;
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  const bool number = end > begin && text[end - 1] >= '0' && text[end - 1] <= '9';
  if (!number || end == text.size()) return end;
  const std::size_t next = std::min(text.find(' ', end + 1), text.size());
  return next - end - 1 <= kLongestUnit ? next : end;
}

std::vector<std::string_view> title_lines(std::string_view title) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= title.size();) {
    const std::size_t end = std::min(title.find('\n', at), title.size());
    lines.push_back(title.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// A line under construction. Spaces are held back until something follows them.
class TextLine {
 public:
  void add(std::string_view text, std::size_t width, Align align, Style style, const Look& look) {
    const std::size_t used = text_width(text);
    const std::size_t padding = width > used ? width - used : 0;
    if (align == Align::kRight) pending_ += padding;
    if (!text.empty()) {
      text_ += spaces(pending_) + styled(text, style, look);
      pending_ = 0;
    }
    if (align == Align::kLeft) pending_ += padding;
  }
  void space(std::size_t count) { pending_ += count; }
  std::string finish() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
  std::size_t pending_ = 0;
};

}  // namespace

std::string styled(std::string_view text, Style style, const Look& look) {
  constexpr std::array<std::string_view, 7> kCodes = {"", "1", "2", "32", "33", "31", "36"};
  if (!look.colour || style == Style::kPlain) return std::string(text);
  std::string result = "\x1b[";
  result += kCodes[static_cast<std::size_t>(style)];
  return result.append("m").append(text).append("\x1b[0m");
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_word(text, at);
    const std::string_view word = text.substr(at, end - at);
    if (!line.empty() && width > 0 && text_width(line) + 1 + text_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    at = end + 1;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

// Widths that hold every cell; if that is too much for the terminal, the columns that may be cut or
// wrapped give way, the widest first.
std::vector<std::size_t> TextTable::widths(const Look& look) const {
  std::vector<std::size_t> widths(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t title = 0;
    for (const std::string_view line : title_lines(columns_[c].title)) {
      title = std::max(title, text_width(line));
    }
    // The heading's first column begins at the margin and so has room for the indent as well.
    widths[c] = c == 0 && title > kHeadIndent ? title - kHeadIndent : title;
    for (const auto& row : rows_) {
      if (c < row.size()) widths[c] = std::max(widths[c], text_width(row[c].text));
    }
  }
  if (look.width == 0) return widths;
  std::size_t total = kHeadIndent + kCellGap * (columns_.size() - 1);
  for (const std::size_t width : widths) total += width;
  while (total > look.width) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].fit == Fit::kKeep || widths[c] <= kLeastCut) continue;
      if (widest == columns_.size() || widths[c] > widths[widest]) widest = c;
    }
    if (widest == columns_.size()) break;
    --widths[widest];
    --total;
  }
  return widths;
}

std::string TextTable::heading(const std::vector<std::size_t>& width, const Look& look) const {
  std::vector<std::vector<std::string_view>> titles;
  std::size_t height = 0;
  for (const Column& column : columns_) {
    titles.push_back(title_lines(column.title));
    if (!column.title.empty()) height = std::max(height, titles.back().size());
  }
  std::string text;
  for (std::size_t l = 0; l < height; ++l) {
    TextLine line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) line.space(kCellGap);
      const std::size_t above = height - titles[c].size();
      line.add(l < above ? std::string_view() : titles[c][l - above],
               width[c] + (c == 0 ? kHeadIndent : 0), columns_[c].align,
               c == 0 ? Style::kStrong : Style::kFaint, look);
    }
    text += line.finish();
  }
  return text;
}

std::string TextTable::render(const Look& look) const {
  const std::vector<std::size_t> width = widths(look);
  std::string text;
  text += heading(width, look);
  for (const auto& row : rows_) {
    std::vector<std::vector<std::string>> cells(row.size());
    std::size_t height = 1;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (columns_[c].fit == Fit::kWrap && look.width > 0) {
        cells[c] = wrapped(row[c].text, width[c]);
        // One long word. A path in the last column may stand out: it is there to be copied.
        for (std::string& line : cells[c]) {
          const bool may_stand_out = c + 1 == row.size() && line.find('/') != std::string::npos;
          if (!may_stand_out) line = cut_end(line, width[c]);
        }
      } else {
        cells[c] = {fitted(row[c].text, columns_[c].fit, width[c])};
      }
      height = std::max(height, cells[c].size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      TextLine line;
      line.space(kHeadIndent);
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (c > 0) line.space(kCellGap);
        const std::string_view cell = l < cells[c].size() ? cells[c][l] : std::string_view();
        line.add(cell, width[c], columns_[c].align, row[c].style, look);
      }
      text += line.finish();
    }
  }
  return text;
}

}  // namespace stepscope::report
