// Numbers out of text, exactly. Times never pass through a double: 16 digits of microseconds with 3
// decimals do not fit one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace stepscope::ingest::kineto {

struct Time {
  base::Nanos ns = 0;
  bool rounded = false;       // the text had digits below the nanosecond that were not zero
  bool out_of_range = false;  // more than 2^62 ns: 146 years on either side
};

// Decimal microseconds, with or without fraction and exponent. Nothing if the text is no number.
std::optional<Time> parse_time(std::string_view text);

// A whole number: decimal, or 0x…; up to 2^64 - 1, kept as its bits. Accepts "4.0" and "4e3", not
// "4.5". Nothing if it is none or does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);

std::optional<double> parse_real(std::string_view text);

}  // namespace stepscope::ingest::kineto
