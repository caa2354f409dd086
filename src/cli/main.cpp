#include <string>
#include <vector>

#include "cli/command_line.h"

int main(int count, char** values) {
  const std::vector<std::string> words(values + 1, values + count);
  return stepscope::cli::run_command_line(words);
}
