#include "bytes/text_checks.h"

#include <algorithm>
#include <limits>

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): xxHash's name
#include <xxhash.h>

namespace stepscope::bytes {

namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kSumOfNothing = 0x51d8e999;

}  // namespace

struct TextChecks::State {
  XXH64_state_t sum;

  State() { reset(); }
  void reset() { XXH64_reset(&sum, 0); }
};

TextChecks::TextChecks() : state_(std::make_unique<State>()) {}
TextChecks::~TextChecks() = default;

void TextChecks::begin(std::uint64_t text_offset) {
  const std::lock_guard lock(mutex_);
  parts_.push_back({text_offset, kUnknown, 0, 0});
}

void TextChecks::end(std::uint64_t text_offset, std::uint64_t file_offset, std::uint32_t sum) {
  const std::lock_guard lock(mutex_);
  Part& part = parts_.back();
  part = {part.begin, text_offset, file_offset, sum};
  // A file may have millions without text, one behind the other. The first that is wrong is told.
  if (!part.is_empty()) return;
  const bool is_told = parts_.size() > 1 && parts_[parts_.size() - 2].is_empty();
  if (sum == kSumOfNothing || is_told) parts_.pop_back();
}

Damage TextChecks::damage_of(const Part& part) {
  return {part.end, part.file_offset, "zstd checksum does not match"};
}

// Compares those of which all text was added, and returns the next.
TextChecks::Part TextChecks::first_open() {
  const std::lock_guard lock(mutex_);
  while (!parts_.empty() && parts_.front().end <= added_to_) {
    const Part& part = parts_.front();
    // The file has the lower half of it.
    const bool is_right = static_cast<std::uint32_t>(XXH64_digest(&state_->sum)) == part.sum;
    if (!is_right && !damage_) damage_ = damage_of(part);
    state_->reset();
    parts_.pop_front();
  }
  return parts_.empty() ? Part{kUnknown, kUnknown, 0, 0} : parts_.front();
}

void TextChecks::pass(std::string_view& text, std::uint64_t bytes) {
  const std::size_t count = std::min<std::uint64_t>(bytes, text.size());
  text.remove_prefix(count);
  added_to_ += count;
}

void TextChecks::add(std::uint64_t text_offset, std::string_view text) {
  if (text_offset > added_to_) {
    first_open();  // what is complete is no part of what was left out
    added_to_ = text_offset;
  } else {
    text.remove_prefix(std::min<std::uint64_t>(added_to_ - text_offset, text.size()));
  }
  while (!text.empty()) {
    const Part part = first_open();
    if (part.begin > added_to_) {  // no sum counts what is before it
      pass(text, part.begin - added_to_);
      continue;
    }
    const std::string_view of_part = text.substr(0, part.end - added_to_);
    XXH64_update(&state_->sum, of_part.data(), of_part.size());
    pass(text, of_part.size());
  }
}

std::optional<Damage> TextChecks::damage(std::uint64_t text_bytes) {
  const Part open = first_open();
  if (damage_ || open.end > text_bytes) return damage_;
  return damage_of(open);  // text that was never added
}

}  // namespace stepscope::bytes
