// Decides what a page shows, before it has a form.
#include "report/page/page.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/view.h"
#include "report/info/info_facts.h"
#include "report/info/notes.h"
#include "report/info/rank_records.h"
#include "report/page/page_facts.h"
#include "report/tables/cell_text.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

// What the page is about, as far as that decides what is shown.
struct RunKind {
  bool no_gpu = false;
  bool recorded = false;    // processes recorded themselves
  std::string traced = {};  // what to say of traced steps; empty: they are all there are
};

std::vector<base::Table> split_by_rank(const base::Table& table) {
  const auto rank = table.find("rank");
  if (!rank) return {};
  std::map<std::int64_t, std::vector<std::size_t>> rows;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (!table.is_null(*rank, r)) rows[table.int_at(*rank, r)].push_back(r);
  }
  std::vector<base::Table> tables;
  if (rows.size() < 2) return tables;
  for (const auto& [number, members] : rows) tables.push_back(table.select(members));
  return tables;
}

bool anything_in(const base::Table& table, std::string_view column) {
  const auto found = table.find(column);
  if (!found) return column.empty();
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (!table.is_null(*found, r) && table.real_at(*found, r) > 0) return true;
  }
  return false;
}

// Without the rows in which a column is 0.
base::Table rows_with(const base::Table& table, std::string_view column) {
  std::vector<std::size_t> rows;
  const auto found = table.find(column);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (found && !table.is_null(*found, r) && table.real_at(*found, r) > 0) rows.push_back(r);
  }
  return table.select(rows);
}

Block make_block(const Part& part, const base::Table& table, const RunKind& kind) {
  Block block{.part = &part, .table = &table, .columns = part.columns};
  if (kind.no_gpu && !part.host_columns.empty()) block.columns = part.host_columns;
  if (kind.no_gpu && part.host_needs) block.fewer.push_back(rows_with(table, part.needs));
  if (part.one_rank) block.by_rank = split_by_rank(block.whole_table());
  return block;
}

bool is_of_trace(const Section& section) {
  const analysis::Analysis* const about = analysis::find_analysis(section.parts.front().analysis);
  return about != nullptr && about->needs == analysis::Needs::kTrace;
}

// What a table says need not be said again below another.
void say_sentences(const base::Table& table, std::set<std::string>& said) {
  for (std::size_t c = 0; c < table.width(); ++c) {
    if (!is_sentence(table.shape().columns[c])) continue;
    for (std::size_t r = 0; r < table.rows(); ++r) said.emplace(table.text_at(c, r));
  }
}

bool is_worth_showing(const PageSection& made, const Answers& answers, const RunKind& kind) {
  const Section& section = *made.section;
  if (made.blocks.empty() && made.remarks.empty()) return false;
  if (made.blocks.empty() && section.of_gpu && kind.no_gpu) return false;
  if (!section.of_trace || !kind.recorded) return true;
  // Watched loaders have said it of all steps; what a GPU did meanwhile is all that is new.
  const base::Table* const loaders = answers.table("loader", "loaders");
  const bool watched =
      section.parts.front().analysis == "dataloader" && loaders != nullptr && loaders->rows() > 0;
  return !made.blocks.empty() && !(watched && kind.no_gpu);
}

PageSection make_section(const Section& section, const Answers& answers, const RunKind& kind,
                         std::set<std::string>& said) {
  PageSection out{
      .section = &section,
      .title = std::string(section.title),
      .about = kind.no_gpu && !section.host_about.empty() ? section.host_about : section.about};
  if (!kind.traced.empty() && is_of_trace(section)) {
    out.title += fmt::format(" ({})", kind.traced);
  }
  for (const Part& part : section.parts) {
    const Answered* answered = answers.find(part.analysis);
    if (answered == nullptr || (part.several_snapshots && answers.snapshots < 2)) continue;
    const base::Table* table = answers.table(part.analysis, part.table);
    if (part.quiet && (table == nullptr || table->rows() == 0)) continue;
    for (const analysis::Remark& remark : answered->answer.remarks) {
      // How many rows there are was the report's choice, and it has no such option.
      if (remark.of_limit) continue;
      // Nor does a remark on a table help where the page does not show it.
      if (!remark.table.empty() && remark.table != part.table) continue;
      if (said.insert(remark.text).second) out.remarks.push_back(remark.text);
    }
    if (table == nullptr || table->rows() == 0 || !anything_in(*table, part.needs)) continue;
    if (part.several_ranks && answers.info.ranks < 2) continue;
    const bool is_series = part.shown == Shown::kSpark;
    if (is_series && table->rows() <= answers.info.windows.size()) continue;
    out.blocks.push_back(make_block(part, *table, kind));
    say_sentences(*table, said);
  }
  return out;
}

void add_sections(std::span<const Section> sections, const Answers& answers, const RunKind& kind,
                  Page& page) {
  std::set<std::string> said;
  if (kind.no_gpu) said.emplace(analysis::kNoGpuWork);
  for (const Section& section : sections) {
    PageSection made = make_section(section, answers, kind, said);
    if (is_worth_showing(made, answers, kind)) page.sections.push_back(std::move(made));
  }
}

// What was odd while reading, and what could not be read.
void add_oddities(const RunInfo& info, Page& page) {
  const std::string folder = common_folder(info);
  for (const base::Severity severity : {base::Severity::kDataLoss, base::Severity::kInfo}) {
    for (const NoteInfoRow& note : info.notes) {
      const base::NoteInfo& about = base::info_of(note.note);
      if (about.severity != severity) continue;
      std::string text = fmt::format("{} × {}", count_text(note.count), about.meaning);
      if (const std::string place = place_of(note, folder); !place.empty()) {
        text += fmt::format(" (first: {})", place);
      }
      page.oddities.push_back({std::string(about.id), std::move(text)});
    }
  }
  for (const trace::FileFailure& failure : info.failures) {
    page.failures.push_back(printable(failure.error.message));
  }
  page.lost_data = info.lost_data;
}

// A path as it would be typed.
std::string shell_word(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./+=:@%,").find(c) != std::string_view::npos;
  });
  if (plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// What came in on standard input cannot be read again, so that there is nothing to type.
std::string typed_again(const std::string& path) {
  return path.empty() || path == "-" ? "PATH..." : shell_word(printable(path));
}

// Samples of a machine lie beside its ranks: a command for them names the folder of both.
std::string above_ranks(const std::string& path) {
  const std::size_t rank = path.rfind("/rank");
  if (rank != std::string::npos) return path.substr(0, rank);
  return path.starts_with("rank") ? "." : path;
}

std::string run_path(const RunInfo& info, bool sampled) {
  const auto paths = paths_of(info);
  const std::string path = paths.size() == 1 ? std::string(paths.front()) : common_folder(info);
  return typed_again(sampled ? above_ranks(path) : path);
}

std::vector<NamedText> next_of_sections(const Page& page, std::string_view path) {
  std::vector<NamedText> next;
  for (const PageSection& section : page.sections) {
    const std::string_view command = section.section->next;
    const std::string_view analysis = command.substr(0, command.find(' '));
    if (section.blocks.empty() || analysis::find_analysis(analysis) == nullptr) continue;
    next.push_back({fmt::format("stepscope analyze {} {}", command, path),
                    std::string(section.section->title)});
  }
  return next;
}

std::vector<NamedText> next_of(const Page& page, const std::string& path) {
  std::vector<NamedText> next = next_of_sections(page, path);
  next.push_back({"stepscope advise --all " + path, "all findings, whole"});
  next.push_back({"stepscope report --html report.html " + path, "this report with charts"});
  next.push_back({"stepscope analyze --list", "every question there is"});
  next.push_back({"stepscope report --glossary", "what the words mean"});
  return next;
}

}  // namespace

std::string typed_again(std::span<const std::string> paths) {
  std::string words;
  for (const std::string& path : paths) {
    if (!words.empty()) words += ' ';
    words += typed_again(path);
  }
  return words;
}

const Answered* Answers::find(std::string_view analysis) const {
  const auto found = std::ranges::find_if(
      answers, [&](const Answered& answered) { return answered.about->name == analysis; });
  return found == answers.end() ? nullptr : &*found;
}

const base::Table* Answers::table(std::string_view analysis, std::string_view table) const {
  const Answered* answered = find(analysis);
  if (answered == nullptr) return nullptr;
  const auto found = std::ranges::find_if(answered->answer.tables,
                                          [&](const base::Table& t) { return t.name() == table; });
  return found == answered->answer.tables.end() ? nullptr : &*found;
}

// What `info` says about the run, less what only matters for reading files.
std::vector<NamedText> first_facts(const Answers& answers) {
  const RunInfo& info = answers.info;
  std::vector<NamedText> facts;
  for (NamedText& fact : run_facts(info, std::nullopt)) {
    if (fact.name == "Size" || fact.name == "Software") continue;
    // What is in the files, while all else on the page is of the steps that were chosen.
    if (answers.chosen_steps && (fact.name == "Traced steps" || fact.name == "Steps")) {
      if (const std::size_t at = fact.text.find(" · "); at != std::string::npos) {
        fact.text.insert(at, " in all");
      }
    }
    if (fact.name == "Traced steps") {
      if (const std::string cost = tracing_cost_fact(answers); !cost.empty()) {
        fact.text += " · " + cost;
      }
    }
    const bool is_recorded = fact.name == "Recorded";
    facts.push_back(std::move(fact));
    if (!is_recorded) continue;
    if (ended_oddly(info)) facts.push_back({"Ended", endings_text(info)});
    if (std::string steps = recorded_steps_fact(answers); !steps.empty()) {
      facts.push_back({"Steps", std::move(steps)});
    }
  }
  if (worked_without_gpu(answers)) facts.push_back({"GPU", no_gpu_fact(answers)});
  for (NamedText& fact : content_facts(info)) {
    if (fact.name == "Memory") facts.push_back(std::move(fact));
  }
  if (std::string lines = lines_text(info); !lines.empty()) facts.push_back({"Lines", lines});
  return facts;
}

void add_sections(std::span<const Section> sections, const Answers& answers, Page& page) {
  add_sections(sections, answers, {}, page);
}

Page make_page(const Answers& answers, const std::string& run) {
  Page page;
  page.title = run.empty() ? title_of(answers.info) : printable(run);
  const RunKind kind{.no_gpu = worked_without_gpu(answers),
                     .recorded = !answers.info.recordings.empty(),
                     .traced = traced_mark(answers)};
  page.facts = first_facts(answers);
  page.advice = answers.advice ? &*answers.advice : nullptr;
  add_sections(kRunPage.sections, answers, kind, page);
  add_oddities(answers.info, page);
  page.one_rank = answers.info.ranks < 2;
  page.path = run.empty() ? run_path(answers.info, answers.find("system") != nullptr)
                          : shell_word(printable(run));
  page.next = next_of(page, page.path);
  return page;
}

Page make_memory_page(const Answers& answers, std::span<const std::string> given) {
  Page page;
  page.title = "Memory";
  page.facts = memory_story(answers);
  page.advice = answers.advice ? &*answers.advice : nullptr;
  add_sections(kMemoryPage.sections, answers, page);
  add_oddities(answers.info, page);
  page.one_rank = true;  // the snapshot's name says it
  page.one_device = page.facts.size() == 1;
  const std::string paths = typed_again(given);
  page.next = next_of_sections(page, paths);
  page.next.push_back({fmt::format("stepscope advise --all {}", paths), "all findings, whole"});
  page.next.push_back(
      {fmt::format("stepscope memory --html memory.html {}", paths), "this page with charts"});
  return page;
}

}  // namespace stepscope::report
