// Reads a trace document: finds the event list, keeps what stands around it.
#include "ingest/kineto/document.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "ingest/damage.h"
#include "ingest/kineto/event_starts.h"
#include "ingest/kineto/text.h"

namespace stepscope::ingest::kineto {
namespace {

using base::Code;
using base::Done;
using base::Note;

// Of all values that are not known here: they are kept for export and for people. What ranks there
// are, which is one of the others, takes megabytes in large jobs.
constexpr std::size_t kMostUnknown = kLongestEvent;

// Looked for after a value that is no JSON.
constexpr std::size_t kLongestKey = 4096;
constexpr std::string_view kEvents = "traceEvents";
// Values that were read in vain, before only the events are looked for: each may have taken all of
// the text.
constexpr std::size_t kMostRereads = std::size_t{16} << 20;
constexpr std::array<std::string_view, 8> kHeaderKeys = {
    kEvents,     "schemaVersion",   "deviceProperties", "distributedInfo", "baseTimeNanoseconds",
    "traceName", "displayTimeUnit", "host_name"};

bool is_header_key(std::string_view name) {
  return std::find(kHeaderKeys.begin(), kHeaderKeys.end(), name) != kHeaderKeys.end();
}

// Whether a key of the header stands in what seems to be a value.
bool holds_header_key(std::string_view text) {
  for (const std::string_view key : kHeaderKeys) {
    const std::string quoted = fmt::format("\"{}\"", key);
    for (std::size_t at = 0; (at = text.find(quoted, at)) != std::string_view::npos; ++at) {
      const std::size_t next = text.find_first_not_of(" \n\r\t", at + quoted.size());
      if (next != std::string_view::npos && text[next] == ':') return true;
    }
  }
  return false;
}

// The first bytes as a person can read them.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 16)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace

base::Result<bool> DocumentReader::more() {
  if (ended_) return false;
  if (is_too_long()) {
    return base::fail(Code::kLimit,
                      fmt::format("{}:{}: a value longer than {} MiB; expected its end",
                                  feed_.source().name(), offset(), kLongestEvent >> 20));
  }
  text_offset_ += at_;
  text_.erase(0, at_);
  at_ = 0;
  // A value that does not end in what is held is looked at from its beginning again: twice as much
  // each time, so that a long one is not walked over once for every block.
  const std::size_t wanted = std::min(2 * text_.size(), kLongestEvent + 1);
  bool any = false;
  do {
    SCOPE_TRY(const bool got, feed_.append_to(text_));
    ended_ = !got;
    any |= got;
  } while (!ended_ && text_.size() < wanted);
  return any;
}

base::Result<char> DocumentReader::peek() {
  while (true) {
    at_ = static_cast<std::size_t>(reader().skip_space(here()) - text_.data());
    if (at_ < text_.size()) return text_[at_];
    SCOPE_TRY(const bool got, more());
    if (!got) return '\0';
  }
}

base::Failure DocumentReader::unexpected(std::string_view expected) const {
  return base::fail(Code::kFormat,
                    fmt::format("{}:{}: expected {}, found \"{}\"", feed_.source().name(), offset(),
                                expected, shown(std::string_view(text_).substr(at_))));
}

// A file is cut once, however many of its parts miss their ends.
void DocumentReader::note_cut(std::string_view where) {
  const auto& batches = out_.events.batches;
  const auto is_told = [](const base::ImportLog& log) {
    return log.count(Note::kTruncated) + log.count(Note::kEndlessEvent) != 0;
  };
  const bool is_known =
      is_told(out_.log) ||
      std::ranges::any_of(batches, [&](const trace::Batch& batch) { return is_told(batch.log); });
  if (!is_known) out_.log.add(Note::kTruncated, offset(), where);
}

// What follows the events cannot be read: they are kept all the same.
base::Status DocumentReader::give_up(std::string_view expected) {
  if (!has_events_) return unexpected(expected);
  if (at_ == text_.size()) {
    note_cut("behind the events");
  } else {
    out_.log.add(Note::kUnreadableEvent, offset(), "behind the events");
  }
  return Done{};
}

// What is left of the text, as a note tells it. An error in it is none of the trace.
DocumentReader::Rest DocumentReader::skip_rest() {
  Rest rest;
  const std::uint64_t from = offset();
  while (true) {
    rest.has_json |= text_.find_first_of("{[", at_) != std::string::npos;
    at_ = text_.size();
    if (offset() - from > kLongestEvent) {
      rest.size = fmt::format("more than {} MiB", kLongestEvent >> 20);
      return rest;
    }
    const base::Result<bool> got = more();
    if (!got || !*got) break;
  }
  rest.size = fmt::format("{} bytes", offset() - from);
  return rest;
}

// Text after the end of the document is another document, or the end was none: a stray bracket.
// Or it is nothing of ours.
base::Status DocumentReader::note_text_behind() {
  while (true) {
    SCOPE_TRY(const char c, peek());
    if (c == '\0') return Done{};
    if (c != ',' && c != ']' && c != '}') break;
    ++at_;
  }
  if (*here() == '"') return give_up({});  // of an event
  const std::uint64_t from = offset();
  const Rest rest = skip_rest();
  out_.log.add(rest.has_json ? Note::kMoreBehind : Note::kWordsBehind, from, rest.size);
  return Done{};
}

base::Result<Document> DocumentReader::read() {
  SCOPE_TRY(more());
  if (std::string_view(text_).starts_with("\xef\xbb\xbf")) at_ = 3;
  SCOPE_TRY(const char first, peek());
  if (first == '\0') {
    return base::fail(Code::kFormat,
                      fmt::format("{}: empty; expected a trace in JSON", feed_.source().name()));
  }
  if (first == '[') {
    out_.header.bare_array = true;
    SCOPE_TRY(read_list());
    SCOPE_TRY(note_text_behind());
  } else if (first == '{') {
    SCOPE_TRY(read_object());
  } else {
    return unexpected("a trace in JSON, which begins with { or [, or a memory snapshot of torch");
  }
  note_damage(feed_.source(), out_.log);
  return std::move(out_);
}

// A header that cannot be read from there on, and no events after it.
base::Failure DocumentReader::ends_in_header(std::uint64_t text_offset) const {
  const std::string damage = damage_text(feed_.source());
  return base::fail(
      Code::kFormat,
      fmt::format("{}:{}: ends before any event; expected \"traceEvents\" behind this place: {}",
                  feed_.source().name(), text_offset,
                  damage.empty() ? "the file is cut in its header, damaged, or no trace" : damage));
}

base::Status DocumentReader::read_object() {
  ++at_;
  bool after_comma = false;
  while (true) {
    SCOPE_TRY(const char c, peek());
    if (c == '\0') {
      if (!has_events_) return ends_in_header(offset());
      note_cut("behind the events");
      return Done{};
    }
    if (c == '}') {
      if (after_comma) out_.log.add(Note::kStrayComma, offset());
      SCOPE_TRY(const std::size_t stray, stray_brackets());
      if (stray != 0) out_.log.add(Note::kUnreadableMetadata, offset());
      at_ += stray == 0 ? 1 : stray;
      if (stray == 0) {
        SCOPE_TRY(const bool goes_on, finds_events());
        if (!goes_on) break;
      }
    } else if (c == ',') {
      ++at_;
    } else if (c == '"') {
      SCOPE_TRY(const bool goes_on, read_key());
      if (!goes_on) return Done{};
    } else if (!has_member_) {
      return give_up("the name of a key");
    } else {
      SCOPE_TRY(skip_broken_value({}));
    }
    after_comma = c == ',';
  }
  if (!has_events_ && no_list_at_) {
    return base::fail(Code::kFormat,
                      fmt::format("{}:{}: \"traceEvents\" is not a list; expected [ and events",
                                  feed_.source().name(), *no_list_at_));
  }
  if (!has_events_ && out_.log.count(Note::kUnreadableMetadata) != 0) {
    return ends_in_header(out_.log[Note::kUnreadableMetadata].offset);
  }
  if (!has_events_) {
    return base::fail(
        Code::kFormat,
        fmt::format("{}: JSON, but not a trace: it has no \"traceEvents\"", feed_.source().name()));
  }
  return note_text_behind();
}

// How much from `at_` on is brackets that close nothing: other keys follow.
base::Result<std::size_t> DocumentReader::stray_brackets() {
  while (true) {
    bool is_cut = false;
    const char* next = here();
    while (next < reader().end() && (*next == '}' || *next == ']' || *next == ')')) {
      next = reader().skip_space(next + 1);
    }
    const auto size = static_cast<std::size_t>(next - here());
    const bool has_comma = next < reader().end() && *next == ',';
    if (has_comma) next = reader().skip_space(next + 1);
    is_cut = next == reader().end() && !ended_;
    const bool is_key =
        has_comma && next < reader().end() && *next == '"' && reader().is_key_at(next, is_cut);
    if (!is_cut || is_too_long()) return is_key ? size : 0;
    SCOPE_TRY(more());
  }
}

// The place after a text at `at_` that is neither a key nor a value of one; 0 where none is.
std::size_t DocumentReader::behind_stray_text() const {
  const char* const close = closing_quote(here(), reader().end());
  if (close == reader().end() || *close != '"') return 0;
  const char* const next = reader().skip_space(close + 1);
  const bool is_alone = next < reader().end() && (*next == ',' || *next == '}');
  return is_alone ? static_cast<std::size_t>(close + 1 - text_.data()) : 0;
}

// A key and its value. False where nothing can be read after it.
base::Result<bool> DocumentReader::read_key() {
  Token key{};
  Oddities odd;
  Reading reading{Outcome::kIncomplete, nullptr};
  while (reading.outcome == Outcome::kIncomplete) {
    if (const std::size_t after = behind_stray_text(); after != 0) {
      out_.log.add(Note::kUnreadableMetadata, offset());
      at_ = after;
      return true;
    }
    odd = {};
    reading = reader().string(here(), ReferenceReader::Place::kKey, key, odd);
    if (reading.outcome == Outcome::kIncomplete) SCOPE_TRY(more());
  }
  if (reading.outcome != Outcome::kDone) {
    const bool is_cut = reading.next == reader().end();
    if (is_cut && !has_events_) return ends_in_header(offset());
    if (is_cut) at_ = text_.size();
    SCOPE_TRY(give_up("a key in quotes, then a colon"));
    return false;
  }
  const std::string name = decode(key.text);
  at_ = static_cast<std::size_t>(reading.next - text_.data());
  SCOPE_TRY(const char colon, peek());
  if (colon == '\0' && !has_events_) return ends_in_header(offset());
  if (colon != ':') {
    SCOPE_TRY(give_up("a colon behind a key"));
    return false;
  }
  ++at_;
  has_member_ = true;
  SCOPE_TRY(read_member(name));
  return true;
}

// A bracket or a quote that is not closed holds what follows, too. Of what is JSON nothing is
// doubted: users may call their own values as they like.
bool DocumentReader::holds_more(const Reading& reading, const Oddities& odd) const {
  const bool is_last = ended_ && reader().skip_space(reading.next) == reader().end();
  const bool is_doubtful = is_last || odd.unescaped_quotes > 0 || is_too_long();
  return is_doubtful && holds_header_key({here(), reading.next});
}

// With what follows it, as far as that tells whether it is a value.
base::Result<Reading> DocumentReader::whole_value(Token& token, Oddities& odd) {
  while (true) {
    odd = {};
    Reading reading = reader().value(here(), ReferenceReader::Place::kHeader, token, odd);
    bool is_cut = false;
    if (reading.outcome == Outcome::kDone && !reader().header_value_ends(reading.next, is_cut)) {
      reading.outcome = Outcome::kUnreadable;
    }
    if (holds_more(reading, odd)) reading.outcome = Outcome::kUnreadable;
    if (reading.outcome == Outcome::kUnreadable && !is_cut) return reading;
    if (reading.outcome == Outcome::kDone && !is_cut) return reading;
    if (has_events_ && is_too_long()) return reading;
    SCOPE_TRY(more());
  }
}

base::Status DocumentReader::read_member(const std::string& name) {
  SCOPE_TRY(const char first, peek());
  if (name == "traceEvents" && first == '[') return read_list();
  if (name == "traceEvents") no_list_at_ = offset();
  Token token{};
  Oddities odd;
  SCOPE_TRY(const Reading reading, whole_value(token, odd));
  if (reading.outcome == Outcome::kDone && has_events_ && ended_ &&
      reading.next == reader().end()) {
    note_cut("behind the events");
    at_ = text_.size();
    return Done{};
  }
  if (reading.outcome == Outcome::kIncomplete) return skip_long_value(name);
  if (reading.outcome != Outcome::kDone) {
    reread_bytes_ += static_cast<std::size_t>(reading.next - here());
    return skip_broken_value(name);
  }
  const std::string_view value(here(), static_cast<std::size_t>(reading.next - here()));
  const std::size_t unknown = is_header_key(name) ? 0 : value.size();
  if (unknown_bytes_ + unknown > kMostUnknown) {
    out_.log.add(Note::kMetadataTooLarge, offset(), name);
  } else if (!header_.take(name, value)) {
    out_.log.add(Note::kUnreadableMetadata, offset(), name);
  } else {
    unknown_bytes_ += unknown;
    odd.report([&](Note kind, std::uint32_t count) {
      if (count > 0) out_.log.add(kind, offset(), name, count);
    });
  }
  at_ += value.size();
  return Done{};
}

// Whether the header goes on at the quote at `at_`, with a key that is wanted. Text is fetched
// until that is known.
base::Result<bool> DocumentReader::goes_on_at_key(Wanted wanted) {
  bool is_cut = false;
  bool is_key = reader().is_key_at(here(), is_cut);
  while (is_cut && text_.size() - at_ <= kLongestKey) {
    SCOPE_TRY(more());
    is_cut = false;
    is_key = reader().is_key_at(here(), is_cut);
  }
  const std::string_view name = text_in_quotes(here(), reader().end());
  if (!is_key || name.size() > kLongestKey) return false;
  if (wanted == Wanted::kEvents || reread_bytes_ > kMostRereads) return name == kEvents;
  return wanted == Wanted::kAny || is_header_key(name);
}

// A user may put anything into the header. Goes on at the next key that begins a line, that headers
// have or that stands outside of all brackets; at the end of the document; or at the events.
base::Status DocumentReader::skip_broken_value(std::string_view name) {
  const std::uint64_t from = offset();
  std::int64_t open = 0;
  bool begins_line = false;
  bool after_comma = false;
  while (true) {
    SCOPE_TRY(const bool has_text, at_ < text_.size() ? base::Result<bool>(true) : more());
    if (!has_text) {
      if (!has_events_) return ends_in_header(from);
      note_cut("behind the events");
      break;
    }
    const char c = *here();
    if (is_space(c)) {
      begins_line |= c == '\n';
      ++at_;
      continue;
    }
    if (c == '"') {
      const bool is_outside = begins_line || (after_comma && open <= 0);
      SCOPE_TRY(const bool goes_on, goes_on_at_key(is_outside    ? Wanted::kAny
                                                   : after_comma ? Wanted::kOfHeaders
                                                                 : Wanted::kEvents));
      if (goes_on) break;
    }
    if (c == '}' && (begins_line || open <= 0)) break;
    if (c == '{' || c == '[' || c == '(') ++open;
    if ((c == '}' || c == ']' || c == ')') && open > 0) --open;
    begins_line = false;
    after_comma = c == ',';
    ++at_;
  }
  out_.log.add(Note::kUnreadableMetadata, from, name);
  return Done{};
}

// Whether the events come after the end of a damaged header: what seemed to end it may stand
// within one of its values. After a true end there may be nothing, or another document.
base::Result<bool> DocumentReader::finds_events() {
  if (has_events_) return false;
  const std::uint64_t end = offset();
  const bool is_damaged = out_.log.count(Note::kUnreadableMetadata) != 0;
  SCOPE_TRY(const char next, peek());
  if (!is_damaged && (next == '\0' || next == '{')) return false;
  while (true) {
    SCOPE_TRY(const bool has_text, at_ < text_.size() ? base::Result<bool>(true) : more());
    if (!has_text) return false;
    if (*here() == '"') {
      SCOPE_TRY(const bool is_found, goes_on_at_key(Wanted::kEvents));
      if (is_found && !is_damaged) out_.log.add(Note::kUnreadableMetadata, end);
      if (is_found) return true;
    }
    ++at_;
  }
}

// One that is too long to be held: its end is where its brackets are closed.
base::Status DocumentReader::skip_long_value(std::string_view name) {
  out_.log.add(Note::kMetadataTooLarge, offset(), name);
  std::int64_t open = 0;
  bool in_string = false;
  while (true) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (in_string) {
        if (c == '\\' && at_ + 1 == text_.size()) break;  // with what it escapes
        if (c == '\\') ++at_;
        in_string = c != '"';
        continue;
      }
      if (open == 0 && (c == ',' || c == '}')) return Done{};
      in_string = c == '"';
      if (c == '{' || c == '[') ++open;
      if (c == '}' || c == ']') --open;
    }
    SCOPE_TRY(const bool got, more());
    if (got) continue;
    at_ = text_.size();
    note_cut("behind the events");
    return Done{};
  }
}

// Events are read as they come, and the list before is already taken.
base::Status DocumentReader::skip_second_list() {
  Token token{};
  Oddities odd;
  Reading reading = reader().value(here(), ReferenceReader::Place::kHeader, token, odd);
  while (reading.outcome == Outcome::kIncomplete) {
    SCOPE_TRY(more());
    reading = reader().value(here(), ReferenceReader::Place::kHeader, token, odd);
  }
  if (reading.outcome != Outcome::kDone) return skip_broken_value({});
  out_.log.add(Note::kMoreBehind, offset(), fmt::format("{} bytes", reading.next - here()));
  at_ = static_cast<std::size_t>(reading.next - text_.data());
  return Done{};
}

base::Status DocumentReader::read_list() {
  if (has_events_) return skip_second_list();
  ++at_;
  has_events_ = true;
  feed_.put_back(text_.substr(at_));
  text_.clear();
  SCOPE_TRY(out_.events, read_events(feed_, options_));
  text_ = std::move(out_.events.rest);
  text_offset_ = out_.events.closed ? out_.events.rest_offset : feed_.text_read();
  at_ = 0;
  ended_ = !out_.events.closed;
  if (ended_) {
    if (out_.header.bare_array) {
      out_.log.add(Note::kNoClosingBracket, offset());
    } else {
      note_cut("inside the list of events");
    }
  }
  return Done{};
}

}  // namespace stepscope::ingest::kineto
