// What the processes of a program told the command that started it: a file for each, a line for
// each fact. Written by python/stepscope/launched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepscope::cli {

// That nobody caught.
struct ProcessError {
  int process = 0;
  std::int64_t unix_ns = 0;
  std::string text;  // "ValueError: loss is nan"
};

struct ProgramNotes {
  int pythons = 0;                 // that loaded the hook
  int with_torch = 0;              // of them, that imported torch
  bool records_itself = false;     // stepscope.profile was there already
  std::vector<std::string> runs;   // folders; each once
  std::vector<std::string> ranks;  // folders of processes that record, in the stage if there is one
  std::vector<ProcessError> errors;
  std::vector<std::string> problems;  // what could not be recorded, and warnings; each once
};

ProgramNotes read_notes(const std::string& folder);

// Why nothing was recorded, as the end of a sentence. `end`: of a program that failed ("was killed
// by signal 9"); empty where it did not.
std::string why_nothing(const ProgramNotes& notes, const std::vector<std::string>& words,
                        const std::string& end);

// The error that ended the program whose first process this is; empty where none is known.
std::string error_of_program(const ProgramNotes& notes, int process, std::int64_t end_unix_ns);

}  // namespace stepscope::cli
