// The summary of a run as text.
#include "report/info/info_text.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/standard_input.h"
#include "report/info/info_facts.h"
#include "report/info/notes.h"
#include "report/info/recording_info.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMostListedRanks = 16;
constexpr std::size_t kMostCategories = 20;
constexpr std::size_t kMostFailures = 8;

std::string how_many_more(std::size_t total, std::size_t shown, const std::string& what,
                          const Look& look) {
  if (total <= shown) return {};
  const std::string text =
      fmt::format("  … and {} more {}; --all shows every one\n", count_text(total - shown), what);
  return styled(text, Style::kFaint, look);
}

// Spellings changed their case over the years.
bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

std::string events_block(const RunInfo& info, const InfoTextOptions& options) {
  TextTable table({{"Events", Align::kLeft, Fit::kCutEnd},
                   {"count", Align::kRight},
                   {"covers", Align::kRight},
                   {"on"},
                   {"kind"}});
  std::size_t shown = 0;
  for (const CategoryInfo& category : info.categories) {
    if (!options.all && shown == kMostCategories) break;
    ++shown;
    const bool on_device = trace::is_on_device(category.kind);
    const std::string name =
        category.category.empty() ? "(no category)" : printable(category.category);
    const std::string_view kind = trace::name_of(category.kind);
    table.add({name, count_text(category.events),
               category.covered_ns > 0 ? duration_text(category.covered_ns) : "",
               counted(category.tracks, on_device ? "stream" : "thread"),
               Cell(same_word(kind, category.category) ? "" : std::string(kind), Style::kFaint)});
  }
  table.add({Cell("all", Style::kStrong), Cell(count_text(info.events), Style::kStrong)});
  return table.render(options.look) +
         how_many_more(info.categories.size(), shown, "categories", options.look);
}

std::string links_block(const RunInfo& info, const Look& look) {
  const LinkInfo& links = info.links;
  TextTable table(
      {{"Links"}, {"found", Align::kRight}, {"of", Align::kRight}, {"", Align::kRight}});
  const auto add = [&](const char* what, std::uint64_t found, std::uint64_t of) {
    if (of == 0) return;
    table.add({what, count_text(found), count_text(of), percent_text(found, of)});
  };
  add("device work with its launch", links.with_launch, links.device_work);
  add("launches with their operator", links.with_operator, links.launches);
  add("backward operators with their forward", links.with_forward, links.backward);
  return table.empty() ? std::string() : fmt::format("\n{}", table.render(look));
}

// When a window starts, counted from the first one.
std::string start_text(const WindowInfo& window, const RunInfo& info) {
  if (!info.start_known) return "–";
  const base::Nanos later = window.start_unix_ns - info.start_unix_ns;
  return later == 0 ? "0" : fmt::format("+{}", duration_text(later));
}

std::string ranks_block(const RunInfo& info, const InfoTextOptions& options) {
  if (info.windows.size() < 2) return {};
  const bool several_windows = info.windows.size() > info.ranks;
  std::vector<Column> columns = {{"Ranks"}};
  if (several_windows) columns.push_back({"window", Align::kRight});
  for (const char* title : {"steps", "mean step", "starts", "lasts", "events", "device work"}) {
    columns.push_back({title, Align::kRight});
  }
  columns.push_back({"file", Align::kLeft, Fit::kCutMiddle});
  TextTable table(std::move(columns));
  const std::size_t folder = common_folder(info).size();
  const std::size_t ending = common_ending(info).size();
  std::size_t shown = 0;
  for (const WindowInfo& window : info.windows) {
    if (!options.all && shown == kMostListedRanks) break;
    ++shown;
    const bool has_steps = window.steps.source != trace::StepSource::kWhole;
    std::vector<Cell> row = {std::to_string(window.rank)};
    if (several_windows) row.emplace_back(std::to_string(window.window));
    row.emplace_back(has_steps ? count_text(window.steps.count) : "–");
    row.emplace_back(has_steps && window.steps.count > 0 ? duration_text(window.steps.mean_ns())
                                                         : "–");
    row.emplace_back(start_text(window, info));
    row.emplace_back(duration_text(window.span_ns));
    row.emplace_back(count_text(window.events));
    row.emplace_back(count_text(window.device_work));
    const std::string& path = window.source.path;
    const std::string name = path.substr(folder, path.size() - folder - ending);
    row.emplace_back(printable(base::name_of_input(name)));
    table.add(std::move(row));
  }
  const std::string more = several_windows ? "windows" : "ranks";
  return fmt::format("\n{}{}", table.render(options.look),
                     how_many_more(info.windows.size(), shown, more, options.look));
}

std::string notes_block(const RunInfo& info, const InfoTextOptions& options) {
  const bool explained = cause_of_no_device_work(info).has_value();
  std::vector<NoteInfoRow> notes = info.notes;
  if (explained) {
    std::erase_if(notes, [](const auto& note) { return note.note == base::Note::kNoDeviceEvents; });
  }
  const std::string text = notes_text(notes, common_folder(info), options.look);
  return text.empty() ? nothing_odd_text(options.look, explained) : text;
}

}  // namespace

std::string failures_text(const RunInfo& info, const InfoTextOptions& options) {
  if (info.failures.empty()) return {};
  std::string text = fmt::format("\n{}\n", styled("Not readable", Style::kBad, options.look));
  std::size_t shown = 0;
  for (const trace::FileFailure& failure : info.failures) {
    if (!options.all && shown == kMostFailures) break;
    ++shown;
    text += fmt::format("  {}\n", printable(failure.error.message));
  }
  return text + how_many_more(info.failures.size(), shown, "files", options.look);
}

std::string info_text(const RunInfo& info, const InfoTextOptions& options) {
  const Look& look = options.look;
  std::string text = styled(title_of(info), Style::kStrong, look) + "\n\n";
  text += facts_text(run_facts(info, options.load_seconds), look);
  text += recordings_text(info, look, options.all);
  if (info.events > 0) text += fmt::format("\n{}", events_block(info, options));
  text += links_block(info, look);
  if (const auto contents = content_facts(info); !contents.empty()) {
    text += fmt::format("\n{}", facts_text(contents, look));
  }
  text += ranks_block(info, options);
  if (const auto cause = cause_of_no_device_work(info)) {
    text += fmt::format("\n{}", no_device_text(*cause, look));
  }
  text += notes_block(info, options);
  text += failures_text(info, options);
  return text;
}

}  // namespace stepscope::report
