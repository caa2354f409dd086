// Small traces for tests, made event by event. Each event may bring the text it was "read" from.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "trace/builder.h"
#include "trace/run.h"

namespace stepscope::emit {

// Text by offset; what is not there cannot be read.
class TextsByOffset final : public trace::SourceText {
 public:
  std::map<std::uint64_t, std::string> texts;

  base::Result<std::string> event(std::uint64_t text_offset) override {
    const auto found = texts.find(text_offset);
    if (found == texts.end()) return base::fail(base::Code::kIo, "the file is gone");
    return found->second;
  }
};

struct EventForTests {
  std::string_view pid = "1", tid = "1", category = "c", name = "f";
  base::Nanos start = 0, duration = 0;
  trace::RawPhase phase = trace::RawPhase::kSpan;
  std::uint8_t flags = 0;
  std::string_view text = {};       // of the whole event; empty: not to be had
  std::string_view async_key = {};  // what pairs asynchronous events
};

class TraceForTests {
 public:
  TraceForTests()
      : shard_(std::make_unique<trace::Shard>(0)), source_(std::make_shared<TextsByOffset>()) {
    shard_->begin(0);
  }

  trace::Header header;
  trace::Shard& shard() {
    return *shard_;
  }  // for side rows; they name events by what event() returns

  std::uint32_t event(const EventForTests& given) {
    const std::uint32_t at = position();
    trace::EventRow row;
    row.start = given.start;
    row.duration = given.duration;
    row.name = shard_->intern(given.name, at);
    row.track = shard_->track(given.pid, given.tid, at);
    row.category = shard_->category(given.category, at);
    row.entry = shard_->entries();
    row.text_at = at;
    row.kind = trace::kind_of(given.category, given.name);
    row.phase = given.phase;
    row.flags = given.flags;
    const std::uint32_t event = shard_->next_event();
    shard_->events.push_back(row);
    if (!given.async_key.empty()) {
      shard_->async.push_back({event, shard_->intern(given.async_key, at)});
    }
    if (!given.text.empty()) source_->texts[at] = given.text;
    shard_->add_entry();
    return event;
  }

  void flow(char phase, std::uint64_t id, base::Nanos time, std::string_view tid = "1") {
    const std::uint32_t at = position();
    shard_->flows.push_back({id, time, shard_->track("1", tid, at), shard_->entries(),
                             shard_->intern("ac2g", at), shard_->intern("ac2g", at), phase});
    shard_->add_entry();
  }

  void label(std::string_view pid, std::string_view tid, trace::LabelRow::What what,
             std::string_view text, std::int64_t number = 0) {
    const std::uint32_t at = position();
    shard_->labels.push_back({shard_->track(pid, tid, at), what, shard_->intern(text, at), number});
    shard_->add_entry();
  }

  // An entry that becomes no row.
  void gap() {
    (void)position();
    shard_->add_entry();
  }

  trace::Trace build() {
    trace::BuildInput input;
    input.batches.push_back(shard_->finish());
    input.shards.push_back(std::move(shard_));
    input.header = header;
    input.source = source_;
    input.decode = [](std::string_view raw) { return std::string(raw); };
    return *trace::TraceBuilder(std::move(input)).build();
  }

 private:
  std::uint32_t position() { return next_position_++; }

  std::unique_ptr<trace::Shard> shard_;
  std::shared_ptr<TextsByOffset> source_;
  std::uint32_t next_position_ = 0;
};

inline trace::Run run_of(trace::Trace trace) {
  trace::Run run;
  run.ranks.emplace_back();
  run.ranks[0].windows.emplace_back();
  run.ranks[0].windows[0].trace = std::move(trace);
  return run;
}

}  // namespace stepscope::emit
