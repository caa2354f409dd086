#include "analysis/steps/step_times.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

// A trace of steps, calls and kernels, made event by event.
class Recording {
 public:
  Recording() { shard_->begin(0); }

  void step(int number, Nanos start, Nanos end) {
    add("user_annotation", "ProfilerStep#" + std::to_string(number), "1", start, end);
  }
  void launch(std::string_view category, Nanos call, Nanos start, Nanos end) {
    ++correlation_;
    const std::uint32_t caller = add(category, "launch", "1", call, call + 1);
    shard_->launches.push_back({caller, correlation_, -1});
    const std::uint32_t kernel = add("kernel", "k", "7", start, end);
    shard_->device.push_back({kernel, 0, 7, -1, correlation_, -1});
  }
  trace::Trace build() {
    trace::BuildInput input;
    input.batches.push_back(shard_->finish());
    input.shards.push_back(std::move(shard_));
    input.decode = [](std::string_view raw) { return std::string(raw); };
    return *trace::TraceBuilder(std::move(input)).build();
  }

 private:
  std::uint32_t add(std::string_view category, const std::string& name, std::string_view tid,
                    Nanos start, Nanos end) {
    const std::uint32_t at = position_++;
    trace::EventRow row;
    row.start = start;
    row.duration = end - start;
    row.name = shard_->intern(name, at);
    row.track = shard_->track("1", tid, at);
    row.category = shard_->category(category, at);
    row.entry = shard_->entries();
    row.kind = trace::kind_of(category, name);
    const std::uint32_t event = shard_->next_event();
    shard_->events.push_back(row);
    shard_->add_entry();
    return event;
  }

  std::unique_ptr<trace::Shard> shard_ = std::make_unique<trace::Shard>(0);
  std::int64_t correlation_ = 0;
  std::uint32_t position_ = 0;
};

std::vector<Interval> spans(const std::vector<StepTime>& steps) {
  std::vector<Interval> out;
  out.reserve(steps.size());
  for (const StepTime& step : steps) out.push_back(step.span);
  return out;
}

TEST(StepTimes, LastUntilTheirDeviceWorkEnds) {
  Recording recording;
  recording.step(1, 0, 100);
  recording.step(2, 100, 200);
  recording.launch("cuda_runtime", 50, 120, 180);
  recording.launch("cuda_runtime", 150, 190, 260);
  const trace::Trace trace = recording.build();
  const auto steps = step_times(trace);
  EXPECT_EQ(spans(steps), (std::vector<Interval>{{0, 180}, {180, 260}}));
  EXPECT_EQ(steps[0].host, (Interval{0, 100}));
  EXPECT_EQ(steps[1].number, 2);
  EXPECT_EQ(steps[1].work, 1U);
}

TEST(StepTimes, WithoutDeviceWorkAreAsAnnotated) {
  Recording recording;
  recording.step(1, 0, 100);
  recording.step(2, 130, 200);
  const trace::Trace trace = recording.build();
  EXPECT_EQ(spans(step_times(trace)), (std::vector<Interval>{{0, 100}, {130, 200}}));
}

TEST(StepTimes, BeginWhenWorkFromBeforeThemHasEnded) {
  Recording recording;
  recording.launch("cuda_runtime", 10, 90, 140);  // from before, ends before the step's own work
  recording.launch("cuda_runtime", 20, 90, 170);  // from before, ends after it began
  recording.step(1, 100, 200);
  recording.launch("cuda_runtime", 110, 160, 190);
  const trace::Trace trace = recording.build();
  EXPECT_EQ(spans(step_times(trace)), (std::vector<Interval>{{140, 200}}));
}

TEST(StepTimes, ThatTheWorkOfTheOneBeforeCoversAreEmptyNotNegative) {
  Recording recording;
  recording.step(1, 0, 100);
  recording.step(2, 100, 110);
  recording.launch("cuda_runtime", 50, 60, 300);
  const trace::Trace trace = recording.build();
  EXPECT_EQ(spans(step_times(trace)), (std::vector<Interval>{{0, 300}, {300, 300}}));
}

TEST(StepTimes, MayLeaveOutWhatTheDriverLaunched) {
  Recording recording;
  recording.step(1, 0, 100);
  recording.launch("cuda_driver", 50, 120, 180);
  const trace::Trace trace = recording.build();
  EXPECT_EQ(spans(step_times(trace)), (std::vector<Interval>{{0, 180}}));
  EXPECT_EQ(spans(step_times(trace, Calls::kRuntimeOnly)), (std::vector<Interval>{{0, 100}}));
}

TEST(StepAt, IsTheStepWhoseHostRangeHoldsTheTime) {
  const std::vector<StepTime> steps = {{.number = 5, .host = {10, 20}, .span = {}},
                                       {.number = 6, .host = {20, 30}, .span = {}},
                                       {.number = 7, .host = {40, 50}, .span = {}}};
  struct Case {
    Nanos time;
    std::int32_t step;
  };
  for (const Case& c :
       {Case{9, -1}, {10, 0}, {19, 0}, {20, 1}, {30, -1}, {39, -1}, {49, 2}, {50, -1}}) {
    EXPECT_EQ(step_at(steps, c.time), c.step) << c.time;
  }
  EXPECT_EQ(step_at({}, 0), -1);
}

}  // namespace
}  // namespace stepscope::analysis
