// How the recording of each rank went, as text and JSON.
#include "report/info/rank_records.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMostWindows = 16;
constexpr std::size_t kMostWarnings = 8;

std::string ending_of(const trace::RankRecord& record) {
  std::string text;
  if (record.finished == "stop" || record.finished == "exit") {
    text = "normally";
  } else if (record.finished == "exception") {
    text = "by an exception";
  } else if (record.finished.empty()) {
    text = "not known: killed, or still running; or its disk was full";
  } else if (record.finished == "SIGKILL") {
    text = "killed by SIGKILL (often: out of memory)";
  } else if (record.finished.starts_with("status ")) {
    text = "with " + printable(record.finished);
  } else {
    text = "by " + printable(record.finished);
  }
  if (record.error) {
    text += fmt::format("{} {}{} (step {})", record.finished == "exception" ? ":" : ", after",
                        printable(record.error->type),
                        record.error->text.empty() ? "" : ": " + printable(record.error->text),
                        record.error->step);
  }
  return text;
}

// "rank 1", "ranks 0, 2 and 14 more"
std::string ranks_text(const std::vector<std::int32_t>& ranks) {
  constexpr std::size_t kShown = 4;
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (std::size_t i = 0; i < std::min(kShown, ranks.size()); ++i) {
    text += fmt::format("{} {}", i > 0 ? "," : "", ranks[i]);
  }
  if (ranks.size() > kShown) text += fmt::format(" and {} more", ranks.size() - kShown);
  return text;
}

// The same text of several ranks is shown once; in the order in which they first come.
class ByText {
 public:
  void add(const std::string& text, std::int32_t rank) {
    const auto [place, is_new] = at_.try_emplace(text, rows_.size());
    if (is_new) rows_.push_back({text, {}});
    std::vector<std::int32_t>& ranks = rows_[place->second].second;
    if (ranks.empty() || ranks.back() != rank) ranks.push_back(rank);
  }
  const std::vector<std::pair<std::string, std::vector<std::int32_t>>>& rows() const {
    return rows_;
  }

 private:
  std::map<std::string, std::size_t> at_;
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> rows_;
};

std::string more_text(std::size_t total, std::size_t shown, const char* what, const Look& look) {
  if (total <= shown) return {};
  return styled(
      fmt::format("  … and {} more {}; --all shows every one\n", count_text(total - shown), what),
      Style::kFaint, look);
}

std::string steps_of(const trace::RecordedWindow& window) {
  if (window.steps == 0) return fmt::format("within {}", window.first_step);
  if (window.steps == 1) return std::to_string(window.first_step);
  const auto last = static_cast<std::uint64_t>(window.first_step) + window.steps - 1;
  return fmt::format("{} to {}", window.first_step, last);
}

std::string cost_parts(const trace::RecordedWindow& window) {
  // As they come about; others after them.
  std::vector<std::pair<std::string, base::Nanos>> parts = window.cost;
  const auto place = [](const std::pair<std::string, base::Nanos>& part) {
    constexpr std::array<std::string_view, 6> kOrder = {"start",  "stop",  "snapshot",
                                                        "export", "write", "other"};
    return std::ranges::find(kOrder, part.first) - kOrder.begin();
  };
  std::ranges::stable_sort(parts, {}, place);
  std::string text;
  for (const auto& [what, ns] : parts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", printable(what), duration_text(ns));
  }
  return text;
}

std::size_t count_windows(const RunInfo& info, auto&& is_meant) {
  std::size_t count = 0;
  for (const trace::RankRecord& record : info.rank_records) {
    count += static_cast<std::size_t>(std::ranges::count_if(record.windows, is_meant));
  }
  return count;
}

void write_recorded_window(JsonWriter& json, const trace::RecordedWindow& window) {
  json.begin_object();
  json.member("kind", window.kind);
  json.member("first_step", window.first_step);
  json.member("steps", window.steps);
  json.member("closed", window.closed);
  json.key("whole");
  window.whole ? json.value(*window.whole) : json.null();
  json.key("files");
  json.begin_list();
  for (const std::string& file : window.files) json.value(file);
  json.end_list();
  json.key("cost_ns");
  json.begin_object();
  for (const auto& [what, ns] : window.cost) json.member(what, ns);
  json.end_object();
  json.end_object();
}

}  // namespace

bool ended_oddly(const RunInfo& info) {
  return std::ranges::any_of(info.rank_records, [](const trace::RankRecord& record) {
    return record.error || (record.finished != "stop" && record.finished != "exit");
  });
}

std::string endings_text(const RunInfo& info) {
  ByText endings;
  for (const trace::RankRecord& record : info.rank_records) {
    endings.add(ending_of(record), record.rank);
  }
  const auto& rows = endings.rows();
  if (rows.size() == 1) {
    return info.rank_records.size() == 1 ? rows[0].first : rows[0].first + ", all ranks";
  }
  std::string text;
  for (const auto& [ending, ranks] : rows) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", ranks_text(ranks), ending);
  }
  return text;
}

std::string cut_windows_text(const RunInfo& info) {
  std::string text;
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : " · ", counted(count, "window"), what);
    }
  };
  add(count_windows(info,
                    [](const trace::RecordedWindow& window) {
                      return window.closed == "max_bytes" || window.closed == "max_seconds";
                    }),
      "closed early by a limit");
  add(count_windows(info, [](const auto& window) { return window.files.empty(); }),
      "whose file could not be written");
  add(count_windows(info, [](const auto& window) { return window.whole == false; }),
      "whose memory history lacks its beginning");
  return text;
}

std::string lines_text(const RunInfo& info) {
  constexpr std::size_t kShown = 4;
  std::size_t count = 0;
  std::string text;
  for (const trace::RankRecord& record : info.rank_records) {
    const std::string folder = record.path.substr(0, record.path.rfind('/') + 1);
    for (const std::string& file : record.lines) {
      if (++count > kShown) continue;
      text += fmt::format("{}{}", text.empty() ? "" : ", ", printable(folder + file));
    }
  }
  if (count > kShown) text += fmt::format(" and {} more", count - kShown);
  return text.empty() ? text
                      : fmt::format("time by line of {}: {}", counted(count, "function"), text);
}

std::string window_cost_text(const RunInfo& info) {
  base::Nanos cost = 0;
  for (const trace::RankRecord& record : info.rank_records) {
    for (const trace::RecordedWindow& window : record.windows) cost += window.cost_ns();
  }
  if (cost == 0) return {};
  return fmt::format("{} of the training's time to open, close and write windows",
                     duration_text(cost));
}

bool lists_windows(const RunInfo& info) {
  return count_windows(info, [](const auto&) { return true; }) > 0;
}

std::string windows_table(const RunInfo& info, const Look& look, bool all) {
  const bool several = info.rank_records.size() > 1;
  std::vector<Column> columns = {{"Windows"}};
  if (several) columns.push_back({"rank", Align::kRight});
  columns.insert(columns.end(), {{"steps", Align::kRight},
                                 {"closed"},
                                 {"cost", Align::kRight},
                                 {"of it", Align::kLeft, Fit::kWrap},
                                 {"file", Align::kLeft, Fit::kCutMiddle}});
  TextTable table(std::move(columns));
  std::size_t total = 0;
  std::size_t shown = 0;
  for (const trace::RankRecord& record : info.rank_records) {
    for (const trace::RecordedWindow& window : record.windows) {
      ++total;
      if (!all && shown == kMostWindows) continue;
      ++shown;
      std::vector<Cell> row = {printable(window.kind)};
      if (several) row.emplace_back(std::to_string(record.rank));
      row.emplace_back(steps_of(window));
      row.emplace_back(printable(window.closed));
      row.emplace_back(duration_text(window.cost_ns()));
      row.emplace_back(cost_parts(window));
      row.emplace_back(window.files.empty() ? std::string() : printable(window.files.front()));
      table.add(std::move(row));
    }
  }
  if (table.empty()) return {};
  return fmt::format("\n{}{}", table.render(look), more_text(total, shown, "windows", look));
}

std::string warnings_list(const RunInfo& info, const Look& look, bool all) {
  ByText warnings;
  for (const trace::RankRecord& record : info.rank_records) {
    for (const trace::RecordedWarning& warning : record.warnings) {
      warnings.add(warning.text, record.rank);
    }
  }
  if (warnings.rows().empty()) return {};
  std::string text =
      fmt::format("\n{}\n", styled("What the recorder warned of", Style::kWarning, look));
  std::size_t shown = 0;
  for (const auto& [warning, ranks] : warnings.rows()) {
    if (!all && shown == kMostWarnings) break;
    ++shown;
    std::string line = printable(warning);
    if (info.rank_records.size() > 1) line.insert(0, ranks_text(ranks) + ": ");
    for (const std::string& part : wrapped(line, look.width > 24 ? look.width - 2 : 0)) {
      text += fmt::format("  {}\n", part);
    }
  }
  return text + more_text(warnings.rows().size(), shown, "warnings", look);
}

void write_rank_records(JsonWriter& json, const RunInfo& info) {
  json.begin_list();
  for (const trace::RankRecord& record : info.rank_records) {
    json.begin_object();
    json.member("rank", record.rank);
    json.member("path", record.path);
    json.member("attempt", record.attempt);
    json.member("host", record.host);
    json.member("pid", record.pid);
    json.member("start_unix_ns", record.start_unix_ns);
    json.key("finished");
    record.finished.empty() ? json.null() : json.value(record.finished);
    json.key("error");
    if (record.error) {
      json.begin_object();
      json.member("type", record.error->type);
      json.member("text", record.error->text);
      json.member("step", record.error->step);
      json.end_object();
    } else {
      json.null();
    }
    for (const auto& [name, count] :
         {std::pair("steps", record.steps), std::pair("epochs", record.epochs)}) {
      json.key(name);
      count ? json.value(*count) : json.null();
    }
    json.key("windows");
    json.begin_list();
    for (const trace::RecordedWindow& window : record.windows) {
      write_recorded_window(json, window);
    }
    json.end_list();
    json.key("lines");
    json.begin_list();
    for (const std::string& file : record.lines) json.value(file);
    json.end_list();
    json.key("warnings");
    json.begin_list();
    for (const trace::RecordedWarning& warning : record.warnings) {
      json.begin_object();
      json.member("text", warning.text);
      json.member("unix_ns", warning.unix_ns);
      json.end_object();
    }
    json.end_list();
    json.end_object();
  }
  json.end_list();
}

}  // namespace stepscope::report
