// Opens a run: finds files, reads them, gives them ranks and puts them together.
#include "session/session.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/standard_input.h"
#include "session/files/discover.h"
#include "session/files/load.h"
#include "session/files/ranks.h"
#include "trace/process_record.h"
#include "trace/step_pattern.h"

namespace stepscope::session {
namespace {

using base::Code;
using base::fail;
using base::Note;

bool stopped(const OpenOptions& options) { return options.stop != nullptr && options.stop->load(); }

// Nothing was read: the error that helps most.
base::Failure nothing_read(const std::vector<std::string>& paths, const trace::Run& run) {
  if (!run.failures.empty()) {
    base::Error error = run.failures.front().error;
    const std::size_t others = run.failures.size() - 1;
    if (others > 0) {
      error.message += fmt::format(" (and {} more file{} that could not be read)", others,
                                   others == 1 ? "" : "s");
    }
    return base::Failure{std::move(error)};
  }
  std::string message = paths.empty()
                            ? "no path given"
                            : paths.front() + ": no trace or memory snapshot in this folder";
  if (paths.size() == 2) message += " nor in the other";
  if (paths.size() > 2) message += fmt::format(" nor in the {} others", paths.size() - 1);
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(kShown, run.skipped.size()); ++i) {
    message += fmt::format("{} {} ({})", i == 0 ? "; left out:" : ",", run.skipped[i].path,
                           run.skipped[i].why);
  }
  if (run.skipped.size() > kShown) {
    message += fmt::format(" and {} more", run.skipped.size() - kShown);
  }
  return fail(Code::kNotFound, std::move(message));
}

std::int64_t unix_start(const trace::Trace& trace) {
  return trace.span().start + trace.clock().zero_unix_ns();
}

// Puts what became of a file where it belongs.
struct TakeFile {
  const std::string& path;
  const std::string& within;
  std::vector<trace::Window>& windows;
  OpenedRun& recording;

  void operator()(NotRead) const {}
  void operator()(NoRecording file) const {
    if (file.why == kOwnFile) {  // made with the run; most of it is for others to read
      if (is_rank_record(path)) add_rank_record(path, within, recording);
      return;
    }
    recording.run.skipped.push_back({path, std::move(file.why)});
  }
  void operator()(base::Error error) const {
    recording.run.failures.push_back({path, std::move(error)});
  }
  void operator()(trace::Window window) const { windows.push_back(std::move(window)); }
  void operator()(memory::Snapshot one) const { recording.snapshots.push_back(std::move(one)); }
  void operator()(memory::Timeline one) const { recording.timelines.push_back(std::move(one)); }
  void operator()(memory::Stats one) const { recording.stats.push_back(std::move(one)); }
  void operator()(series::Node one) const { recording.nodes.push_back(std::move(one)); }
};

// What its writer has not finished may be anything; there is nothing wrong with the run.
void take_partial(const std::string& path, LoadedFile& file, base::ImportLog& log) {
  if (const auto* const error = std::get_if<base::Error>(&file)) {
    file = NoRecording{"its writer has not finished it: " + error->message};
  } else if (!std::holds_alternative<NotRead>(file) && !std::holds_alternative<NoRecording>(file)) {
    log.add(Note::kPartialFile, base::ImportLog::kNowhere, path);
  }
}

// Splits what was loaded into windows, snapshots, failures and files left out.
base::Result<std::vector<trace::Window>> take_windows(const std::vector<FoundFile>& files,
                                                      std::vector<LoadedFile> loaded,
                                                      OpenedRun& recording) {
  std::vector<trace::Window> windows;
  for (std::size_t i = 0; i < files.size(); ++i) {
    // A path the user wrote is a promise; a file that lies in a folder is not. What is wrong with
    // the options is wrong with all files.
    if (auto* const error = std::get_if<base::Error>(&loaded[i]);
        error != nullptr && (files[i].named || error->code == Code::kInvalidArgument)) {
      return base::Failure{std::move(*error)};
    }
    if (files[i].partial) take_partial(files[i].path, loaded[i], recording.run.log);
    std::visit(TakeFile{files[i].path, files[i].within, windows, recording}, std::move(loaded[i]));
  }
  return windows;
}

void note_files(trace::Run& run) {
  for (const trace::FileFailure& failure : run.failures) {
    run.log.add(Note::kUnreadableFile, base::ImportLog::kNowhere, failure.error.message);
  }
  for (const trace::SkippedFile& file : run.skipped) {
    run.log.add(Note::kSkippedFile, base::ImportLog::kNowhere, file.path + ": " + file.why);
  }
}

// What wrote a file: what a process recorded of itself lies over the traces of the same time.
enum class Writer : std::uint8_t { kProfiler, kProcess, kWorker };

Writer writer_of(const trace::Trace& trace) {
  const auto& record = trace.header().process_record;
  if (record == nullptr) return Writer::kProfiler;
  return record->is_worker ? Writer::kWorker : Writer::kProcess;
}

// For notes.
std::string name_of(const trace::Window& window) {
  return std::string(base::name_of_input(window.source.path));
}

std::vector<WindowSpan> spans_by(const trace::RankTraces& rank, Writer writer) {
  std::vector<WindowSpan> spans;
  for (const trace::Window& window : rank.windows) {
    if (writer_of(window.trace) != writer) continue;
    const std::int64_t start = unix_start(window.trace);
    spans.push_back({name_of(window), start, start + window.trace.span().length()});
  }
  return spans;
}

void sort_windows(trace::RankTraces& rank, base::ImportLog& log) {
  std::ranges::stable_sort(rank.windows, [](const trace::Window& a, const trace::Window& b) {
    const std::int64_t left = unix_start(a.trace);
    const std::int64_t right = unix_start(b.trace);
    return left != right ? left < right : natural_less(a.source.path, b.source.path);
  });
  const std::string detail = fmt::format("rank {}: ", rank.rank.value);
  // Workers run side by side.
  for (const Writer writer : {Writer::kProfiler, Writer::kProcess}) {
    const std::vector<WindowSpan> spans = spans_by(rank, writer);
    if (spans.size() < 2) continue;
    log.add(Note::kSeveralWindows, base::ImportLog::kNowhere,
            fmt::format("{}{} files", detail, spans.size()));
    if (const std::string pair = overlap_in(spans); !pair.empty()) {
      log.add(Note::kRankConflict, base::ImportLog::kNowhere, detail + pair);
    }
  }
}

void note_ranks_apart(trace::Run& run, std::int64_t least_gap) {
  std::vector<WindowSpan> spans;
  std::vector<WindowSpan> windows;
  for (const trace::RankTraces& rank : run.ranks) {
    WindowSpan whole;
    for (const trace::Window& window : rank.windows) {
      if (!window.trace.clock().base_known || window.trace.size() == 0) return;
      const std::int64_t start = unix_start(window.trace);
      if (whole.path.empty()) whole = {name_of(window), start, start};
      whole.end_ns = std::max(whole.end_ns, start + window.trace.span().length());
      windows.push_back(
          {name_of(window), start, start + window.trace.span().length(), rank.rank.value});
    }
    spans.push_back(std::move(whole));
  }
  std::string pair = apart_in(spans, least_gap);
  if (pair.empty()) pair = alone_in(std::move(windows));
  if (!pair.empty()) {
    run.log.add(Note::kRanksApart, base::ImportLog::kNowhere, pair);
  }
}

void add_ranks(std::vector<trace::Window> windows, trace::Run& run) {
  std::vector<RankedFile> files;
  files.reserve(windows.size());
  for (const trace::Window& window : windows) {
    const auto& distributed = window.trace.header().distributed;
    files.push_back({window.source.path, distributed ? distributed->rank : std::nullopt,
                     window.trace.header().host});
  }
  const std::vector<RankChoice> choices = choose_ranks(files);

  std::map<std::int32_t, trace::RankTraces> ranks;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    // A single file without a rank is a job of one process: nothing odd.
    if (choices[i].source == RankSource::kFileName) {
      run.log.add(Note::kRankFromFileName, base::ImportLog::kNowhere, name_of(windows[i]));
    } else if (choices[i].source == RankSource::kOrder && windows.size() > 1) {
      run.log.add(Note::kRankFromOrder, base::ImportLog::kNowhere, name_of(windows[i]));
    }
    trace::RankTraces& rank = ranks[choices[i].rank];
    rank.rank = base::Rank{choices[i].rank};
    rank.windows.push_back(std::move(windows[i]));
  }
  for (auto& [number, rank] : ranks) {
    sort_windows(rank, run.log);
    run.ranks.push_back(std::move(rank));
  }
  note_ranks_apart(run, are_ranks_by_order_alone(files, choices) ? kByOrderApart : kClocksApart);
}

// What is known of memory does not say its rank: its name does, or nothing does.
template <class Recorded>
void add_memory_ranks(std::vector<Recorded>& recorded, base::ImportLog& log) {
  std::vector<RankedFile> files;
  files.reserve(recorded.size());
  for (const Recorded& one : recorded) files.push_back({one.source.path, std::nullopt});
  const std::vector<RankChoice> choices = choose_ranks(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (choices[i].source == RankSource::kOrder) continue;
    recorded[i].rank = choices[i].rank;
    if (choices[i].source != RankSource::kFileName) continue;
    log.add(Note::kRankFromFileName, base::ImportLog::kNowhere, files[i].path);
  }
  std::ranges::stable_sort(recorded, {}, [](const Recorded& one) { return one.rank.value_or(0); });
}

}  // namespace

base::ImportLog notes_of(const OpenedRun& recording) {
  base::ImportLog all = recording.run.log;
  for (const trace::RankTraces& rank : recording.run.ranks) {
    for (const trace::Window& window : rank.windows) all.merge(window.trace.log());
  }
  for (const memory::Snapshot& snapshot : recording.snapshots) all.merge(snapshot.log);
  for (const memory::Timeline& timeline : recording.timelines) all.merge(timeline.log);
  for (const memory::Stats& stats : recording.stats) all.merge(stats.log);
  for (const series::Node& node : recording.nodes) all.merge(node.log);
  return all;
}

base::Status check(const OpenOptions& options) {
  SCOPE_TRY(trace::StepPattern::parse(options.step_pattern));
  return base::Done{};
}

base::Result<OpenedRun> open(const std::vector<std::string>& paths, const OpenOptions& options) {
  return open_within({}, paths, options);
}

base::Result<OpenedRun> open_within(const std::string& folder,
                                    const std::vector<std::string>& paths,
                                    const OpenOptions& options) {
  SCOPE_TRY(Discovery found, discover(paths, folder));
  SCOPE_TRY(std::vector<LoadedFile> loaded, load(found.files, options));
  if (stopped(options)) return fail(Code::kCancelled, "stopped");

  OpenedRun recording;
  trace::Run& run = recording.run;
  run.failures = std::move(found.failures);
  run.skipped = std::move(found.skipped);
  SCOPE_TRY(std::vector<trace::Window> windows,
            take_windows(found.files, std::move(loaded), recording));
  const auto by_path = [](const auto& a, const auto& b) { return natural_less(a.path, b.path); };
  std::ranges::stable_sort(run.failures, by_path);
  std::ranges::stable_sort(run.skipped, by_path);
  if (windows.empty() && recording.snapshots.empty() && recording.timelines.empty() &&
      recording.stats.empty() && recording.nodes.empty()) {
    return nothing_read(paths, run);
  }
  note_files(run);
  for (const std::string& folder : found.earlier_attempts) {
    run.log.add(Note::kEarlierAttempts, base::ImportLog::kNowhere, folder);
  }
  add_ranks(std::move(windows), run);
  add_memory_ranks(recording.snapshots, run.log);
  add_memory_ranks(recording.timelines, run.log);
  add_memory_ranks(recording.stats, run.log);
  std::ranges::stable_sort(recording.rank_records, {}, &trace::RankRecord::rank);
  std::ranges::stable_sort(recording.nodes, {}, [](const series::Node& node) {
    return std::pair<const std::string&, base::Nanos>(node.host, node.wall_ns);
  });
  return recording;
}

}  // namespace stepscope::session
