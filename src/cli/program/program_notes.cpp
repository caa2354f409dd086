#include "cli/program/program_notes.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

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
    return "no process of the program was a Python that could be told to; of programs in other "
           "languages, and of Pythons with -I, -E or -S or without the variables of the command "
           "(env -i, sudo, containers), only time and machine are recorded";
  }
  if (!notes.problems.empty()) return {};
  // Of one that failed nobody knows what it would have done.
  if (!end.empty()) {
    return fmt::format("the program {} before {}", end,
                       notes.with_torch == 0 ? "it imported torch" : "its training began");
  }
  if (notes.with_torch == 0) return "the program did not import torch";
  return "no training loop was found: no step of an optimizer of torch.optim, and no pass over a "
         "DataLoader after one was made; stepscope.profile in the program records any loop";
}

}  // namespace stepscope::cli
