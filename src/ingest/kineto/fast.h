// The fast scanner. Traces are regular: nearly all of their text is keys, small numbers and short
// strings. An index (index.h) of each window names the places that matter: the end of every key and
// every brace; only those are visited. An event whose text is not well-formed, or that holds
// anything this scanner does not know, is left to the careful reader.
#pragma once

#include <cstdint>
#include <memory>

#include "ingest/kineto/draft.h"
#include "ingest/kineto/index.h"
#include "trace/stage.h"

namespace stepscope::ingest::kineto {

struct Stretch;

// Bytes that must be readable on both sides of a stretch.
inline constexpr std::size_t kPadding = 128;

class FastScanner {
 public:
  explicit FastScanner(trace::Lane& lane, BuildIndex build_index = best_build_index())
      : lane_(lane), build_index_(build_index), index_(std::make_unique<Index>()) {}

  // Reads events from `at`, which is a '{', as far as they are plain. Returns the place behind the
  // last one read, or `at` when not even the first could be.
  const char* scan(const char* at, const Stretch& stretch);

 private:
  enum class Met : std::uint8_t { kEvent, kWindowEnd, kStrange };

  Met event(std::size_t& place);
  bool field(std::uint32_t quote);
  bool argument(std::uint32_t quote);
  bool text_value(const char* at, Token& token) const;
  bool is_sound(std::uint32_t begin, std::uint32_t end) const;
  bool key_is_escaped(std::uint32_t quote) const;
  std::int32_t balance_at(std::uint32_t offset) const;
  bool has_odd(std::uint32_t begin, std::uint32_t end) const;

  trace::Lane& lane_;
  BuildIndex build_index_;
  std::unique_ptr<Index> index_;
  const char* window_ = nullptr;
  bool args_next_ = false;  // the brace to come opens the arguments
  Draft draft_;
};

// Tells the lane about broken UTF-8 and bad escapes in an event's text.
void note_faults(const char* begin, const char* end, std::uint32_t text_at, trace::Lane& lane);

}  // namespace stepscope::ingest::kineto
