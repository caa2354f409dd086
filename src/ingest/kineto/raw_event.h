// One event while it is being read. Both readers fill a RawEvent; what it becomes is decided in one
// place (stager.h), so they cannot disagree about meaning.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "ingest/kineto/keys.h"

namespace stepscope::ingest::kineto {

enum class TokenType : std::uint8_t {
  kString,
  kNumber,
  kTrue,
  kFalse,
  kNull,
  kBare,
  kObject,
  kArray
};

// A value as it stands in the text; of a string, what is between the quotes.
struct Token {
  TokenType type;
  std::string_view text;
};

inline constexpr std::uint32_t kUnknownId = 0xffffffff;

template <class... Args>
constexpr std::uint64_t bits_of(Args... args) {
  return ((std::uint64_t{1} << static_cast<unsigned>(args)) | ...);
}

// The arguments that say what an operator was called with, in the order of trace::Signature.
inline constexpr std::uint64_t kInputs =
    bits_of(Arg::kInputDims, Arg::kInputTypes, Arg::kInputStrides, Arg::kConcreteInputs);
inline std::size_t input_number(Arg arg) {
  return static_cast<std::size_t>(arg) - static_cast<std::size_t>(Arg::kInputDims);
}
inline Arg input_arg(std::size_t number) {
  return static_cast<Arg>(static_cast<std::size_t>(Arg::kInputDims) + number);
}

struct RawEvent {
  std::uint32_t text_at = 0;  // of the event, in its batch
  char phase = 0;             // 0: none given; '?': not a single letter
  bool has_time = false;      // and it is usable
  bool has_duration = false;
  bool time_out_of_range = false;
  bool duration_out_of_range = false;
  bool number_as_text = false;
  bool rounded = false;
  base::Nanos time = 0;
  base::Nanos duration = 0;
  std::string_view name, category, pid, tid, id, scope;
  std::string_view local_id, global_id;  // of id2
  bool has_name = false;
  // The shard's ids of category and track, when the reader has them at hand.
  std::uint32_t category_id = kUnknownId, track_id = kUnknownId;
  // Of its name, and of its category where that is kept as a name: an arrow's.
  std::uint32_t name_id = kUnknownId, category_name_id = kUnknownId;
  // And of what it was called with; its texts are not there then.
  std::uint32_t signature_id = kUnknownId;

  std::uint64_t present = 0;  // bit per Arg
  static_assert(static_cast<std::size_t>(Arg::kCount) < 64);
  // One more than there are: the fast scanner puts there what no one asked for.
  std::array<std::int64_t, static_cast<std::size_t>(Arg::kCount) + 1> integers;
  std::array<double, static_cast<std::size_t>(Arg::kCount)> reals;
  std::array<std::string_view, static_cast<std::size_t>(Arg::kCount)> texts;
  std::vector<std::pair<std::string_view, double>> series;  // numeric arguments, for counters
  bool series_as_text = false;

  void reset(std::uint32_t at) {
    text_at = at;
    phase = 0;
    has_time = has_duration = time_out_of_range = duration_out_of_range = false;
    number_as_text = rounded = has_name = false;
    time = duration = 0;
    name = category = pid = tid = id = scope = local_id = global_id = {};
    category_id = track_id = name_id = category_name_id = signature_id = kUnknownId;
    forget_args();
  }
  void forget_args() {
    present = 0;
    series.clear();
    series_as_text = false;
  }
  bool has_arg(Arg arg) const { return (present >> static_cast<unsigned>(arg) & 1) != 0; }
  std::int64_t integer(Arg arg, std::int64_t absent = -1) const {
    return has_arg(arg) ? integers[static_cast<std::size_t>(arg)] : absent;
  }
  void set_integer(Arg arg, std::int64_t value) {
    integers[static_cast<std::size_t>(arg)] = value;
    present |= std::uint64_t{1} << static_cast<unsigned>(arg);
  }
  void set_text(Arg arg, std::string_view text) {
    texts[static_cast<std::size_t>(arg)] = text;
    present |= std::uint64_t{1} << static_cast<unsigned>(arg);
  }
};

// A member of the event object, and one of its arguments. The last of two equal keys counts.
void set_field(RawEvent& draft, Field field, const Token& token);
void set_arg(RawEvent& draft, Arg arg, const Token& token);

}  // namespace stepscope::ingest::kineto
