// What `analyze stacks` writes besides tables: folded stacks and the flame graph.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/options/arguments.h"
#include "session/analyze.h"

namespace stepscope::cli {

inline constexpr Option kSvgOption{
    .name = "svg",
    .value = "PATH",
    .help = "stacks only: draw the flame graph to this file (- for standard output)",
    .completes = Completes::kFiles};

// Fails when --svg or -f folded is asked of an analysis that has no stacks.
base::Status check_flame_graph(const Context& context, const analysis::Analysis& about);

using Parameters = std::map<std::string, std::string>;  // of the analysis, as given

// "main;forward;gemm 1200": a line for each stack, nanoseconds.
std::string folded_of(const analysis::Answer& answer, const Parameters& given);

base::Status write_svg(const Context& context, const analysis::Answer& answer,
                       const Parameters& given);

}  // namespace stepscope::cli
