// Where in the program host events are: the call, the operator a person knows, the Python frames.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/name_sign.h"
#include "trace/trace.h"

namespace stepscope::analysis {

// Asked about every wait of a device, so places are numbers until their texts are wanted.

struct PlaceText {
  std::string call;    // of the runtime, or empty
  std::string op;      // the outermost operator around it, else the annotation, or empty
  std::string frames;  // Python's, the innermost first, by "; "; empty: none recorded
};

// Equal numbers have equal texts.
struct StallSite {
  static constexpr std::uint32_t kNone = 0xffffffff;
  base::StringId call = base::kNoString, op = base::kNoString;
  std::array<std::uint32_t, 4> frames = {kNone, kNone, kNone, kNone};  // into the texts of Sites
  bool operator==(const StallSite&) const = default;

  struct Hash {
    std::size_t operator()(const StallSite& site) const {
      std::uint64_t hash = std::uint64_t{site.call} << 32 | site.op;
      for (const std::uint32_t frame : site.frames) {
        hash = (hash ^ hash >> 29 ^ frame) * 0x9e3779b97f4a7c15;
      }
      return hash ^ hash >> 32;
    }
  };
};

class StallSites {
 public:
  explicit StallSites(const trace::Trace& trace);
  StallSite at(trace::Row row);  // kNoRow: nowhere
  PlaceText text(const StallSite& site) const;

 private:
  std::uint32_t frame_of(base::StringId name);
  std::uint32_t stack_of(base::StringId text);
  std::uint32_t number(std::string text);

  const trace::Trace* trace_;
  NameSign steps_;
  std::vector<std::uint32_t> frames_, stacks_;  // by string: what it is as a frame, as a stack
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace stepscope::analysis
