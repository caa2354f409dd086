// The report before it has a form: headings, facts, charts and tables that text, Markdown and HTML
// draw each in their way. Whatever they show was decided here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advice/finding.h"
#include "analysis/analysis.h"
#include "base/table.h"
#include "report/info/info.h"
#include "report/page/sections.h"
#include "report/tables/shown_columns.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

// The answer of one analysis.
struct Answered {
  const analysis::Analysis* about = nullptr;
  analysis::Answer answer;
};

// All that is known about a run.
struct Answers {
  RunInfo info;
  std::size_t snapshots = 0;                            // of memory
  bool chosen_steps = false;                            // by number: the answers are of these
  std::vector<Answered> answers;                        // in the order of the registry
  std::optional<advice::Advice> advice = std::nullopt;  // where it was asked for

  const Answered* find(std::string_view analysis) const;
  const base::Table* table(std::string_view analysis, std::string_view table) const;
};

struct Block {
  const Part* part = nullptr;
  const base::Table* table = nullptr;
  std::vector<base::Table> by_rank = {};  // when one rank stands for all: a table for each
  std::span<const std::string_view> columns = {};
  std::vector<base::Table> fewer = {};  // one: the table without rows that say nothing here

  const base::Table& whole_table() const { return fewer.empty() ? *table : fewer.front(); }
  // What is shown where there is room for one table only.
  const base::Table& shown_table() const {
    return by_rank.empty() ? whole_table() : by_rank.front();
  }
};

struct PageSection {
  const Section* section = nullptr;
  std::string title = {};       // with what it is of, where that is not the whole run
  std::string_view about = {};  //
  std::vector<Block> blocks = {};
  std::vector<std::string> remarks = {};  // of its analyses, each once on the page
};

// What every form of the page has in common.
inline constexpr std::string_view kAdviceTitle = "Findings";
inline constexpr std::string_view kNextTitle = "What to look at next";
inline constexpr std::size_t kMostBars = 16;   // of a chart of characters
inline constexpr std::size_t kMostSparks = 8;  // lines of small bars
inline constexpr std::size_t kNameWidth = 30;  // columns for the names in them

struct Page {
  std::string title;
  bool long_title = false;       // sentences, which may be wrapped
  std::vector<NamedText> facts;  // the run in a few lines
  const advice::Advice* advice = nullptr;
  std::vector<PageSection> sections;
  std::vector<NamedText> oddities;    // met while reading; names are ids of notes
  std::vector<std::string> failures;  // files that could not be read
  bool lost_data = false;
  bool one_rank = false;        // there is no other: which it is need not be shown
  bool one_device = false;      // the same, of snapshots and their devices
  std::vector<NamedText> next;  // command, what it shows
  std::string path = {};        // of the run, as it would be typed again

  RankNote note() const { return {.shown = !one_rank, .device_shown = !one_device}; }
  bool has_oddities() const { return !oddities.empty() || !failures.empty(); }
  std::string_view oddities_title() const {
    return lost_data ? "Data was lost while reading" : "Odd things met while reading";
  }
};

// Paths as they would be typed again, quoted where a shell wants it.
std::string typed_again(std::span<const std::string> paths);

// Parts that have no rows are left out; remarks come once on the page. What is shown must outlive
// it.
void add_sections(std::span<const Section> sections, const Answers& answers, Page& page);

// The first lines of the page: what the run is, when it was recorded, how many steps and how long.
inline constexpr std::array<std::string_view, 4> kFirstAnalyses = {"steps", "time", "throughput",
                                                                   "system"};
std::vector<NamedText> first_facts(const Answers& answers);

// The answers must outlive the page. `run`: the folder of the run, as its user named it, where it
// is one; files and the folders inside of it then go by that name.
Page make_page(const Answers& answers, const std::string& run = {});
// Of memory snapshots: the story first. `paths` are what was opened, for the commands to run next.
Page make_memory_page(const Answers& answers, std::span<const std::string> paths);

std::string page_text(const Page& page, const Look& look);
// For the end of a run: the findings, and as many of the first sections as there is room for.
inline constexpr std::size_t kMostBriefLines = 58;
std::string brief_page_text(const Page& page, const Look& look);
std::string page_md(const Page& page);
std::string page_html(const Page& page, std::string_view program);

// "stepscope.report/1", described in docs/cli/report.md.
std::string report_json(const Answers& answers);

// The first lines of the report for programs: what to show before anything else, in the words and
// numbers of the report.

// "stepscope.summary/1", described in docs/formats/http-api.md. Of the answers it reads those of
// kFirstAnalyses.
std::string summary_json(const Answers& answers);

}  // namespace stepscope::report
