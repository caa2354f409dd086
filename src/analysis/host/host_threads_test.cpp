#include "analysis/host/host_threads.h"

#include <random>

#include <gtest/gtest.h>

#include "analysis/recording_for_tests.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Row;

// Of spans that nest, the one that began last is the innermost: every row is looked at.
Row at_by_force(const trace::Trace& trace, Nanos time) {
  Row found = trace::kNoRow;
  for (Row row = 0; row < trace.size(); ++row) {
    if (trace.start()[row] <= time && time < trace.end(row)) found = row;
  }
  return found;
}

// The answer may not depend on what was asked before, however far away that was.
TEST(HostThreads, FindTheInnermostSpanWhateverWasAskedBefore) {
  std::mt19937 random(7);
  Recording recording;
  constexpr Nanos kCalls = 200;
  for (Nanos i = 0; i < kCalls; ++i) {
    const Nanos start = i * 1000;
    recording.op("outer", start, start + 800);
    recording.op("inner", start + 100, start + 100 + static_cast<Nanos>(random() % 600));
  }
  const WindowView& window = recording.view({}).windows[0];
  const trace::Trace& trace = *window.trace;
  HostThreads threads(trace);
  for (int asked = 0; asked < 2000; ++asked) {
    const auto time = static_cast<Nanos>(random() % (kCalls * 1000 + 2000)) - 1000;
    ASSERT_EQ(threads.at(trace.track()[0], time), at_by_force(trace, time)) << time;
  }
  for (Nanos time = -1000; time < kCalls * 1000 + 1000; time += 50) {
    ASSERT_EQ(threads.at(trace.track()[0], time), at_by_force(trace, time)) << time;
  }
}

}  // namespace
}  // namespace stepscope::analysis
