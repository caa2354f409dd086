// Turns the Markdown of a rule's page into text for a terminal.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/help/help.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::string_view kFence = "```";

// Links become their words, and bold text plain; code keeps its marks.
std::string plain_text(std::string_view markdown) {
  std::string out;
  bool in_code = false;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    const char c = markdown[i];
    if (c == '`') in_code = !in_code;
    if (!in_code && markdown.substr(i, 2) == "**") {
      ++i;
      continue;
    }
    const std::size_t middle = markdown.find("](", i);
    const std::size_t end = markdown.find(')', middle);
    if (!in_code && c == '[' && middle != std::string_view::npos &&
        middle < markdown.find(']', i) + 1 && end != std::string_view::npos) {
      out += plain_text(markdown.substr(i + 1, middle - i - 1));
      i = end;
      continue;
    }
    out += c;
  }
  return out;
}

// "**What it means.** The rest": a heading of its own.
void take_heading(std::string_view& line, std::string& out, const Look& look) {
  if (!line.starts_with("**")) return;
  const std::size_t end = line.find(".**");
  if (end == std::string_view::npos) return;
  out += fmt::format("{}\n", styled(line.substr(2, end - 2), Style::kStrong, look));
  line.remove_prefix(std::min(line.size(), end + 4));
}

// Whether a line begins something of its own, rather than going on with the paragraph before it.
bool begins_block(std::string_view line) {
  return line.starts_with("- ") || line.starts_with("|") || line.starts_with("**");
}

// Source lines are broken for editors; a paragraph is broken again for the terminal's width.
void write_paragraph(std::string& paragraph, std::size_t room, std::string& out, const Look& look) {
  std::string_view text = paragraph;
  if (text.empty()) return;
  take_heading(text, out, look);
  for (const std::string& part : wrapped(plain_text(text), room)) {
    out += fmt::format("  {}\n", part);
  }
  paragraph.clear();
}

}  // namespace

std::string rule_page_text(std::string_view markdown, const Look& look) {
  std::string out;
  bool in_code = false;
  bool first = true;
  std::string paragraph;
  const std::size_t room = look.width > 40 ? look.width - 2 : 0;
  while (!markdown.empty()) {
    std::string_view line = markdown.substr(0, markdown.find('\n'));
    markdown.remove_prefix(std::min(markdown.size(), line.size() + 1));
    if (std::exchange(first, false) && line.starts_with("# ")) continue;
    const bool ends_paragraph = in_code || line.empty() || line.starts_with(kFence) ||
                                line.starts_with("## ") || begins_block(line);
    if (ends_paragraph) write_paragraph(paragraph, room, out, look);
    if (line.starts_with(kFence)) {
      in_code = !in_code;
    } else if (in_code) {
      out += fmt::format("    {}\n", styled(line, Style::kGood, look));
    } else if (line.starts_with("## ")) {
      out += fmt::format("{}\n", styled(line.substr(3), Style::kStrong, look));
    } else if (line.empty()) {
      if (!out.empty() && !out.ends_with("\n\n")) out += '\n';  // never two
    } else {
      if (!paragraph.empty()) paragraph += ' ';
      paragraph += line.substr(std::min(line.size(), line.find_first_not_of(' ')));
    }
  }
  write_paragraph(paragraph, room, out, look);
  return out;
}

}  // namespace stepscope::report
