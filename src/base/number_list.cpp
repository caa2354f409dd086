// Lists of numbers and ranges as the user writes them.
#include "base/number_list.h"

#include <charconv>
#include <system_error>

namespace stepscope::base {

std::optional<std::vector<std::int64_t>> parse_number_list(std::string_view text) {
  constexpr std::size_t kMost = 1'000'000;
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t first = 0;
    auto parsed = std::from_chars(at, end, first);
    std::int64_t last = first;
    bool good = parsed.ec == std::errc() && first >= 0;
    if (good && parsed.ptr < end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
      good = parsed.ec == std::errc() && last >= first &&
             static_cast<std::uint64_t>(last - first) < kMost - numbers.size();
    }
    if (!good || numbers.size() >= kMost) return std::nullopt;
    // By how many: there may be no number after the last.
    for (std::int64_t i = 0; i <= last - first; ++i) numbers.push_back(first + i);
    if (parsed.ptr == end) return numbers;
    if (*parsed.ptr != ',') return std::nullopt;
    at = parsed.ptr + 1;
  }
}

}  // namespace stepscope::base
