#include "cli/program_notes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace stepscope::cli {
namespace {

void add_once(std::vector<std::string>& to, const std::string& text) {
  if (std::ranges::find(to, text) == to.end()) to.push_back(text);
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
    if (kind == "failed" || kind == "skipped" || kind == "warning") {
      add_once(notes.problems, text);
    }
  }
  notes.with_torch += has_torch ? 1 : 0;
}

// The option that keeps a Python from loading the hook: "-I"; empty where there is none.
std::string isolating_option(const std::vector<std::string>& words) {
  if (words.empty() || !std::filesystem::path(words[0]).filename().string().starts_with("python")) {
    return {};
  }
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

std::string why_nothing(const ProgramNotes& notes, const std::vector<std::string>& words) {
  if (notes.records_itself) return "the program records itself with stepscope.profile";
  if (notes.pythons == 0) {
    if (const std::string option = isolating_option(words); !option.empty()) {
      return fmt::format(
          "Python was started with {}, which keeps it from loading what records; leave it out, or "
          "use stepscope.profile in the program",
          option);
    }
    return "no process of the program was a Python that could be told to; of programs in other "
           "languages, and of Pythons with -I, -E or -S, only time and machine are recorded";
  }
  if (!notes.problems.empty()) return {};
  if (notes.with_torch == 0) return "the program did not import torch";
  return "no training loop was found: no step of an optimizer of torch.optim, and no pass over a "
         "DataLoader after one was made; stepscope.profile in the program records any loop";
}

}  // namespace stepscope::cli
