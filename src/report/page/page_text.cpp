// The report on a terminal.
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "report/charts/text_chart.h"
#include "report/findings/advice.h"
#include "report/info/info_facts.h"
#include "report/page/page.h"
#include "report/tables/tables.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMostCurves = 4;
constexpr std::size_t kWidestPage = 120;

std::string indented_paragraph(std::string_view text, Style style, const Look& look) {
  std::string out;
  const std::size_t room = look.width > 40 ? look.width - 2 : 0;
  for (const std::string& line : wrapped(text, room)) {
    out += fmt::format("  {}\n", styled(line, style, look));
  }
  return out;
}

std::string title_text(const Page& page, const Look& look) {
  if (!page.long_title || look.width <= 40) return styled(page.title, Style::kStrong, look) + "\n";
  std::string out;
  for (const std::string& line : wrapped(page.title, look.width)) {
    out += styled(line, Style::kStrong, look) + "\n";
  }
  return out;
}

std::string chart_text(const Block& block, const Look& look) {
  const base::Table& table = block.shown_table();
  const std::vector<Series> all = series_of(table, table.shape().drawing, kNameWidth);
  std::string text;
  const bool spark = block.part->shown == Shown::kSpark;
  const std::size_t most = spark                                  ? kMostSparks
                           : all.empty() || !all.front().is_curve ? 1
                                                                  : kMostCurves;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
    if (!spark && all[i].is_curve && all.size() > 1) text += fmt::format("  {}\n", all[i].group);
    text += spark ? spark_text(all[i], look) : stack_text(all[i], kMostBars, look);
  }
  if (all.size() > most) {
    text += indented_paragraph(fmt::format("… {} more", all.size() - most), Style::kFaint, look);
  }
  return text;
}

std::string block_text(const Block& block, RankNote note, const Look& look,
                       std::size_t most_rows = 0, bool explains = true) {
  const Part& part = *block.part;
  std::string text;
  if (explains && !part.caption.empty())
    text += indented_paragraph(part.caption, Style::kFaint, look);
  if (part.shown == Shown::kChart || part.shown == Shown::kSpark) {
    return text + chart_text(block, look);
  }
  TableTextOptions options;
  options.look = look;
  options.bars = part.bars;
  options.rows = most_rows > 0 && (part.rows == 0 || part.rows > most_rows) ? most_rows : part.rows;
  options.rank = note;
  options.rank.first_of = block.by_rank.size();
  options.names_left_out = false;
  options.lists = part.shown == Shown::kList;
  options.columns = block.columns;
  return text + table_text(block.shown_table(), options);
}

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::string commands_text(std::span<const NamedText> commands, const Look& look) {
  TextTable table({{""}, {""}});
  for (const NamedText& command : commands) {
    table.add({Cell(command.text, Style::kFaint), command.name});
  }
  return table.render(look);
}

// The first part of a section that text has room for, without the words that explain it.
std::string brief_section_text(const PageSection& section, RankNote note, const Look& look) {
  constexpr std::size_t kMostRows = 5;
  for (const Block& block : section.blocks) {
    if (block.part->only_html) continue;
    return fmt::format("\n{}\n{}", styled(section.title, Style::kStrong, look),
                       block_text(block, note, look, kMostRows, false));
  }
  return {};
}

// What was lost must be seen; what it was stands in the whole report.
std::string brief_oddities_text(const Page& page, const Look& look) {
  if (!page.lost_data && page.failures.empty()) return {};
  const std::string_view title =
      page.lost_data ? page.oddities_title() : "Some files could not be read";
  return fmt::format("\n{}\n", styled(title, Style::kBad, look));
}

std::string section_text(const PageSection& section, RankNote note, const Look& look) {
  std::string text = fmt::format("\n{}\n", styled(section.title, Style::kStrong, look));
  if (!section.blocks.empty()) text += indented_paragraph(section.about, Style::kFaint, look);
  for (const Block& block : section.blocks) {
    if (block.part->only_html) continue;
    text += fmt::format("\n{}", block_text(block, note, look));
  }
  for (const std::string& remark : section.remarks) {
    if (!section.blocks.empty()) text += '\n';
    text += indented_paragraph(printable(remark), Style::kPlain, look);
  }
  return text;
}

std::string oddities_text(const Page& page, const Look& look) {
  if (!page.has_oddities()) return {};
  const Style style = page.lost_data ? Style::kBad : Style::kStrong;
  std::string text = fmt::format("\n{}\n", styled(page.oddities_title(), style, look));
  TextTable table({{""}, {"", Align::kLeft, Fit::kWrap}});
  for (const NamedText& oddity : page.oddities) table.add({oddity.name, oddity.text});
  for (const std::string& failure : page.failures) {
    table.add({Cell("not readable", Style::kBad), failure});
  }
  return text + table.render(look);
}

std::string findings_text(const Page& page, const Look& look) {
  if (page.advice == nullptr) return {};
  return fmt::format("\n{}\n\n", styled(kAdviceTitle, Style::kStrong, look)) +
         advice_text(*page.advice, look, AdviceLength::kFirst);
}

}  // namespace

std::string page_text(const Page& page, const Look& given) {
  Look look = given;
  if (look.width > kWidestPage) look.width = kWidestPage;
  std::string text = title_text(page, look) + "\n";
  text += facts_text(page.facts, look);
  text += findings_text(page, look);
  for (const PageSection& section : page.sections) text += section_text(section, page.note(), look);
  text += oddities_text(page, look);
  text += fmt::format("\n{}\n", styled(kNextTitle, Style::kStrong, look));
  return text + commands_text(page.next, look);
}

std::string brief_page_text(const Page& page, const Look& given) {
  Look look = given;
  if (look.width > kWidestPage) look.width = kWidestPage;
  const std::array<NamedText, 4> commands = {{
      {"stepscope report " + page.path, "all of this report"},
      {"stepscope advise --all " + page.path, "all findings, whole"},
      {"stepscope report --html report.html " + page.path, "the report with charts"},
      {"stepscope serve " + page.path, "the run in the browser"},
  }};
  const std::string end = brief_oddities_text(page, look) +
                          fmt::format("\n{}\n", styled(kNextTitle, Style::kStrong, look)) +
                          commands_text(commands, look);
  std::string text = title_text(page, look) + "\n" + facts_text(page.facts, look);
  if (page.advice != nullptr) {
    const std::size_t used = lines_in(text) + lines_in(end);
    text += fmt::format("\n{}\n\n", styled(kAdviceTitle, Style::kStrong, look)) +
            brief_advice_text(*page.advice, look,
                              kMostBriefLines - std::min(kMostBriefLines, used + 3));
  }
  for (const PageSection& section : page.sections) {
    const std::string next = brief_section_text(section, page.note(), look);
    if (lines_in(text) + lines_in(next) + lines_in(end) <= kMostBriefLines) text += next;
  }
  return text + end;
}

}  // namespace stepscope::report
