// The rules by which torch's caching allocator rounds sizes and cuts memory.
#include "analysis/memory/allocator/rules.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace stepscope::analysis::allocator {
namespace {

std::optional<Bytes> mib_value(std::string_view conf, std::string_view name) {
  const std::optional<std::string> text = conf_value(conf, name);
  Bytes value = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{} ||
      value <= 0 || value > kNoLimit / kMiB) {
    return std::nullopt;
  }
  return value * kMiB;
}

}  // namespace

Bytes up_to_division(Bytes size, std::int64_t divisions) {
  const auto bits = static_cast<std::uint64_t>(size);
  if (std::has_single_bit(bits)) return size;
  const std::uint64_t below = std::bit_floor(bits);
  const auto step =
      static_cast<Bytes>(below >> (std::bit_width(static_cast<std::uint64_t>(divisions)) - 1));
  return step == 0 ? static_cast<Bytes>(below << 1) : up_to_multiple(size, step);
}

Bytes Rules::segment_for(Bytes rounded_size) const {
  if (is_small(rounded_size)) return kSmallSegment;
  if (rounded_size < kOwnSegment) return large_segment;
  return up_to_multiple(rounded_size, kOwnSegmentStep);
}

std::optional<std::string> conf_value(std::string_view conf, std::string_view name) {
  for (std::size_t at = conf.find(name); at != std::string_view::npos;
       at = conf.find(name, at + 1)) {
    const bool begins = at == 0 || conf[at - 1] == ',' || conf[at - 1] == ' ';
    const std::size_t after = at + name.size();
    if (!begins || after >= conf.size() || conf[after] != ':') continue;
    const std::string_view rest = conf.substr(after + 1);
    return std::string(rest.substr(0, rest.find(',')));
  }
  return std::nullopt;
}

Rules rules_of(const memory::Settings& settings) {
  Rules rules;
  rules.expandable_segments = settings.expandable_segments.value_or(false);
  if (settings.max_split_size && *settings.max_split_size > 0) {
    rules.max_split_size = *settings.max_split_size;
  }
  rules.collect_above = settings.garbage_collection_threshold.value_or(0);
  for (const auto& [mib, parts] : settings.roundup_power2_divisions) {
    if (mib <= 0) continue;
    const int power = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(mib))) - 1;
    if (power < static_cast<int>(rules.divisions.size())) {
      rules.divisions[static_cast<std::size_t>(power)] = parts;
    }
  }
  rules.large_segment = mib_value(settings.conf, "large_segment_size_mb").value_or(kLargeSegment);
  rules.max_unsplit_surplus =
      mib_value(settings.conf, "max_non_split_rounding_mb").value_or(kLargeSegment);
  return rules;
}

}  // namespace stepscope::analysis::allocator
