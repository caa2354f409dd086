// What a recording's events say beyond their columns, as the JSON other readers find in a file.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trace/trace.h"
#include "wire/writer.h"

namespace stepscope::ingest::scope {

// Log lines have arguments; everything else is in the columns.
class LogTexts final : public trace::SourceText {
 public:
  void add(std::uint64_t offset, const wire::LogLine& line);
  base::Result<std::string> event(std::uint64_t text_offset) override;

 private:
  std::map<std::uint64_t, std::string> args_;  // by offset
};

// "warning" for 30; the number for what is in between.
std::string level_name(std::int32_t level);

}  // namespace stepscope::ingest::scope
