// Reads events through the index, and leaves unusual ones to the reference reader.
#include "ingest/kineto/fast.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ingest/kineto/fast_members.h"
#include "ingest/kineto/fast_numbers.h"
#include "ingest/kineto/scanner.h"
#include "ingest/kineto/stager.h"

namespace stepscope::ingest::kineto {
using fast::is_space;

// Returns the place after the event at `at`, or nullptr where it cannot be read.
[[gnu::flatten]] const char* FastScanner::by_index(const char* at, const Stretch& stretch) {
  std::size_t place = place_of(at);
  if (place == kNowhere) {
    index_from(at, stretch);
    place = 0;
  }
  const std::size_t first = place;
  draft_.reset(static_cast<std::uint32_t>(at - stretch.begin));
  const Met met = place < index_->count ? event(place) : Met::kWindowEnd;
  if (met == Met::kStrange) return nullptr;
  if (met == Met::kWindowEnd) {
    // The next window begins with the event. If this one did too, the event is too long for a
    // window; and text that is not sound is the reference reader's.
    if (index_->sound < window_bytes_) return nullptr;
    if (at == window_ && window_bytes_ == most_bytes(at, stretch)) return nullptr;
    index_from(at, stretch);
    return by_index(at, stretch);
  }
  const std::uint32_t begin = index_->places[first];
  const std::uint32_t end = index_->places[place - 1] + 1;
  if (!is_sound(begin, end) || !has_one_value_each(first, place)) return nullptr;
  const bool odd = index_->any_odd && has_odd(begin, end);
  if (odd && has_escaped_key(first, place)) return nullptr;
  // The quotes of a name may have ended it before its time.
  if (!draft_.has_time && draft_.phase != 'M') return nullptr;
  if (!may_end_event(window_ + end, stretch)) return nullptr;
  const bool is_arrow = draft_.phase == 's' || draft_.phase == 't' || draft_.phase == 'f';
  if (draft_.has_time) {
    // The category of an arrow is a name like others.
    if (!is_arrow) find_category();
    if (may_be_range()) return nullptr;
    find_track();
    if ((draft_.present & kInputs) != 0 && !find_signature()) return nullptr;
  }
  if (odd) note_faults(window_ + begin, window_ + end, draft_.text_at, shard_);
  const std::size_t ops_before = shard_.ops.size();
  stage(draft_, shard_);
  if (new_call_ != kNowhere) remember_call(ops_before);
  next_place_ = place;
  window_read_ += end - begin;
  if (!uses_forms()) {
    forms_.rest();
  } else if (odd) {
    forms_.lose_track();
  } else {
    learn({window_, {&index_->places[first], place - first}}, is_arrow,
          shard_.ops.size() != ops_before);
  }
  return window_ + end;
}

bool FastScanner::is_sound(std::uint32_t begin, std::uint32_t end) const {
  return end <= index_->sound && balance_at(begin) == balance_at(end);
}

std::int32_t FastScanner::balance_at(std::uint32_t offset) const {
  const std::uint32_t word = offset / 64;
  const std::uint64_t below = (std::uint64_t{1} << (offset % 64)) - 1;
  return index_->balance[word] + 2 * std::popcount(index_->open_brackets[word] & below) -
         std::popcount(index_->brackets[word] & below);
}

bool FastScanner::has_odd(std::uint32_t begin, std::uint32_t end) const {
  std::uint64_t odd = 0;
  for (std::uint32_t word = begin / 64; word <= (end - 1) / 64; ++word) odd |= index_->odd[word];
  return odd != 0;
}

// The orders in which Kineto writes the members of its spans, arrows and instants.
FastScanner::Met FastScanner::event(std::size_t& place) {
  using enum Field;
  const std::uint32_t* const places = &index_->places[place];
  const std::size_t left = index_->count - place;
  if (left >= 10) {
    if (difference<kId>(window_ + places[2]) == 0) {
      if (members<kPhase, kId, kPid, kTid, kTime, kCategory, kName>(places)) {
        // "bp" may follow; its value is no concern.
        const std::size_t last = window_[places[8]] == ':' ? 9 : 8;
        const bool is_over = last == 8 || field_before(window_ + places[8] - 1) == Field::kNone;
        const char then = behind_space(value_end_);
        if (is_over && window_[places[last]] == '}' && then == (last == 8 ? '}' : ',') &&
            is_plain_phase(draft_.phase)) {
          place += last + 1;
          return Met::kEvent;
        }
      }
    } else {
      const bool is_span = difference<kName>(window_ + places[3]) == 0;
      const bool known =
          is_span ? members<kPhase, kCategory, kName, kPid, kTid, kTime, kDuration, kArgs>(places)
                  : members<kPhase, kCategory, kNone, kName, kPid, kTid, kTime, kArgs>(places);
      if (known && window_[places[9]] == '{' && args_next_) {
        place += 10;
        return rest_of_args(place);
      }
    }
    draft_.reset(draft_.text_at);
  }
  return any_event(place);
}

// Reads the members if their keys are the given ones, in this order. False if not, or if a value is
// out of the ordinary.
template <Field... kOrder>
bool FastScanner::members(const std::uint32_t* places) {
  std::size_t at = 1;
  std::uint64_t different = 0;
  ((different |= difference<kOrder>(window_ + places[at++])), ...);
  for (std::size_t i = 1; i <= sizeof...(kOrder); ++i) {
    different |= static_cast<std::uint64_t>(window_[places[i]] ^ ':');
  }
  if (different != 0) return false;
  at = 1;
  value_end_ = window_ + places[0] + 1;
  bool fine = true;
  ((fine = fine && next_member<kOrder>(window_ + places[at++])), ...);
  return fine;
}

// Whether nothing but a comma stands between the value before and this key, and nothing at all
// before the first.
template <Field kField>
bool FastScanner::follows_value(const char* colon) const {
  if (value_end_ == nullptr) return true;
  const char* at = value_end_;
  if (at[-1] != '{') {
    while (is_space(*at)) [[unlikely]]
      ++at;
    if (*at != ',') return false;
    ++at;
  }
  at += *at == ' ' ? 1 : 0;
  while (is_space(*at)) ++at;
  return at == colon - name_of(kField).size() - 2;
}

template <Field kField>
bool FastScanner::member(const char* colon) {
  const char* const at = value_behind(colon);
  if constexpr (kField == Field::kNone) {
    value_end_ = nullptr;
    return true;
  } else if constexpr (kField == Field::kTime) {
    const FastNumber time = fast_time_(at);
    value_end_ = time.next;
    draft_.time = time.value;
    draft_.has_time = true;
    return time.next != nullptr;
  } else if constexpr (kField == Field::kDuration) {
    const FastNumber time = fast_time_(at);
    value_end_ = time.next;
    draft_.duration = time.value;
    draft_.has_duration = true;
    return time.next != nullptr;
  } else if constexpr (kField == Field::kPhase) {
    draft_.phase = at[1];
    value_end_ = at + 3;
    return at[0] == '"' && at[2] == '"' && at[1] != '\\';
  } else if constexpr (kField == Field::kArgs) {
    draft_.forget_args();
    value_end_ = nullptr;
    args_next_ = *at == '{';
    return true;
  } else {
    Token token{};
    if (!text_value(at, token)) return false;
    value_end_ = token.text.data() + token.text.size() + (token.type == TokenType::kString ? 1 : 0);
    if constexpr (kField == Field::kName) {
      draft_.name = token.text;
      draft_.has_name = true;
    } else if constexpr (kField == Field::kCategory) {
      draft_.category = token.text;
    } else if constexpr (kField == Field::kPid) {
      draft_.pid = token.text;
    } else if constexpr (kField == Field::kTid) {
      draft_.tid = token.text;
    } else if constexpr (kField == Field::kId) {
      draft_.id = token.text;
    } else {
      draft_.scope = token.text;
    }
    return true;
  }
}

void FastScanner::find_track() {
  const std::uint64_t pid = word_of(draft_.pid);
  const std::uint64_t tid = word_of(draft_.tid);
  TrackMemo& memo = track_memos_[(pid ^ tid) * 0x9e3779b97f4a7c15 >> 62];
  if (memo.pid != pid || memo.tid != tid || pid == 0 || tid == 0) {
    memo = {pid, tid, shard_.track(draft_.pid, draft_.tid, draft_.text_at)};
  }
  draft_.track_id = memo.id;
}

void FastScanner::find_category() {
  const std::string_view text = draft_.category;
  const std::size_t size = text.size();
  // The closing quote and colon follow it, so eight bytes can be read even of a short one.
  const std::uint64_t first =
      size == 0 ? 0 : fast::load(&text.front()) << (size >= 8 ? 0 : 64 - 8 * size);
  const std::uint64_t last = size >= 8 ? fast::load(&text[size - 8]) : 0;
  CategoryMemo& memo = category_memos_[(first + last) * 0x9e3779b97f4a7c15 >> 60];
  if (memo.size != size || memo.first != first || memo.last != last || size > 16) {
    memo = {first, last, size, shard_.category(text, draft_.text_at)};
  }
  draft_.category_id = memo.id;
}

// The arguments of the range profiler's events are counters, of any name.
bool FastScanner::may_be_range() {
  if (draft_.category_id == kUnknownId) return false;  // there is none
  const trace::Kind kind = shard_.category_kind(draft_.category_id);
  return kind == trace::Kind::kProfilerRange ||
         (kind == trace::Kind::kOther && draft_.category.find('\\') != std::string_view::npos);
}

// Whether an object at this place is the value of the key before it. Lists of objects are the
// reference reader's, and an event that misses its end must not swallow the next one.
bool FastScanner::may_open(std::size_t place) const {
  const char* const before = window_ + index_->places[place - 1];
  return *before == ':' && value_behind(before) == window_ + index_->places[place];
}

// The arguments from their first on, up to the end of the event.
FastScanner::Met FastScanner::rest_of_args(std::size_t& place) {
  std::size_t at = place;
  int depth = 2;
  while (at < index_->count) {
    const char* const mark = window_ + index_->places[at++];
    if (*mark == ':') {
      if (depth == 2 && !argument(mark, at)) return Met::kStrange;
      // A member after the arguments: seldom, and read in any order.
      if (depth == 1) {
        draft_.reset(draft_.text_at);
        place -= 10;
        return any_event(place);
      }
    } else if (*mark == '{') {
      if (!may_open(at - 1) || ++depth >= kMostNested) return Met::kStrange;
    } else {
      // After the arguments comes the end.
      if (depth == 1 && behind_space(window_ + index_->places[at - 2] + 1) != '}') {
        return Met::kStrange;
      }
      if (--depth == 0) {
        place = at;
        return is_plain_phase(draft_.phase) ? Met::kEvent : Met::kStrange;
      }
    }
  }
  return Met::kWindowEnd;
}

// Visits the places of one event in whatever order they come, from its opening brace on. `place`
// ends up after its last one.
FastScanner::Met FastScanner::any_event(std::size_t& place) {
  int depth = 0;
  bool in_args = false;
  args_next_ = false;
  value_end_ = nullptr;
  std::size_t at = place;
  while (at < index_->count) {
    const char* const mark = window_ + index_->places[at++];
    if (*mark == ':') {
      if (depth == 2 && in_args && !argument(mark, at)) return Met::kStrange;
      if (depth != 1) continue;
      bool fine = true;
      switch (field_before(mark - 1)) {
        case Field::kPhase:
          fine = next_member<Field::kPhase>(mark);
          break;
        case Field::kCategory:
          fine = next_member<Field::kCategory>(mark);
          break;
        case Field::kName:
          fine = next_member<Field::kName>(mark);
          break;
        case Field::kPid:
          fine = next_member<Field::kPid>(mark);
          break;
        case Field::kTid:
          fine = next_member<Field::kTid>(mark);
          break;
        case Field::kTime:
          fine = next_member<Field::kTime>(mark);
          break;
        case Field::kDuration:
          fine = next_member<Field::kDuration>(mark);
          break;
        case Field::kArgs:
          fine = next_member<Field::kArgs>(mark);
          break;
        case Field::kId:
          fine = next_member<Field::kId>(mark);
          break;
        case Field::kScope:
          fine = next_member<Field::kScope>(mark);
          break;
        case Field::kNone:
          fine = value_end_ == nullptr || value_end_[-1] == '{' || behind_space(value_end_) == ',';
          value_end_ = nullptr;
          break;
      }
      if (!fine) return Met::kStrange;
    } else if (*mark == '{') {
      if (depth != 0 && !may_open(at - 1)) return Met::kStrange;
      if (++depth >= kMostNested) return Met::kStrange;
      if (depth == 2) in_args = args_next_;
      args_next_ = false;
      value_end_ = depth == 1 ? mark + 1 : nullptr;
    } else {
      if (value_end_ != nullptr && behind_space(value_end_) != '}') return Met::kStrange;
      value_end_ = nullptr;
      if (--depth == 0) {
        place = at;
        return is_plain_phase(draft_.phase) ? Met::kEvent : Met::kStrange;
      }
    }
  }
  return Met::kWindowEnd;
}

// A string or a whole number at `at`; a string's end is looked up, not searched.
bool FastScanner::text_value(const char* at, Token& token) const {
  if (*at == '"') {
    const auto open = static_cast<std::uint32_t>(at - window_);
    std::uint32_t word = open / 64;
    if (word >= kWindowWords || open >= index_->sound) return false;
    // Two shifts each way: one by 64 is not defined.
    std::uint64_t quotes = index_->quotes[word] >> (open % 64) >> 1 << 1 << (open % 64);
    while (quotes == 0) {
      ++word;
      const bool is_over = static_cast<std::size_t>(word) * 64 >= index_->sound;
      if (word >= kWindowWords || is_over) return false;
      quotes = index_->quotes[word];
    }
    const char* const close = window_ + word * 64 + std::countr_zero(quotes);
    token = {TokenType::kString, {at + 1, static_cast<std::size_t>(close - at - 1)}};
    return true;
  }
  const char* end = at + (*at == '-' ? 1 : 0);
  const unsigned digits = fast::digits_in(fast::load(end));
  end += digits;
  if (digits == 8) {
    while (*end >= '0' && *end <= '9') ++end;
  }
  if (digits == 0 || !fast::ends_number(*end)) return false;
  token = {TokenType::kNumber, {at, static_cast<std::size_t>(end - at)}};
  return true;
}

// Which argument stands before a colon, by the eight bytes before it: in one trace these come in a
// few dozen forms.
Arg FastScanner::known_argument(const char* colon) {
  const std::uint64_t raw = fast::load(colon - 9);
  ArgMemo& memo = arg_memos_[raw * 0x9e3779b97f4a7c15 >> 55];
  if (memo.raw != raw) {
    const Arg arg = arg_before(colon - 1);
    // Eight bytes that end a known key may end an unknown one too; only if they end none is it
    // sure.
    if (arg == Arg::kNone && may_end_argument(colon - 1)) return arg;
    memo = {raw, arg};
    return arg;
  }
  return memo.arg == Arg::kNone || begins_argument(memo.arg, colon - 1) ? memo.arg
                                                                        : arg_before(colon - 1);
}

// `next` is the place after the colon's, and is moved on where more was read.
bool FastScanner::argument(const char* colon, std::size_t& next) {
  const Arg arg = known_argument(colon);
  if (arg == Arg::kNone) return true;
  const char* const at = value_behind(colon);
  if (type_of(arg) == ArgType::kList && *at == '[') {
    lists(arg, colon, next);
    return true;
  }
  if (type_of(arg) != ArgType::kInteger) return other_argument(arg, at);
  const FastNumber number = fast_integer(at);
  if (number.next == nullptr) return other_argument(arg, at);
  draft_.set_integer(arg, number.value);
  return true;
}

// A list that says what an operator was called with, and those after it: they come in the same
// order nearly always.
void FastScanner::lists(Arg arg, const char* colon, std::size_t& next) {
  if ((draft_.present & kInputs) == 0) {
    first_list_ = value_behind(colon);
  } else if (next == last_list_ + 1) {
    list_after_[input_number(last_list_arg_)] = {fast::load(colon - 9), arg};
  }
  while (true) {
    lists_[input_number(arg)] = {value_behind(colon), static_cast<std::uint32_t>(next)};
    draft_.set_text(arg, {});
    last_list_arg_ = arg;
    last_list_ = static_cast<std::uint32_t>(next);
    if (next == index_->count) return;
    const ArgMemo& after = list_after_[input_number(arg)];
    colon = window_ + index_->places[next];
    if (*colon != ':' || fast::load(colon - 9) != after.raw ||
        !begins_argument(after.arg, colon - 1) || *value_behind(colon) != '[') {
      return;
    }
    arg = after.arg;
    ++next;
  }
}

bool FastScanner::other_argument(Arg arg, const char* at) {
  Token token{};
  if (*at == '"' && type_of(arg) == ArgType::kList) return false;
  if (*at == '[') {
    // Lists worth reading are short and hold no lists or strings: the first bracket ends them.
    const char* end = at + 1;
    while (*end != ']' && *end != '[' && *end != '"' && *end != '\0') ++end;
    if (*end != ']') return false;
    token = {TokenType::kArray, {at, static_cast<std::size_t>(end + 1 - at)}};
  } else if (*at == 'n') {
    token = {TokenType::kNull, {}};  // the parent id of the outermost Python call
  } else if (type_of(arg) == ArgType::kReal && *at != '"') {
    const char* end = at;
    while (!fast::ends_number(*end) && *end != '\0') ++end;
    if (*end == '\0' || (*at != '-' && (*at < '0' || *at > '9'))) return false;
    token = {TokenType::kNumber, {at, static_cast<std::size_t>(end - at)}};
  } else if (!text_value(at, token)) {
    return false;
  }
  set_arg(draft_, arg, token);
  return true;
}

}  // namespace stepscope::ingest::kineto
