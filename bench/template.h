// A real trace, cut up so that it can be written again and again: the text that is repeated, where
// the numbers stand in it that must differ from copy to copy, and by how much. Everything between
// those numbers is kept to the byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stepscope::bench {

// Numbers that count in one sequence; those of one field are shifted alike, so links survive.
enum class Field : std::uint8_t {
  kTime,
  kOperation,    // External id
  kEvent,        // Ev Idx
  kCorrelation,  // also the ids of flows from launch to kernel, and the record an event waits for
  kFlow,         // ids of all other flows
  kSequence,     // Sequence number, which pairs forward and backward
  kPython,       // Python id and Python parent id
  kRecordFunction,
  kCollective,  // Seq
  kStep,        // the N of ProfilerStep#N
};
inline constexpr std::size_t kFieldCount = 10;

struct Slot {
  std::size_t begin;  // of the digits, in the block's text
  std::size_t end;
  std::uint64_t value;
  Field field;
};

struct Block {
  std::string text;
  std::vector<Slot> slots;  // by position
};

struct Template {
  std::string header;  // all up to the first repeated event
  Block body;          // the repeated events of one copy
  std::string join;    // between two copies
  Block footer;        // all after them; its slots hold times that end with the last copy
  std::array<std::uint64_t, kFieldCount> shift{};
  std::size_t body_events = 0;
  std::size_t other_events = 0;  // metadata and markers, written once
};

Template cut_template(const std::string& text);

}  // namespace stepscope::bench
