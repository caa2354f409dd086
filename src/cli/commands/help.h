// Help, printed from the table of commands.
#pragma once

#include <string>

#include "cli/command.h"
#include "report/writing/text_table.h"

namespace stepscope::cli {

std::string overview(const report::Look& look);
// About these words of the command, or empty: `stepscope analyze kernels --help`.
std::string help_about(const Command& command, std::span<const std::string> words,
                       const report::Look& look);
std::string help_for(const Command& command, const report::Look& look);
std::string version_line();  // "stepscope 0.2.0"

}  // namespace stepscope::cli
