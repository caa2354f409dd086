// Goes back to the file for the text of an event.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bytes/text_reader.h"
#include "trace/trace.h"

namespace stepscope::ingest::kineto {

class FileText final : public trace::SourceText {
 public:
  // Opens the file again on first use; `kept` replaces it for text that cannot be read twice.
  FileText(std::string path, bytes::Encoding encoding,
           std::shared_ptr<const bytes::SeekIndex> index, std::shared_ptr<bytes::TextReader> kept)
      : path_(std::move(path)),
        encoding_(encoding),
        index_(std::move(index)),
        reader_(std::move(kept)) {}

  base::Result<std::string> event(std::uint64_t text_offset) override;

 private:
  std::optional<std::string> in_window(std::uint64_t text_offset) const;
  base::Status load(std::uint64_t text_offset, std::size_t size);

  std::string path_;
  bytes::Encoding encoding_;
  std::shared_ptr<const bytes::SeekIndex> index_;
  std::shared_ptr<bytes::TextReader> reader_;
  std::string window_;  // text from window_offset_; events are asked for in order
  std::uint64_t window_offset_ = 0;
  bool window_ends_ = false;
};

}  // namespace stepscope::ingest::kineto
