// The report on a terminal.
#include <algorithm>

#include <fmt/format.h>

#include "report/charts/text_chart.h"
#include "report/findings/advice.h"
#include "report/info/info_facts.h"
#include "report/page/page.h"
#include "report/tables/table_text.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMostCurves = 4;
constexpr std::size_t kWidestPage = 120;

std::string paragraph_page_text(std::string_view text, Style style, const Look& look) {
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
    text += paragraph_page_text(fmt::format("… {} more", all.size() - most), Style::kFaint, look);
  }
  return text;
}

std::string block_text(const Block& block, RankNote note, const Look& look) {
  const Part& part = *block.part;
  std::string text;
  if (!part.caption.empty()) text += paragraph_page_text(part.caption, Style::kFaint, look);
  if (part.shown == Shown::kChart || part.shown == Shown::kSpark) {
    return text + chart_text(block, look);
  }
  TableTextOptions options;
  options.look = look;
  options.bars = part.bars;
  options.rows = part.rows;
  options.rank = note;
  options.rank.first_of = block.by_rank.size();
  options.names_empty = false;
  options.lists = part.shown == Shown::kList;
  options.columns = block.columns;
  return text + table_text(block.shown_table(), options);
}

std::string section_text(const PageSection& section, RankNote note, const Look& look) {
  std::string text = fmt::format("\n{}\n", styled(section.title, Style::kStrong, look));
  if (!section.blocks.empty()) text += paragraph_page_text(section.about, Style::kFaint, look);
  for (const Block& block : section.blocks) {
    if (block.part->only_html) continue;
    text += fmt::format("\n{}", block_text(block, note, look));
  }
  for (const std::string& remark : section.remarks) {
    if (!section.blocks.empty()) text += '\n';
    text += paragraph_page_text(printable(remark), Style::kPlain, look);
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
  TextTable table({{""}, {""}});
  for (const NamedText& next : page.next) {
    table.add({Cell(next.text, Style::kFaint), next.name});
  }
  return text + table.render(look);
}

}  // namespace stepscope::report
