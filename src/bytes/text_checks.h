// Checksums of text, compared apart from decompressing it: zstd's take a seventh of the time that
// it takes, and who decompresses is whom all others wait for.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "bytes/source.h"

namespace stepscope::bytes {

class TextChecks {
 public:
  TextChecks();
  ~TextChecks();

  // By whoever decompresses: here begins text with a sum, before anybody has any of it,
  void begin(std::uint64_t text_offset);
  // and here it ends, before anybody has the text behind it. `file_offset` is behind its sum.
  void end(std::uint64_t text_offset, std::uint64_t file_offset, std::uint32_t sum);

  // By whoever has the text, one thread at a time: all of it, in its order. What was added before
  // is passed over; a sum of text that was left out is wrong.
  void add(std::uint64_t text_offset, std::string_view text);

  // The first sum that is not the text's, of those that end in so much text.
  std::optional<Damage> damage(std::uint64_t text_bytes);

 private:
  struct Part {
    std::uint64_t begin, end, file_offset;
    std::uint32_t sum;

    bool is_empty() const { return begin == end; }
  };
  struct State;

  static Damage damage_of(const Part& part);
  Part first_open();
  void pass(std::string_view& text, std::uint64_t bytes);

  std::mutex mutex_;
  std::deque<Part> parts_;  // not compared yet; only the last may be without its end
  std::optional<Damage> damage_;

  std::uint64_t added_to_ = 0;
  std::unique_ptr<State> state_;  // of the first part
};

}  // namespace stepscope::bytes
