// What a recording's events say beyond their columns, as the JSON other readers find in a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trace/process_record.h"
#include "trace/trace.h"

namespace stepscope::ingest::scope {

// Log lines have arguments; everything else is in the columns.
class LogTexts final : public trace::SourceText {
 public:
  explicit LogTexts(std::shared_ptr<const trace::ProcessRecord> record)
      : record_(std::move(record)) {}
  // The lines of a block follow each other, in the file and in the record.
  void add_block(std::uint64_t offset, std::size_t first_line, std::size_t lines) {
    blocks_.push_back({offset, first_line, lines});
  }
  base::Result<std::string> event(std::uint64_t text_offset) override;

 private:
  struct LogBlock {
    std::uint64_t offset;
    std::size_t first_line, lines;
  };
  std::shared_ptr<const trace::ProcessRecord> record_;
  std::vector<LogBlock> blocks_;  // by offset
};

}  // namespace stepscope::ingest::scope
