#include "ingest/scope/log_texts.h"

#include <fmt/format.h>

#include "base/json_string.h"

namespace stepscope::ingest::scope {

std::string level_name(std::int32_t level) {
  switch (level) {
    case 10:
      return "debug";
    case 20:
      return "info";
    case 30:
      return "warning";
    case 40:
      return "error";
    case 50:
      return "critical";
    default:
      return std::to_string(level);
  }
}

void LogTexts::add(std::uint64_t offset, const wire::LogLine& line) {
  std::string json =
      fmt::format(R"({{"args":{{"level":{},"logger":{})", base::json_string(level_name(line.level)),
                  base::json_string(line.logger));
  if (line.step >= 0) json += fmt::format(R"(,"step":{})", line.step);
  json += fmt::format(R"(,"text":{}}}}})", base::json_string(line.text));
  args_.emplace(offset, std::move(json));
}

base::Result<std::string> LogTexts::event(std::uint64_t text_offset) {
  const auto found = args_.find(text_offset);
  return found == args_.end() ? std::string("{}") : found->second;
}

}  // namespace stepscope::ingest::scope
