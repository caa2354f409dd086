// Writes a log line of a recording as the JSON of an event.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_string.h"
#include "ingest/scope/assembly.h"

namespace stepscope::ingest::scope {
namespace {

std::string json_of(const trace::LogEntry& line) {
  std::string json =
      fmt::format(R"({{"args":{{"level":{},"logger":{})",
                  base::json_string(trace::level_name(line.level)), base::json_string(line.logger));
  if (line.step >= 0) json += fmt::format(R"(,"step":{})", line.step);
  return json + fmt::format(R"(,"text":{}}}}})", base::json_string(line.text));
}

}  // namespace

base::Result<std::string> LogTexts::event(std::uint64_t text_offset) {
  const auto after = std::ranges::upper_bound(blocks_, text_offset, {}, &LogBlock::offset);
  if (after == blocks_.begin()) return std::string("{}");
  const LogBlock& block = *(after - 1);
  const std::uint64_t line = text_offset - block.offset;
  if (line >= block.lines) return std::string("{}");
  return json_of(record_->log[block.first_line + line]);
}

}  // namespace stepscope::ingest::scope
