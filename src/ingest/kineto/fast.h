// The fast scanner. Traces are regular: nearly all of their text is keys, small numbers and short
// strings. An index (index.h) of each window names the places that matter: the colon of every key
// and every brace; only those are visited. An event whose text is not well-formed, or that holds
// anything this scanner does not know, is left to the reference reader.
//
// What costs is not reading but guessing: a branch that goes a different way for every event takes
// as long as fifty bytes of text. So events whose members come in one of the orders that Kineto
// writes are read by straight code, and arguments by code that does the same for all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ingest/kineto/fast_numbers.h"
#include "ingest/kineto/index.h"
#include "ingest/kineto/raw_event.h"
#include "ingest/kineto/templates.h"
#include "trace/stage.h"

namespace stepscope::ingest::kineto {

struct Stretch;

// Bytes that must be readable on both sides of a stretch.
inline constexpr std::size_t kPadding = 128;

class FastScanner {
 public:
  explicit FastScanner(trace::Shard& shard, bool with_forms = true)
      : shard_(shard),
        build_index_(best_build_index()),
        index_(std::make_unique_for_overwrite<Index>()),
        with_forms_(with_forms) {}

  // Reads events from `at`, which is a '{', as far as they are plain. Returns the place after the
  // last one read, or `at` when not even the first could be.
  const char* scan(const char* at, const Stretch& stretch);

  // Another stretch follows, perhaps in the same place.
  void forget_window() { window_bytes_ = 0; }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  static constexpr std::size_t kSmallWindow = 1024;

  // Where `at` is in the index at hand. An event that was left to the reference reader is no reason
  // to make a new one: in some traces it is every second.
  std::size_t place_of(const char* at) const {
    if (window_bytes_ == 0 || at < window_ || at >= window_ + index_->sound) return kNowhere;
    const bool comes_next =
        next_place_ < index_->count && window_ + index_->places[next_place_] == at;
    if (comes_next) return next_place_;
    const std::uint32_t* const begin = index_->places.data();
    const std::uint32_t* const end = begin + index_->count;
    const auto offset = static_cast<std::uint32_t>(at - window_);
    const std::uint32_t* const found = std::lower_bound(begin, end, offset);
    return found != end && *found == offset ? static_cast<std::size_t>(found - begin) : kNowhere;
  }

  // What became of an event: read, cut by the end of the window, or not for this scanner.
  enum class Met : std::uint8_t { kEvent, kWindowEnd, kStrange };

  bool uses_forms() const { return with_forms_ && forms_.awake(); }
  static bool may_end_event(const char* after, const Stretch& stretch);
  const char* by_form(const char* at, const Stretch& stretch);
  const char* by_index(const char* at, const Stretch& stretch);
  void index_from(const char* at, const Stretch& stretch);
  static std::size_t most_bytes(const char* at, const Stretch& stretch);
  void learn(const EventText& event, bool is_arrow, bool is_op);
  Met event(std::size_t& place);
  Met any_event(std::size_t& place);
  template <Field... kOrder>
  bool members(const std::uint32_t* places);
  template <Field kField>
  bool member(const char* colon);
  template <Field kField>
  bool follows_value(const char* colon) const;
  template <Field kField>
  bool next_member(const char* colon) {
    return follows_value<kField>(colon) && member<kField>(colon);
  }
  bool may_open(std::size_t place) const;
  Met rest_of_args(std::size_t& place);
  Arg known_argument(const char* colon);
  bool argument(const char* colon, std::size_t& next);
  void lists(Arg arg, const char* colon, std::size_t& next);
  bool other_argument(Arg arg, const char* at);
  void find_track();
  void find_category();
  bool find_signature();
  void remember_call(std::size_t ops_before);
  const char* list_end(std::uint32_t next) const;
  const char* quote_before(const char* quote) const;
  bool may_be_range();
  bool text_value(const char* at, Token& token) const;
  bool is_sound(std::uint32_t begin, std::uint32_t end) const;
  bool has_escaped_key(std::size_t place, std::size_t end) const;
  bool has_one_value_each(std::size_t place, std::size_t end) const;
  bool ends_value(const char* mark, const char* stop) const;
  bool closes_list(const char* open, const char* close) const;
  std::int32_t balance_at(std::uint32_t offset) const;
  bool has_odd(std::uint32_t begin, std::uint32_t end) const;

  // The last track, and a few categories, by their text: both repeat from event to event.
  struct TrackMemo {
    std::uint64_t pid = 0, tid = 0;
    std::uint32_t id = kUnknownId;
  };
  struct CategoryMemo {
    std::uint64_t first = 0, last = 0;
    std::size_t size = 0;
    std::uint32_t id = kUnknownId;
  };

  // A list that says what an operator was called with: where it begins, and the place after its
  // key.
  struct List {
    const char* begin = nullptr;
    std::uint32_t next = 0;
  };
  // What a call was, by the stretch of text from its first list to the end of its last.
  struct CallMemo {
    std::uint64_t hash = 0;
    std::string text;
    std::array<std::uint32_t, 4> starts{};  // of its lists, from that of the text
    std::uint32_t id = kUnknownId;
  };

  // What the eight bytes before a key's end mean.
  struct ArgMemo {
    std::uint64_t raw = 0;
    Arg arg = Arg::kNone;
  };

  trace::Shard& shard_;
  BuildIndex build_index_;
  std::unique_ptr<Index> index_;
  bool with_forms_;
  const char* window_ = nullptr;
  std::size_t window_bytes_ = 0;  // 0: there is none
  std::size_t window_goal_ = 0;
  std::size_t window_read_ = 0;      // how much of it was needed
  std::size_t next_place_ = 0;       // after those of the event read last
  bool args_next_ = false;           // the brace to come opens the arguments
  const char* value_end_ = nullptr;  // after the value read last, when that is known
  std::array<TrackMemo, 4> track_memos_;
  std::array<CategoryMemo, 16> category_memos_;
  std::array<ArgMemo, 512> arg_memos_;
  std::array<List, 4> lists_;  // of this event, by input_number()
  const char* first_list_ = nullptr;
  std::uint32_t last_list_ = 0;  // the place after the key of the last one
  Arg last_list_arg_ = Arg::kInputDims;
  std::array<ArgMemo, 4> list_after_;  // which list followed last time, by input_number()
  std::vector<CallMemo> call_memos_;   // made for the first call
  std::size_t new_call_ = kNowhere;    // among them, not yet staged
  FastTime fast_time_;
  Templates forms_;
  RawEvent draft_;
  RawEvent form_draft_;  // of events that fit a form: most of it stays as it is
};

// Tells the shard about broken UTF-8 and bad escapes in an event's text.
void note_faults(const char* begin, const char* end, std::uint32_t text_at, trace::Shard& shard);

}  // namespace stepscope::ingest::kineto
