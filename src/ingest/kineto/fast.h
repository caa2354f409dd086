// The fast scanner. Traces are regular: nearly all of their text is keys, small numbers and short
// strings. 64 bytes at a time are turned into bit masks (quotes, braces, what is outside strings);
// from them come the places that matter: the end of every key and every brace. Only those are
// visited. The same masks prove that the text between them is well-formed; an event that is not, or
// that holds anything this scanner does not know, is left to the careful reader.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/kineto/draft.h"
#include "trace/stage.h"

namespace stepscope::ingest::kineto {

struct Stretch;

// Bytes that must be readable on both sides of a stretch.
inline constexpr std::size_t kPadding = 128;

class FastScanner {
 public:
  explicit FastScanner(trace::Lane& lane) : lane_(lane) {}

  // Reads events from `at`, which is a '{', as far as they are plain. Returns the place behind the
  // last one read, or `at` when not even the first could be.
  const char* scan(const char* at, const Stretch& stretch);

 private:
  trace::Lane& lane_;
  Draft draft_;
};

// Tells the lane about broken UTF-8 and bad escapes in an event's text.
void note_faults(const char* begin, const char* end, std::uint32_t text_at, trace::Lane& lane);

}  // namespace stepscope::ingest::kineto
