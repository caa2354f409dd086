// What a recorded history asked of its allocator, without where it was put: the same for every
// setting, so it is gathered once and replayed for each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/memory/replay/replay.h"

namespace stepscope::analysis {

struct Request {
  enum class Kind : std::uint8_t {
    kTake,      // of: a life
    kGiveBack,  // of: a life
    kRelease,   // of: the first of the events that return segments to the driver
    kFail       // of: an event that ran out of memory
  };
  Kind kind = Kind::kTake;
  std::uint32_t of = 0;
};

// Of one history; refers to it.
struct Requests {
  const memory::History* history = nullptr;
  const Allocations* allocations = nullptr;
  const Replay* replay = nullptr;
  std::vector<Request> list;           // in the order of events
  std::vector<base::Bytes> requested;  // by life
};
Requests requests_of(const memory::History& history, const Allocations& allocations,
                     const Replay& replay);

bool takes_memory(memory::Action action);
bool returns_memory(memory::Action action);
// Where returns that follow each other end.
std::size_t returns_end(const memory::History& history, std::size_t first);
// Whether the allocator itself returned segments, to make room: then the request it needs room for
// comes next, and the same call did both.
bool makes_room(const memory::History& history, std::size_t first, std::size_t end);

}  // namespace stepscope::analysis
