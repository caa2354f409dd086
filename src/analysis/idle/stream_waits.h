// What work had to wait for on other streams. The profiler records the call that makes a stream
// wait for an event (cuda_sync "Stream Wait Event"), not when the stream waited: an event is
// complete when the last work queued on its stream before it was recorded has ended.
#pragma once

#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

struct Awaited {
  base::Nanos end = 0;           // when what was waited for had ended
  std::uint32_t work = kNobody;  // index into WindowView::work
  static constexpr std::uint32_t kNobody = 0xffffffff;
  bool known() const { return work != kNobody; }
};

// For each piece of work, what its stream was told to wait for between the launch before and its
// own. Empty when the trace holds no such record.
std::vector<Awaited> awaited_work(const WindowView& window);

}  // namespace stepscope::analysis
