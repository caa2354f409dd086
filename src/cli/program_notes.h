// What the processes of a program told the command that started it: a file for each, a line for
// each fact. Written by python/stepscope/launched.
#pragma once

#include <string>
#include <vector>

namespace stepscope::cli {

struct ProgramNotes {
  int pythons = 0;                    // that loaded the hook
  int with_torch = 0;                 // of them, that imported torch
  bool records_itself = false;        // stepscope.profile was there already
  std::vector<std::string> runs;      // folders; each once
  std::vector<std::string> problems;  // what could not be recorded, and warnings; each once
};

ProgramNotes read_notes(const std::string& folder);

// Why nothing was recorded, as the end of a sentence.
std::string why_nothing(const ProgramNotes& notes, const std::vector<std::string>& words);

}  // namespace stepscope::cli
