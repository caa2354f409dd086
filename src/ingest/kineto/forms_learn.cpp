// How a form is made of an event: its text is cut at the numbers that differ from event to event.
// Which these are is a guess by their names. A wrong one is no mistake: a number taken for fixed
// makes a form for each of its values, one taken for changing costs its reading.

#include <algorithm>
#include <bit>
#include <new>

#include "ingest/kineto/forms.h"

namespace stepscope::ingest::kineto {
namespace {

// What forms may take, of each thread: about what its nearest caches hold.
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
// A longer event is read by the index in no more time than it takes to compare it.
constexpr std::size_t kLongestForm = 4096;
constexpr std::size_t kMostOpenings = 32;
// So many forms are learnt before it is asked whether any was needed again, and so many events pass
// by before it is tried anew.
constexpr std::uint32_t kTrial = 1024;
constexpr std::uint32_t kRest = 16384;

// Arguments whose numbers belong to the call, the kernel or the thread.
constexpr std::array kFixed = std::to_array<std::string_view>({
    "device",
    "context",
    "stream",
    "queued",
    "priority",
    "registers per thread",
    "shared memory",
    "blocks per SM",
    "warps per SM",
    "est. achieved occupancy %",
    "theoretical occupancy %",
    "cbid",
    "Record function id",
    "Fwd thread id",
    "Device Type",
    "Device Id",
    "Python module id",
    "Python thread",
    "Group size",
    "In msg nelems",
    "Out msg nelems",
    "Rank",
    "flops",
});

bool is_fixed(std::string_view key) {
  return std::find(kFixed.begin(), kFixed.end(), key) != kFixed.end();
}

bool is_number(char c) { return c == '-' || (c >= '0' && c <= '9'); }

// Walks over an event that was proven well-formed and holds no backslash.
struct Cursor {
  const char* at;
  const char* end;

  void space() {
    while (at < end && fast::is_space(*at)) ++at;
  }
  // Behind the string that begins here.
  void string() {
    const char* const quote = std::find(at + 1, end, '"');
    at = quote == end ? end : quote + 1;
  }
  std::string_view key() {
    const char* const begin = at;
    string();
    return at - begin < 2 ? std::string_view{}
                          : std::string_view(begin + 1, static_cast<std::size_t>(at - begin - 2));
  }
  void container() {
    int depth = 0;
    while (at < end) {
      if (*at == '"') {
        string();
        continue;
      }
      depth += *at == '{' || *at == '[' ? 1 : 0;
      depth -= *at == '}' || *at == ']' ? 1 : 0;
      ++at;
      if (depth == 0) return;
    }
  }
  void value() {
    if (at >= end) return;
    if (*at == '"') return string();
    if (*at == '{' || *at == '[') return container();
    while (at < end && !fast::ends_number(*at)) ++at;
  }
  // At the next member's key, or false behind the closing brace.
  bool member() {
    while (at < end && *at != '"' && *at != '}') ++at;
    if (at < end && *at == '"') return true;
    at += at < end ? 1 : 0;
    return false;
  }
  void colon() {
    at = std::find(at, end, ':');
    at += at < end ? 1 : 0;
    space();
  }
};

}  // namespace

// The pieces of the event, their texts still its own. False if it is none to make a form of.
bool Forms::cut(std::string_view event, std::vector<Piece>& pieces) const {
  const char* const end = event.data() + event.size();
  const char* from = event.data();
  Cursor cursor{from + 1, end};
  std::uint32_t fields = 0;
  std::uint64_t args = 0;
  const auto make_hole = [&](Hole hole, Arg arg) {
    const char* const value = cursor.at;
    cursor.value();
    pieces.push_back({from, static_cast<std::uint32_t>(value - from), hole, arg});
    from = cursor.at;
  };
  const auto read_args = [&] {
    ++cursor.at;
    while (cursor.member()) {
      const std::string_view key = cursor.key();
      cursor.colon();
      if (cursor.at >= end) return false;
      const Arg arg = arg_of(key);
      if (arg != Arg::kNone) {
        // The last of two equal ones counts: that is not for here.
        const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(arg);
        if ((args & bit) != 0) return false;
        args |= bit;
      }
      const ArgType type = type_of(arg);
      const bool may_differ = is_number(*cursor.at) && !is_fixed(key);
      if (may_differ && arg == Arg::kNone) {
        make_hole(Hole::kUnread, arg);
      } else if (may_differ && (type == ArgType::kInteger || type == ArgType::kReal)) {
        make_hole(type == ArgType::kReal ? Hole::kReal : Hole::kInteger, arg);
      } else {
        cursor.value();
      }
    }
    return true;
  };
  while (cursor.member()) {
    const Field field = field_of(cursor.key());
    cursor.colon();
    if (cursor.at >= end) return false;
    const std::uint32_t bit = 1U << static_cast<unsigned>(field);
    if (field != Field::kNone && (fields & bit) != 0) return false;
    fields |= bit;
    if (field == Field::kTime) {
      make_hole(Hole::kTime, Arg::kNone);
    } else if (field == Field::kDuration) {
      make_hole(Hole::kDuration, Arg::kNone);
    } else if (field == Field::kId) {
      if (!is_number(*cursor.at)) return false;
      make_hole(Hole::kId, Arg::kNone);
    } else if (field == Field::kArgs && *cursor.at == '{') {
      if (!read_args()) return false;
    } else {
      cursor.value();
    }
  }
  pieces.push_back({from, static_cast<std::uint32_t>(end - from), Hole::kEnd, Arg::kNone});
  return cursor.at == end && (fields & (1U << static_cast<unsigned>(Field::kTime))) != 0;
}

void Forms::learn(std::string_view event, const Draft& draft) {
  const bool unknown_call = (draft.present & kInputs) != 0 && draft.signature_id == kUnknownId;
  std::vector<Piece> pieces;
  if (event.size() > kLongestForm || unknown_call || !draft.has_time || !cut(event, pieces)) {
    return lose_track();
  }
  if (++learnt_ == kTrial) {
    const bool is_worth_it = found_ >= learnt_;
    learnt_ = found_ = 0;
    if (!is_worth_it) resting_ = kRest;
    if (!is_worth_it) return forget();
  }
  if (kept_bytes_ > kMostBytes) forget();
  std::uint32_t head = head_of(event.data(), event.data() + event.size());
  const std::uint32_t known = head == kNone ? kNone : same_form(head, pieces);
  if (known != kNone) return followed_by(known);

  // The pieces stand right before their text.
  const std::size_t piece_bytes = pieces.size() * sizeof(Piece);
  char* const at = keep(piece_bytes + event.size());
  char* const text = at + piece_bytes;
  std::memcpy(text, event.data(), event.size());
  for (Piece& piece : pieces) piece.text = text + (piece.text - event.data());
  std::memcpy(at, pieces.data(), piece_bytes);

  Form form;
  form.pieces = std::launder(reinterpret_cast<const Piece*>(at));
  if (!take_constants(event, text, draft, pieces, form)) return lose_track();
  if (head == kNone) {
    if (openings_.size() == kMostOpenings) return lose_track();
    // Up to the name, if that comes before the first hole.
    const std::string_view first(pieces[0].text, pieces[0].size);
    const bool named = form.has_name && form.name.data() > first.data() &&
                       form.name.data() + form.name.size() < first.data() + first.size();
    const auto size = static_cast<std::size_t>(form.name.data() - first.data());
    openings_.push_back({named ? first.substr(0, size) : first, named});
    head = head_of(event.data(), event.data() + event.size());
    if (head == kNone) return lose_track();
  }
  if (!gives_back(form, event, draft)) return lose_track();
  form.sibling = heads_[head];
  heads_[head] = static_cast<std::uint32_t>(forms_.size());
  forms_.push_back(form);
  followed_by(heads_[head]);
}

// The form with these pieces, where its prediction failed and more than a few others came first.
std::uint32_t Forms::same_form(std::uint32_t head, const std::vector<Piece>& pieces) const {
  const auto same = [](const Piece& a, const Piece& b) {
    return a.hole == b.hole && a.arg == b.arg &&
           std::string_view(a.text, a.size) == std::string_view(b.text, b.size);
  };
  std::uint32_t number = heads_[head];
  for (; number != kNone; number = forms_[number].sibling) {
    const Piece* other = forms_[number].pieces;
    const bool equal = std::all_of(pieces.begin(), pieces.end(),
                                   [&](const Piece& piece) { return same(piece, *other++); });
    if (equal) break;
  }
  return number;
}

// Everything that the draft has and no hole gives. `kept` is the form's copy of the event's text.
bool Forms::take_constants(std::string_view event, const char* kept, const Draft& draft,
                           const std::vector<Piece>& pieces, Form& form) {
  const auto own = [&](std::string_view text, std::string_view& mine) {
    if (text.empty()) return true;
    if (text.data() < event.data() || text.data() + text.size() > event.data() + event.size()) {
      return false;
    }
    mine = {kept + (text.data() - event.data()), text.size()};
    return true;
  };
  if (!own(draft.name, form.name) || !own(draft.category, form.category)) return false;
  form.phase = draft.phase;
  form.has_duration = draft.has_duration;
  form.has_name = draft.has_name;
  form.name_id = draft.name_id;
  form.category_name_id = draft.category_name_id;
  form.category_id = draft.category_id;
  form.track_id = draft.track_id;
  form.signature_id = draft.signature_id;
  form.present = draft.present;
  std::uint64_t left = draft.present & ~kInputs;  // those are known by their signature
  for (const Piece& piece : pieces) {
    if (piece.arg != Arg::kNone) left &= ~(std::uint64_t{1} << static_cast<unsigned>(piece.arg));
  }
  form.first_constant = static_cast<std::uint32_t>(constants_.size());
  for (; left != 0; left &= left - 1) {
    const auto arg = static_cast<Arg>(std::countr_zero(left));
    const auto index = static_cast<std::size_t>(arg);
    Constant constant{};
    constant.arg = arg;
    constant.type = type_of(arg);
    if (constant.type == ArgType::kInteger || constant.type == ArgType::kTruth) {
      constant.integer = draft.integers[index];
    } else if (constant.type == ArgType::kReal) {
      constant.real = draft.reals[index];
    } else if (!own(draft.texts[index], constant.text)) {
      return false;
    }
    constants_.push_back(constant);
    ++form.constants;
  }
  return true;
}

// Whether the form reads its own event as it was read before.
bool Forms::gives_back(const Form& form, std::string_view event, const Draft& draft) {
  Draft again;
  const char* const begin = event.data();
  const char* const end = begin + event.size();
  if (fits(form, begin, end, again) != end) return false;
  if (again.time != draft.time || again.duration != draft.duration || again.id != draft.id) {
    return false;
  }
  for (const Piece* piece = form.pieces; piece->hole != Hole::kEnd; ++piece) {
    const auto index = static_cast<std::size_t>(piece->arg);
    if (piece->arg == Arg::kNone) continue;
    if (!draft.has(piece->arg)) return false;
    const bool same = piece->hole == Hole::kReal ? again.reals[index] == draft.reals[index]
                                                 : again.integers[index] == draft.integers[index];
    if (!same) return false;
  }
  return true;
}

}  // namespace stepscope::ingest::kineto
