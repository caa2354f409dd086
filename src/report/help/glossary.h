// The words the reports use, for people who are no experts in GPUs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/writing/text_table.h"

namespace stepscope::report {

struct Word {
  std::string_view word, meaning;
};
std::span<const Word> glossary();  // in alphabetical order

std::string glossary_text(const Look& look);

}  // namespace stepscope::report
