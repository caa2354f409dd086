// The turn of the fast scanner: each event by its form, else by the index, which then gives a form.

#include <algorithm>

#include "ingest/kineto/fast.h"
#include "ingest/kineto/scanner.h"
#include "ingest/kineto/stager.h"

namespace stepscope::ingest::kineto {
using fast::is_space;

const char* FastScanner::scan(const char* at, const Stretch& stretch) {
  const char* after = at;
  while (true) {
    const char* next = nullptr;
    if (uses_forms()) next = by_form(at, stretch);
    if (next == nullptr) next = by_index(at, stretch);
    if (next == nullptr) return after;
    after = next;
    // On to the next event, if nothing but a comma stands between.
    while (is_space(*next)) ++next;
    if (*next != ',' || next >= stretch.end) return after;
    ++next;
    while (is_space(*next)) ++next;
    if (*next != '{' || next >= stretch.end) return after;
    at = next;
  }
}

// Anything else may be the rest of a name with quotes in it, or the end of the list: the reference
// reader looks further.
bool FastScanner::may_end_event(const char* after, const Stretch& stretch) {
  while (is_space(*after)) ++after;
  return *after == ',' || *after == ']' || *after == '{' || after >= stretch.end;
}

// Returns the place after the event at `at`, or nullptr where it fits no form.
const char* FastScanner::by_form(const char* at, const Stretch& stretch) {
  const char* const after = forms_.read(at, stretch.end, form_draft_);
  if (after == nullptr || !may_end_event(after, stretch)) return nullptr;
  form_draft_.text_at = static_cast<std::uint32_t>(at - stretch.begin);
  stage(form_draft_, shard_);
  return after;
}

// Of an event that was just staged.
void FastScanner::learn(const EventText& event, bool is_arrow, bool is_op) {
  if (!draft_.has_time) return forms_.lose_track();
  if (is_arrow) {
    draft_.name_id = shard_.flows.back().name;
    draft_.category_name_id = shard_.flows.back().category;
  } else {
    draft_.name_id = shard_.events.back().name;
    if (is_op) draft_.signature_id = shard_.ops.back().signature;
  }
  forms_.learn(event, draft_);
}

std::size_t FastScanner::most_bytes(const char* at, const Stretch& stretch) {
  return std::min(static_cast<std::size_t>(stretch.end - at), kWindowBytes);
}

// Where forms do not help, all of the text is indexed; else as little as one event needs, and more
// where most of it was needed last time or one event was longer.
void FastScanner::index_from(const char* at, const Stretch& stretch) {
  const bool too_short = window_bytes_ != 0 && (at == window_ || 2 * window_read_ > window_bytes_);
  window_goal_ = !uses_forms() ? kWindowBytes
                 : too_short   ? std::min(window_goal_ * 2, kWindowBytes)
                               : kSmallWindow;
  window_bytes_ = std::min(most_bytes(at, stretch), window_goal_);
  window_ = at;
  window_read_ = 0;
  build_index_(at, window_bytes_, *index_);
}

}  // namespace stepscope::ingest::kineto
