// A small recording made event by event, for unit tests that need a prepared view of a trace.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/view.h"
#include "trace/builder.h"

namespace stepscope::analysis {

class Recording {
 public:
  using Nanos = base::Nanos;
  Recording() { shard_->begin(0); }

  // A span on a host thread: "cpu_op", "user_annotation", "python_function", "cuda_runtime", …
  std::uint32_t span(std::string_view category, const std::string& name, Nanos start, Nanos end,
                     std::string_view thread = "1") {
    return add(category, name, thread, start, end, trace::RawPhase::kSpan);
  }
  void op(const std::string& name, Nanos start, Nanos end, std::string_view thread = "1",
          std::int64_t external_id = -1) {
    const std::uint32_t event = span("cpu_op", name, start, end, thread);
    shard_->ops.push_back({event, 0, external_id, -1});
  }
  // A call of 1 ns and the kernel it starts.
  void launch(Nanos call, Nanos start, Nanos end, std::string_view category = "cuda_runtime",
              const std::string& name = "cudaLaunchKernel", std::string_view thread = "1") {
    ++correlation_;
    const std::uint32_t caller = span(category, name, call, call + 1, thread);
    shard_->launches.push_back({caller, correlation_, -1});
    kernel(start, end, correlation_);
  }
  void kernel(Nanos start, Nanos end, std::int64_t correlation = -1,
              std::int64_t external_id = -1) {
    const std::uint32_t event = add("kernel", "k", "7", start, end, trace::RawPhase::kSpan);
    shard_->device.push_back({event, 0, 7, -1, correlation, external_id});
  }
  // Bytes are negative for a free. Device type: 0 the host, 1 CUDA.
  void memory(Nanos time, std::int16_t device_type, base::Bytes bytes,
              std::string_view thread = "1") {
    const std::uint32_t event =
        add("cpu_instant_event", "[memory]", thread, time, time, trace::RawPhase::kInstant);
    shard_->memory.push_back({event, device_type, 0, 0, bytes, 0, 0});
  }

  // Ends the recording. What it returns is valid while the recording is.
  const RunView& view(const Selection& selection = {}) {
    trace::BuildInput input;
    input.batches.push_back(shard_->finish());
    input.shards.push_back(std::move(shard_));
    input.decode = [](std::string_view raw) { return std::string(raw); };
    trace::RankTraces rank;
    rank.windows.push_back({{}, *trace::TraceBuilder(std::move(input)).build()});
    run_.ranks.push_back(std::move(rank));
    view_ = *make_view(run_, {}, selection, 1);
    return view_;
  }

 private:
  std::uint32_t add(std::string_view category, const std::string& name, std::string_view tid,
                    Nanos start, Nanos end, trace::RawPhase phase) {
    const std::uint32_t at = position_++;
    trace::EventRow row;
    row.start = start;
    row.duration = end - start;
    row.name = shard_->intern(name, at);
    row.track = shard_->track("1", tid, at);
    row.category = shard_->category(category, at);
    row.entry = shard_->entries();
    row.kind = trace::kind_of(category, name);
    row.phase = phase;
    const std::uint32_t event = shard_->next_event();
    shard_->events.push_back(row);
    shard_->add_entry();
    return event;
  }

  std::unique_ptr<trace::Shard> shard_ = std::make_unique<trace::Shard>(0);
  std::int64_t correlation_ = 0;
  std::uint32_t position_ = 0;
  trace::Run run_;
  RunView view_;
};

}  // namespace stepscope::analysis
