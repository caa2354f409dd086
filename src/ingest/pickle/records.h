// What the dictionaries of a snapshot are turned into while the file is read, before it is known
// which device a list of events belongs to or which segment a list of blocks.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/notes.h"
#include "base/pages.h"
#include "base/strings.h"
#include "ingest/pickle/values.h"
#include "memory/snapshot.h"
#include "memory/stacks.h"

namespace stepscope::ingest::pickle {

struct Event {
  std::uint64_t address = 0;
  base::Bytes size = 0;
  std::int64_t stream = 0;
  base::Nanos time = memory::kNoTime;
  memory::StackId stack = memory::kNoStack, forward = memory::kNoStack;
  base::StringId note = base::kNoString, compile_context = base::kNoString;
  std::uint16_t pool = memory::kUnknownPool;
  memory::Action action = memory::Action::kUnknown;
};

// Rows of events in blocks that go back to the system one by one as they become columns.
class EventRows {
 public:
  void add(const Event& event) {
    if (size_ % kRows == 0) blocks_.emplace_back(kRows * sizeof(Event));
    reinterpret_cast<Event*>(blocks_.back().data())[size_++ % kRows] = event;
  }
  Event at(std::size_t row) const {
    return reinterpret_cast<const Event*>(blocks_[row / kRows].data())[row % kRows];
  }
  std::size_t size() const { return size_; }
  std::size_t memory() const { return blocks_.size() * kRows * sizeof(Event); }
  memory::History take();

 private:
  static constexpr std::size_t kRows = 16384;
  std::vector<base::Pages> blocks_;
  std::size_t size_ = 0;
};

struct RawSegment {
  memory::Segment segment;
  std::vector<memory::Block> blocks;
};

// Turns containers into records. Nothing is kept of a container that was turned.
class Records {
 public:
  Records(Values& values, base::StringPool& strings, base::ImportLog& log)
      : values_(values), strings_(strings), log_(log) {}

  void at_offset(std::uint64_t offset) { offset_ = offset; }

  // A value under a key that says what it is: stacks, notes.
  Cell settle_member(const Cell& key, const Cell& value);
  // Items on their way into a list or tuple; dictionaries are recognized by their keys.
  void append(const Cell& list, std::span<const Cell> items);
  // The stack that a list of nothing but frames is; kNoStack for any other list.
  memory::StackId stack_of_frames(const Cell& list);
  // Fills an empty list with a known stack.
  void hold_stack(const Cell& list, memory::StackId stack);
  // Whether a dictionary that was just filled is a whole event of the list below it.
  bool settle_event(const Cell& dict, const Cell& list);
  // A whole event into a list that holds events: keys and values in turn, and a bit for each known
  // key. Returns what is left of it, for whoever refers to it again.
  Cell add_event(const Cell& list, std::span<const Cell> members, std::uint64_t keys);

  std::vector<EventRows> events;
  std::vector<std::vector<memory::Block>> blocks;
  std::vector<std::vector<RawSegment>> segments;
  std::vector<std::vector<memory::Annotation>> annotations;
  memory::StackPool stacks;
  std::vector<memory::PoolId> pools = {{0, 0}};

  // The value as text for people, cut at a few KiB.
  std::string text_of(const Cell& cell) const;
  std::size_t memory() const;

 private:
  void spread_stack(Container& list);
  Cell settled_item(const Cell& list, const Cell& item);
  bool take_record(const Cell& list, const Cell& dict);
  Cell what_is_left(const Cell& list) const;
  bool repeat_event(const Cell& list, const Cell& row);
  bool claim(const Cell& list, Holds holds, std::size_t& count);
  void take_event(std::span<const Cell> members, std::uint64_t keys, EventRows& rows);
  memory::FrameId take_frame(const Container& dict);
  memory::Block take_block(const Container& dict);
  RawSegment take_segment(const Container& dict);
  memory::Annotation take_annotation(const Container& dict);
  memory::StackId stack_of(const Cell& cell);
  memory::StackId stack_of_place(base::StringId note);
  std::uint16_t pool_of(const Cell& cell);
  base::Nanos time_of(const Cell& cell);
  base::StringId text_id(const Cell& cell) const;
  std::int64_t number(const Cell& cell);

  Values& values_;
  base::StringPool& strings_;
  base::ImportLog& log_;
  std::uint64_t offset_ = 0;
  std::vector<memory::FrameId> frames_;  // of the stack at hand
  std::unordered_map<base::StringId, memory::StackId> places_;
  std::map<memory::PoolId, std::uint16_t> pool_ids_ = {{memory::PoolId{0, 0}, 0}};
};

}  // namespace stepscope::ingest::pickle
