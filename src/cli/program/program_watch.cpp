// Follows a program while it runs: its notes, and the samples of the machine.
#include "cli/program/program_watch.h"

#include <stepscope/stepscope.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "cli/program/run_place.h"

namespace stepscope::cli {

namespace {

// An error this close to the program's end is its reason.
constexpr std::int64_t kRecentNs = 10'000'000'000;

void add_once(std::vector<std::string>& to, const std::string& text) {
  if (std::ranges::find(to, text) == to.end()) to.push_back(text);
}

int process_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  int process = 0;
  std::from_chars(name.data(), name.data() + name.size(), process);
  return process;
}

// "1700000000000000000 ValueError: loss is nan"
void add_error(int process, const std::string& text, ProgramNotes& notes) {
  ProcessError error{.process = process, .unix_ns = 0, .text = {}};
  const char* const stop = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), stop, error.unix_ns);
  if (problem != std::errc() || end == stop) return;
  error.text.assign(end + 1, stop);
  notes.errors.push_back(std::move(error));
}

// Of launchers in Python, which tell that one of their processes failed, and not why.
bool tells_of_another(const std::string& error) {
  return error.starts_with("ChildFailedError") || error.starts_with("CalledProcessError") ||
         error.starts_with("ProcessExitedException");
}

void read_process(const std::filesystem::path& file, ProgramNotes& notes) {
  std::ifstream in(file);
  std::string line;
  bool has_torch = false;
  while (std::getline(in, line)) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    const std::string kind = line.substr(0, tab);
    const std::string text = tab < line.size() ? line.substr(tab + 1) : std::string();
    if (kind == "python") ++notes.pythons;
    if (kind == "torch") has_torch = true;
    if (kind == "own") notes.records_itself = true;
    if (kind == "run") add_once(notes.runs, text);
    if (kind == "rank") add_once(notes.ranks, text);
    if (kind == "error") add_error(process_of(file), text, notes);
    if (kind == "failed" || kind == "skipped" || kind == "warning") {
      add_once(notes.problems, text);
    }
  }
  notes.with_torch += has_torch ? 1 : 0;
}

bool is_python(const std::vector<std::string>& words) {
  return !words.empty() &&
         std::filesystem::path(words[0]).filename().string().starts_with("python");
}

// The option that keeps a Python from loading the hook: "-I"; empty where there is none.
std::string isolating_option(const std::vector<std::string>& words) {
  if (!is_python(words)) return {};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-' || word[1] == '-' || word == "-c" || word == "-m") break;
    for (const char letter : {'I', 'E', 'S'}) {
      if (word.find(letter) != std::string::npos) return fmt::format("-{}", letter);
    }
    if (word == "-X" || word == "-W") ++i;
  }
  return {};
}

}  // namespace

ProgramNotes read_notes(const std::string& folder) {
  ProgramNotes notes;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) read_process(file, notes);
  return notes;
}

std::string error_of_program(const ProgramNotes& notes, int process, std::int64_t end_unix_ns) {
  const auto own = std::ranges::find(notes.errors, process, &ProcessError::process);
  const bool is_known = own != notes.errors.end();
  if (is_known && !tells_of_another(own->text)) return own->text;
  // A launcher tells that one of many failed: the first. A shell tells nothing, and may have lived
  // with errors before the one that ended it.
  std::vector<ProcessError> others;
  for (const ProcessError& error : notes.errors) {
    const bool is_recent = end_unix_ns - error.unix_ns < kRecentNs;
    if (!tells_of_another(error.text) && (is_known || is_recent)) others.push_back(error);
  }
  if (others.empty()) return {};
  return (is_known ? std::ranges::min(others, {}, &ProcessError::unix_ns)
                   : std::ranges::max(others, {}, &ProcessError::unix_ns))
      .text;
}

std::string why_nothing(const ProgramNotes& notes, const std::vector<std::string>& words,
                        const std::string& end) {
  if (notes.records_itself) return "the program records itself with stepscope.profile";
  if (notes.pythons == 0) {
    if (const std::string option = isolating_option(words); !option.empty()) {
      return fmt::format(
          "Python was started with {}, which keeps it from loading what records; leave it out, or "
          "use stepscope.profile in the program",
          option);
    }
    if (!end.empty() && is_python(words)) {
      return fmt::format("the program {} before Python had begun", end);
    }
    return "no process of the program was a Python that could record; of programs in other "
           "languages, and of Pythons with -I, -E or -S or without the variables of the command "
           "(env -i, sudo, containers), only time and machine are recorded";
  }
  if (!notes.problems.empty()) return {};
  // What a program that failed would have done is not known.
  if (!end.empty()) {
    return fmt::format("the program {} before {}", end,
                       notes.with_torch == 0 ? "it imported torch" : "its training began");
  }
  if (notes.with_torch == 0) return "the program did not import torch";
  return "no training loop was found: no step of an optimizer of torch.optim, and no pass over a "
         "DataLoader after one was made; stepscope.profile in the program records any loop";
}

namespace {

constexpr const char* kRange = "program";

// Where the commands of one launch on this machine say which processes are theirs: the same for all
// of them, and only they may write there. Empty: there is no such folder.
std::string meeting_place(const Launcher& launcher) {
  if (!launcher.is_there || launcher.world_size < 2) return {};
  const std::string key = launch_key(launcher, "");
  if (key.empty()) return {};
  std::string place = fmt::format("{}/stepscope-node-{}-{:016x}", temporary_place(), ::getuid(),
                                  std::hash<std::string>()(key));
  ::mkdir(place.c_str(), S_IRWXU);
  struct stat status{};
  const bool is_ours = ::lstat(place.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                       status.st_uid == ::getuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return is_ours ? place : std::string();
}

// The lowest local rank of the commands that announced themselves there and are still at work;
// nothing: none is.
std::optional<std::int64_t> first_at_work(const std::string& node) {
  constexpr std::string_view kAnnounced = "process-";
  std::optional<std::int64_t> first;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(node, error)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    if (name.starts_with(kAnnounced)) {
      std::from_chars(name.data() + kAnnounced.size(), name.data() + name.size(), pid);
    }
    if (pid <= 0 || (::kill(pid, 0) != 0 && errno != EPERM)) continue;
    std::ifstream file(entry.path());
    std::string word;
    while (file >> word && word != "local_rank") continue;
    std::int64_t rank = 0;
    if (file >> rank) first = std::min(first.value_or(rank), rank);
  }
  return first;
}

}  // namespace

void ProgramWatch::begin(double hz) {
  folder_ = make_temporary_folder("stepscope-program");
  if (folder_.empty()) return;
  std::error_code error;
  const std::string rank = fmt::format("{}/rank{:05}", folder_, launcher_.rank);
  std::filesystem::create_directories(rank, error);
  const std::string number = std::to_string(launcher_.rank);
  const std::string size = std::to_string(launcher_.world_size);
  const std::array<const char*, 6> about = {"rank",       number.c_str(), "world_size",
                                            size.c_str(), "recorded_by",  "command"};
  is_running_ =
      stepscope_start_as(rank.c_str(), "events.scope", about.data(), about.size() / 2) == 0;
  stepscope_begin(stepscope_name(kRange));
  if (hz > 0) start_system(hz);
}

// One process of a node is enough; the others tell it of theirs.
void ProgramWatch::start_system(double hz) {
  meeting_ = meeting_place(launcher_);
  const bool is_first = launcher_.local_rank == 0;
  if (meeting_.empty() && !is_first) return;
  std::string host = host_name();
  std::ranges::replace(host, '/', '_');
  node_ = fmt::format("{}/node-{}", meeting_.empty() ? folder_ : meeting_, host);
  hz_when_first_ = is_first ? 0 : hz;
  measure(is_first ? hz : 0);
}

void ProgramWatch::measure(double hz) {
  // Twice: the last command to leave removes the folder.
  for (int tries = 0; tries < 2; ++tries) {
    std::error_code error;
    std::filesystem::create_directories(node_, error);
    const stepscope_system options{.folder = node_.c_str(),
                                   .hz = hz,
                                   .rank = launcher_.rank,
                                   .local_rank = launcher_.local_rank,
                                   .proc = nullptr,
                                   .sys = nullptr,
                                   .nvml = nullptr};
    if (stepscope_start_system(&options) == 0) return;
  }
}

// Those of one launch do not begin at the same moment.
void ProgramWatch::look() {
  constexpr int kLooksToBegin = 3;
  ++looks_;
  if (hz_when_first_ == 0 || looks_ < kLooksToBegin) return;
  if (first_at_work(node_).value_or(launcher_.local_rank) < launcher_.local_rank) return;
  stepscope_stop_system();
  measure(std::exchange(hz_when_first_, 0));
}

void ProgramWatch::stop_system() {
  stepscope_stop_system();
  hz_when_first_ = 0;
  if (meeting_.empty()) return;
  take_own_samples();
  if (!first_at_work(node_)) remove_folder(node_);  // with what a launch left that was killed
  ::rmdir(meeting_.c_str());
  meeting_.clear();
}

// The file of this command, if it had its turn; each by a name of its own, since they meet again in
// the run's folder.
void ProgramWatch::take_own_samples() {
  stepscope_system_state state{};
  stepscope_get_system(&state);
  const std::filesystem::path written = state.path;
  if (written.empty()) return;
  const auto kept = std::filesystem::path(folder_) / std::filesystem::path(node_).filename();
  std::error_code error;
  std::filesystem::create_directories(kept, error);
  const std::string name = launcher_.local_rank == 0
                               ? "system.scope"
                               : fmt::format("system-rank{:05}.scope", launcher_.rank);
  std::filesystem::rename(written, kept / name, error);
}

void ProgramWatch::end() {
  if (!is_running_) return;
  is_running_ = false;
  stepscope_end(stepscope_name(kRange));
  stop_system();
  stepscope_stop();
}

void ProgramWatch::drop() {
  end();
  remove_folder(folder_);
  folder_.clear();
}

base::Result<std::string> ProgramWatch::keep(const session::ProgramRun& run,
                                             const std::string& folder) {
  end();
  return session::keep_program_run(run, folder_, folder);
}

}  // namespace stepscope::cli
