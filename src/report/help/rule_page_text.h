// A page of docs/advice on a terminal.
#pragma once

#include <string>
#include <string_view>

#include "report/writing/text_table.h"

namespace stepscope::report {

// Headings, paragraphs and code; links as their words. Its first line, the title, is left out.
std::string rule_page_text(std::string_view markdown, const Look& look);

}  // namespace stepscope::report
