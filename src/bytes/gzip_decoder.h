// gzip members to text, with ISA-L inflating straight into the caller's buffer. Bad bytes are not
// an error: what can be inflated is delivered, then the stream ends and damage() says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bytes/input_window.h"
#include "bytes/source.h"

struct inflate_state;

namespace stepscope::bytes {

class GzipDecoder {
 public:
  GzipDecoder();
  GzipDecoder(GzipDecoder&&) noexcept;
  ~GzipDecoder();

  // Some text, or 0 at the end. Fails only when the file cannot be read.
  base::Result<std::size_t> read(InputWindow& in, std::span<char> into);
  const std::optional<Damage>& damage() const { return damage_; }

  // What is needed to go on from here, given the rest of the file from the window's position:
  // ISA-L keeps nothing outside its state between calls. Empty between two members.
  bool resumable() const { return stage_ == Stage::kHeader || stage_ == Stage::kMember; }
  std::string save() const;
  void restore(std::string_view saved, std::uint64_t text_offset);

 private:
  enum class Stage : std::uint8_t { kHeader, kMember, kLeftover, kEnd };

  base::Result<bool> open_member(InputWindow& in);
  base::Result<bool> skip_header(InputWindow& in);
  base::Result<std::size_t> inflate(InputWindow& in, std::span<char> into);
  std::size_t stop_at_corruption(int isal_error, std::uint64_t file_offset, std::size_t got);
  std::size_t take_leftover(std::span<char> into);
  void note(std::uint64_t file_offset, std::string what);

  std::unique_ptr<inflate_state> state_;
  Stage stage_ = Stage::kHeader;
  bool first_member_ = true;
  std::uint64_t text_ = 0;  // delivered
  std::optional<Damage> damage_;
};

}  // namespace stepscope::bytes
