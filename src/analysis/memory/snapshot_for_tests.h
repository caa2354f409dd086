// Snapshots made by hand for tests: events and stacks in the order they are written down.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "memory/snapshot.h"

namespace stepscope::analysis {

struct EventForTests {
  memory::Action action;
  std::uint64_t address = 0;
  base::Bytes size = 0;
  memory::StackId stack = memory::kNoStack;
  base::Nanos time = memory::kNoTime;  // not given: 1000 ns after the one before
  std::int64_t stream = 0;
};

class SnapshotForTests {
 public:
  // Frames innermost first: "name@file".
  memory::StackId stack(std::initializer_list<std::string> frames) {
    std::vector<memory::FrameId> ids;
    for (const std::string& frame : frames) {
      const std::size_t at = frame.find('@');
      ids.push_back(
          snapshot_.stacks.add_frame({word(frame.substr(0, at)), word(frame.substr(at + 1)), 1}));
    }
    return snapshot_.stacks.add_stack(ids);
  }
  base::StringId word(const std::string& text) {
    const auto [found, added] = ids_.try_emplace(text, static_cast<base::StringId>(words_.size()));
    if (added) words_.push_back(text);
    return found->second;
  }
  SnapshotForTests& event(const EventForTests& event) {
    events_.push_back(event);
    return *this;
  }
  // One segment of blocks that follow each other.
  SnapshotForTests& segment(std::initializer_list<memory::Block> blocks) {
    memory::Segment segment;
    segment.first_block = static_cast<std::uint32_t>(snapshot_.blocks.size());
    segment.blocks = static_cast<std::uint32_t>(blocks.size());
    for (const memory::Block& block : blocks) {
      snapshot_.blocks.push_back(block);
      segment.total += block.size;
      if (segment.address == 0) segment.address = block.address;
    }
    snapshot_.segments.push_back(segment);
    return *this;
  }
  SnapshotForTests& annotate(const std::string& name, base::Nanos time, bool is_start) {
    snapshot_.annotations.push_back({word(name), 0, time, is_start});
    return *this;
  }
  memory::Snapshot make() {
    memory::History history;
    const std::size_t n = events_.size();
    history.action = base::Column<memory::Action>(n);
    history.address = base::Column<std::uint64_t>(n);
    history.size = base::Column<base::Bytes>(n);
    history.stream = base::Column<std::int64_t>(n);
    history.time = base::Column<base::Nanos>(n);
    history.stack = base::Column<memory::StackId>(n);
    history.forward = base::Column<memory::StackId>(n);
    history.pool = base::Column<std::uint16_t>(n);
    history.note = base::Column<base::StringId>(n);
    history.compile_context = base::Column<base::StringId>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const EventForTests& event = events_[i];
      history.action[i] = event.action;
      history.address[i] = event.address;
      history.size[i] = event.size;
      history.stream[i] = event.stream;
      history.time[i] = event.time != memory::kNoTime ? event.time
                        : i == 0                      ? 1000
                                                      : history.time[i - 1] + 1000;
      history.stack[i] = event.stack;
      history.forward[i] = memory::kNoStack;
      history.note[i] = base::kNoString;
      history.compile_context[i] = base::kNoString;
    }
    snapshot_.strings = base::StringTable(words_);
    snapshot_.histories.clear();
    snapshot_.histories.push_back(std::move(history));
    return std::move(snapshot_);
  }

 private:
  memory::Snapshot snapshot_;
  std::vector<EventForTests> events_;
  std::vector<std::string> words_;
  std::map<std::string, base::StringId> ids_;
};

}  // namespace stepscope::analysis
