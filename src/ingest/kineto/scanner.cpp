// Reads a stretch of the list of events, event by event.
#include "ingest/kineto/scanner.h"

#include <algorithm>

#include "ingest/kineto/event_starts.h"
#include "ingest/kineto/stager.h"
#include "ingest/kineto/text.h"

namespace stepscope::ingest::kineto {
namespace {

using base::Note;

// Text that is given up far from its beginning is read again from the next event on. So much and
// no more, in bytes per byte of the stretch: for brackets that never close it would be the square.
constexpr std::size_t kMostRereads = 16;
constexpr std::size_t kSmallStretch = std::size_t{1} << 20;

std::uint32_t offset_in(const Stretch& stretch, const char* at) {
  return static_cast<std::uint32_t>(at - stretch.begin);
}

ReferenceReader reader_of(const Stretch& stretch) {
  using Behind = ReferenceReader::Behind;
  return {stretch.end, stretch.ends ? Behind::kNothing : Behind::kEvent};
}

}  // namespace

void note_faults(const char* begin, const char* end, std::uint32_t text_at, trace::Shard& shard) {
  const TextFaults faults = faults_of({begin, static_cast<std::size_t>(end - begin)});
  for (std::uint32_t i = 0; i < faults.broken_utf8; ++i) shard.note(Note::kBrokenUtf8, text_at);
  for (std::uint32_t i = 0; i < faults.bad_escapes; ++i) shard.note(Note::kBadEscape, text_at);
}

StretchEnd Scanner::scan(const Stretch& stretch) {
  using Where = StretchEnd::Where;
  const ReferenceReader reader = reader_of(stretch);
  const char* at = stretch.begin;
  reread_bytes_ = 0;
  fast_.forget_window();
  bool wants_comma = false;
  bool after_comma = false;
  while (true) {
    at = reader.skip_space(at);
    if (at >= stretch.end) return {Where::kClean, at};
    if (*at == ']') {
      bool is_cut = false;
      const bool goes_on = reader.list_goes_on(at + 1, is_cut);
      const bool is_in_text = !goes_on && !is_cut && reader.is_in_text(at + 1, is_cut);
      if (is_cut) return {Where::kInEvent, at};
      if (is_in_text) {
        const char* const next = resume_after(at + 1, stretch.end);
        if (next < stretch.end || !stretch.ends) {
          shard_.note(Note::kUnreadableEvent, offset_in(stretch, at));
          shard_.add_entry();
          wants_comma = false;
          at = next;
          continue;
        }
      }
      if (!goes_on) {
        if (after_comma) shard_.note(Note::kStrayComma, offset_in(stretch, at));
        return {Where::kListOver, at + 1};
      }
      shard_.note(Note::kUnreadableEvent, offset_in(stretch, at));
      shard_.add_entry();
      at = reader.skip_space(at + 1);
      at += *at == '}' ? 1 : 0;
      wants_comma = true;
      continue;
    }
    if (*at == ',') {
      if (!wants_comma) shard_.note(Note::kStrayComma, offset_in(stretch, at));
      wants_comma = false;
      after_comma = true;
      ++at;
      continue;
    }
    after_comma = false;
    if (wants_comma) shard_.note(Note::kMissingComma, offset_in(stretch, at));
    if (*at == '[') {
      bool is_cut = false;
      const bool is_stray = opens_nothing(at, stretch, is_cut);
      if (is_cut) return {Where::kInEvent, at};
      if (is_stray) {
        shard_.note(Note::kUnreadableEvent, offset_in(stretch, at));
        shard_.add_entry();
        wants_comma = false;
        ++at;
        continue;
      }
    }
    if (!reference_only_ && *at == '{') {
      const char* const after = fast_.scan(at, stretch);
      if (after != at) {
        at = after;
        wants_comma = true;
        continue;
      }
    }
    const char* const next = entry(at, stretch);
    if (next == nullptr) return {Where::kInEvent, at};
    // Text that could not be read ends where the next event begins, after its comma.
    wants_comma = !gave_up_;
    at = next;
  }
}

bool Scanner::may_reread(const Stretch& stretch) const {
  const auto size = static_cast<std::size_t>(stretch.end - stretch.begin);
  return reread_bytes_ <= kMostRereads * std::max(size, kSmallStretch);
}

// Whether a '[' between events is one too many: it begins no list that ends before the list of
// events does. What follows it is read then; else it would swallow all of that.
bool Scanner::opens_nothing(const char* at, const Stretch& stretch, bool& is_cut) {
  ReferenceReader reader = reader_of(stretch);
  if (!reader.event_follows(at + 1, is_cut)) return false;
  if (!may_reread(stretch)) return true;
  Token token{};
  Oddities odd;
  const Reading reading = reader.value(at, ReferenceReader::Place::kListItem, token, odd);
  is_cut = reading.outcome == Outcome::kIncomplete;
  if (is_cut) return false;
  const bool is_entry =
      reading.outcome == Outcome::kDone && reader.goes_on_behind_entry(reading.next, is_cut);
  if (is_entry || is_cut) return false;
  reread_bytes_ += static_cast<std::size_t>(reading.next - at);
  return true;
}

const char* Scanner::entry(const char* at, const Stretch& stretch) {
  ReferenceReader reader = reader_of(stretch);
  const std::uint32_t text_at = offset_in(stretch, at);
  gave_up_ = false;
  Oddities odd;
  Reading reading{};
  if (*at == '{') {
    draft_.reset(text_at);
    reading = reader.event(at, draft_, odd);
  } else {
    Token token{};
    reading = reader.value(at, ReferenceReader::Place::kListItem, token, odd);
    // A word that means nothing is an entry (NaN) only if it stands alone: else it begins a line of
    // rubbish, which is not an entry a word.
    if (reading.outcome == Outcome::kDone && token.type == TokenType::kBare) {
      const char* const after = reader.skip_space(reading.next);
      if (after == stretch.end && !stretch.ends) return nullptr;
      const bool alone = after == stretch.end || *after == ',' || *after == ']';
      if (!alone) reading.outcome = Outcome::kUnreadable;
    }
    // A member without its object, as where a bracket is missing or one too many.
    if (reading.outcome == Outcome::kDone && token.type == TokenType::kString) {
      const char* const after = reader.skip_space(reading.next);
      if (after == stretch.end && !stretch.ends) return nullptr;
      const bool is_member = after < stretch.end && *after == ':';
      if (is_member || odd.unescaped_quotes > 0) reading.outcome = Outcome::kUnreadable;
    }
  }
  if (reading.outcome == Outcome::kIncomplete) return nullptr;
  if (reading.outcome == Outcome::kUnreadable) return give_up(at, reading, stretch);
  odd.report([&](Note kind, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) shard_.note(kind, text_at);
  });
  note_faults(at, reading.next, text_at, shard_);
  if (*at == '{') {
    stage(draft_, shard_);
  } else {
    shard_.note(Note::kNotAnObject, text_at);
    shard_.add_entry();
  }
  return reading.next;
}

const char* Scanner::give_up(const char* at, const Reading& reading, const Stretch& stretch) {
  gave_up_ = true;
  const std::uint32_t text_at = offset_in(stretch, at);
  if (stretch.ends && reading.next >= stretch.end) {
    shard_.note(Note::kTruncated, text_at, "inside an event");
    return stretch.end;
  }
  shard_.note(Note::kUnreadableEvent, text_at);
  shard_.add_entry();
  const char* const next = resume_after(at + 1, stretch.end);
  if (next < reading.next) reread_bytes_ += static_cast<std::size_t>(reading.next - next);
  if (may_reread(stretch)) return next;
  return resume_after(std::max(reading.next, at + 1), stretch.end);
}

}  // namespace stepscope::ingest::kineto
