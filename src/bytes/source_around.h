// A source that stands before another: whoever derives from it changes what it needs to and leaves
// the rest as it is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bytes/source.h"

namespace stepscope::bytes {

class SourceAround : public ByteSource {
 public:
  explicit SourceAround(std::unique_ptr<ByteSource> inner) : inner_(std::move(inner)) {}

  base::Result<std::size_t> read(std::span<char> into) override { return inner_->read(into); }
  const std::string& name() const override { return inner_->name(); }
  Encoding encoding() const override { return inner_->encoding(); }
  std::uint64_t text_position() const override { return inner_->text_position(); }
  std::uint64_t file_position() const override { return inner_->file_position(); }
  std::optional<std::uint64_t> file_size() const override { return inner_->file_size(); }
  std::optional<Damage> damage() const override { return inner_->damage(); }
  bool reads_anywhere() const override { return inner_->reads_anywhere(); }
  base::Status read_at(std::uint64_t text_offset, std::span<char> into) const override {
    return inner_->read_at(text_offset, into);
  }
  void skip_to(std::uint64_t text_offset) override { inner_->skip_to(text_offset); }
  bool rereadable() const override { return inner_->rereadable(); }
  std::shared_ptr<const SeekIndex> seek_index() const override { return inner_->seek_index(); }

 protected:
  ByteSource& inner() { return *inner_; }
  const ByteSource& inner() const { return *inner_; }

 private:
  std::unique_ptr<ByteSource> inner_;
};

}  // namespace stepscope::bytes
