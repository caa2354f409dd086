// One answer about the machine: what was found, what it means, what to do and why it matters. Made
// in a process of its own (apart.h), so it also travels as text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::doctor {

enum class State : std::uint8_t {
  kGood,
  kMissing,
  kBad,
  kUnknown,
  kMeasured,  // a rate of which nobody knows what it should be
};
std::string_view name_of(State state);

struct Check {
  std::string name = {};  // "cuda-driver": as in --expect and in JSON
  State state = State::kUnknown;
  std::string value = {};  // what was found, in a few words
  std::string means = {};  // what that means here; empty where the value says it
  std::string todo = {};   // a command or a setting; empty where there is nothing to do
  std::string why = {};    // why anybody should care

  // Of measurements only.
  std::optional<double> measured = {};
  std::optional<double> reference = {};       // what the device can do at best
  std::optional<double> expected = {};        // at least
  std::optional<double> expected_share = {};  // of the reference, where nobody says otherwise
  std::string unit = {};                      // "GB/s"
};

// Nothing in a field survives that would end it: those two characters are replaced by spaces.
std::string encoded(std::span<const Check> checks);
std::vector<Check> decoded(std::string_view text);

// "64 MiB", "1.5 GiB".
std::string size_text(std::uint64_t bytes);

}  // namespace stepscope::doctor
