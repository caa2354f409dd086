// The program `stepscope`.
#include <string>
#include <vector>

#include "cli/command_line.h"

int main(int count, char** values) {
  // Whoever starts a program may give it no words at all, not even its name.
  const std::vector<std::string> words(values + (count > 0 ? 1 : 0), values + count);
  return stepscope::cli::run_command_line(words);
}
