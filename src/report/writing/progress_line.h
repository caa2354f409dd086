// The one line that shows how far a long load is. Drawing it is the terminal's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/writing/text_table.h"

namespace stepscope::report {

struct ProgressState {
  std::string_view verb = "reading";
  std::uint64_t bytes_done = 0, bytes_total = 0;  // total 0: not known
  std::size_t files_done = 0, files_total = 0;
  double seconds = 0;  // since the start
};

// "reading  ━━━━━━━━╌╌╌╌  42 %  1.25 GB/s  3 s left  5 of 16 files", never wider than the terminal.
std::string progress_line(const ProgressState& state, const Look& look);

}  // namespace stepscope::report
