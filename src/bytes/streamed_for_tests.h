// Text that lies as it is, read like text that does not: from its beginning to its end.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "bytes/source_around.h"

namespace stepscope::bytes {

class StreamedForTests final : public SourceAround {
 public:
  using SourceAround::SourceAround;
  bool reads_anywhere() const override { return false; }
};

inline std::unique_ptr<ByteSource> streamed_source(std::string name, std::string file_bytes) {
  return std::make_unique<StreamedForTests>(memory_source(std::move(name), std::move(file_bytes)));
}

}  // namespace stepscope::bytes
