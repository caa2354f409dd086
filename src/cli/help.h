// Help, printed from the table of commands.
#pragma once

#include <string>

#include "cli/command.h"
#include "report/text_table.h"

namespace stepscope::cli {

std::string overview(const report::Look& look);
std::string help_for(const Command& command, const report::Look& look);
std::string version_line();  // "stepscope 0.1.0"

}  // namespace stepscope::cli
