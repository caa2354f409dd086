#include <string>
#include <vector>

#include "cli/run.h"

int main(int count, char** values) {
  const std::vector<std::string> words(values + 1, values + count);
  return stepscope::cli::run(words);
}
