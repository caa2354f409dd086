// Reads a stretch of the event list into a shard, fast where the text is plain and carefully where
// it is not.
#pragma once

#include <cstdint>

#include "ingest/kineto/fast.h"
#include "ingest/kineto/reference_reader.h"
#include "trace/stage.h"

namespace stepscope::ingest::kineto {

struct Stretch {
  const char* begin;
  const char* end;  // kPadding readable bytes stand on both sides
  std::uint64_t text_offset;
  bool ends;  // the file ends with it
};

struct StretchEnd {
  enum class Where : std::uint8_t {
    kClean,     // between two events, at the end of the stretch
    kInEvent,   // `at` begins an event that the stretch does not hold whole
    kListOver,  // `at` is after the bracket that closes the list
  };
  Where where;
  const char* at;
};

class Scanner {
 public:
  // Tests compare the ways: with less than all of them the result is the same, only later.
  enum class Ways : std::uint8_t { kAll, kWithoutTemplates, kReference };
  Scanner(trace::Shard& shard, Ways ways)
      : shard_(shard),
        fast_(shard, ways == Ways::kAll),
        reference_only_(ways == Ways::kReference) {}

  // Fills a batch: begin() and finish() of the shard are the caller's.
  StretchEnd scan(const Stretch& stretch);

 private:
  bool may_reread(const Stretch& stretch) const;
  bool opens_nothing(const char* at, const Stretch& stretch, bool& is_cut);
  // One entry of the list; returns where to go on, or nullptr if the stretch does not hold it
  // whole.
  const char* entry(const char* at, const Stretch& stretch);
  const char* give_up(const char* at, const Reading& reading, const Stretch& stretch);

  trace::Shard& shard_;
  FastScanner fast_;
  bool reference_only_;
  bool gave_up_ = false;  // the last entry could not be read
  std::size_t reread_bytes_ = 0;
  RawEvent draft_;
};

}  // namespace stepscope::ingest::kineto
