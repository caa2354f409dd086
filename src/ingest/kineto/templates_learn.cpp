// How a form is made of an event: its text is cut at the numbers that differ from event to event.
// Which these are is a guess by their names. A wrong one is no mistake: a number taken for fixed
// makes a form for each of its values, one taken for changing costs its reading.

#include <algorithm>
#include <bit>
#include <new>

#include "ingest/kineto/templates.h"

namespace stepscope::ingest::kineto {
namespace {

// What forms may take, of each thread: about what its nearest caches hold.
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
// A longer event is read by the index in no more time than it takes to compare it.
constexpr std::size_t kLongestTemplate = 4096;
constexpr std::size_t kMostOpenings = 32;
// So many forms are learnt before it is asked whether any was needed again, and so many events pass
// by before it is tried anew.
constexpr std::uint32_t kTrial = 1024;
constexpr std::uint32_t kRest = 16384;

// Arguments whose numbers belong to the call, the kernel or the thread.
constexpr std::uint64_t kFixed =
    bits_of(Arg::kDevice, Arg::kContext, Arg::kStream, Arg::kRegisters, Arg::kSharedMemory,
            Arg::kBlocksPerSm, Arg::kWarpsPerSm, Arg::kOccupancy, Arg::kForwardThread,
            Arg::kDeviceType, Arg::kDeviceId, Arg::kPythonModuleId, Arg::kGroupSize,
            Arg::kInElements, Arg::kOutElements, Arg::kRank, Arg::kFlops);
// And those that are not read.
constexpr std::array kFixedUnread = std::to_array<std::string_view>(
    {"queued", "priority", "cbid", "Record function id", "Python thread"});

// `quote` closes the key of the argument.
bool is_fixed(Arg arg, const char* quote) {
  if (arg != Arg::kNone) return (kFixed >> static_cast<unsigned>(arg) & 1) != 0;
  return std::any_of(kFixedUnread.begin(), kFixedUnread.end(), [&](std::string_view key) {
    return std::memcmp(quote - key.size(), key.data(), key.size()) == 0;
  });
}

bool is_number(char c) { return c == '-' || (c >= '0' && c <= '9'); }

const char* number_end(const char* at) {
  while (!fast::ends_number(*at) && *at != '\0') ++at;
  return at;
}

}  // namespace

// The pieces of the event, their texts still its own. False if it is none to make a form of.
bool Templates::cut(const EventText& event, std::vector<Piece>& pieces) {
  const char* from = event.begin();
  int depth = 0;
  bool args_next = false, in_args = false;
  std::uint64_t fields = 0, args = 0;
  // The last of two equal ones counts: that is not for here.
  const auto is_second = [](std::uint64_t& met, auto which, auto none) {
    const std::uint64_t bit = which == none ? 0 : std::uint64_t{1} << static_cast<unsigned>(which);
    const bool second = (met & bit) != 0;
    met |= bit;
    return second;
  };
  const auto make_hole = [&](const char* value, Hole hole, Arg arg = Arg::kNone) {
    pieces.push_back({from, static_cast<std::uint32_t>(value - from), hole, arg});
    from = number_end(value);
  };
  const auto argument = [&](const char* quote, const char* value) {
    const Arg arg = arg_before(quote);
    if (is_second(args, arg, Arg::kNone)) return false;
    if (!is_number(*value) || is_fixed(arg, quote)) return true;
    const ArgType type = type_of(arg);
    if (arg == Arg::kNone) {
      make_hole(value, Hole::kUnread);
    } else if (type == ArgType::kInteger || type == ArgType::kReal) {
      make_hole(value, type == ArgType::kReal ? Hole::kReal : Hole::kInteger, arg);
    }
    return true;
  };
  const auto member = [&](const char* quote, const char* value) {
    const Field field = field_before(quote);
    if (is_second(fields, field, Field::kNone)) return false;
    if (field == Field::kArgs) args_next = *value == '{';
    const bool is_hole = field == Field::kTime || field == Field::kDuration || field == Field::kId;
    if (!is_hole) return true;
    if (!is_number(*value)) return false;
    make_hole(value, field == Field::kTime       ? Hole::kTime
                     : field == Field::kDuration ? Hole::kDuration
                                                 : Hole::kId);
    return true;
  };
  for (const std::uint32_t place : event.places) {
    const char* const mark = event.window + place;
    if (*mark == '{') {
      ++depth;
      in_args = depth == 2 ? args_next : in_args;
      args_next = false;
    } else if (*mark == '}') {
      --depth;
    } else if (depth == 1 || (depth == 2 && in_args)) {
      const char* const value = fast::value_behind(mark);
      if (!(depth == 1 ? member(mark - 1, value) : argument(mark - 1, value))) return false;
    }
  }
  pieces.push_back({from, static_cast<std::uint32_t>(event.end() - from), Hole::kEnd, Arg::kNone});
  return (fields >> static_cast<unsigned>(Field::kTime) & 1) != 0;
}

void Templates::learn(const EventText& read, const RawEvent& draft) {
  const std::string_view event = read.text();
  const bool unknown_call = (draft.present & kInputs) != 0 && draft.signature_id == kUnknownId;
  std::vector<Piece>& pieces = pieces_;
  pieces.clear();
  if (event.size() > kLongestTemplate || unknown_call || !draft.has_time || !cut(read, pieces)) {
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

  Template form;
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
std::uint32_t Templates::same_form(std::uint32_t head, const std::vector<Piece>& pieces) const {
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
bool Templates::take_constants(std::string_view event, const char* kept, const RawEvent& draft,
                               const std::vector<Piece>& pieces, Template& form) {
  const auto keep_text = [&](std::string_view text, std::string_view& mine) {
    if (text.empty()) return true;
    if (text.data() < event.data() || text.data() + text.size() > event.data() + event.size()) {
      return false;
    }
    mine = {kept + (text.data() - event.data()), text.size()};
    return true;
  };
  if (!keep_text(draft.name, form.name) || !keep_text(draft.category, form.category)) return false;
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
    } else if (!keep_text(draft.texts[index], constant.text)) {
      return false;
    }
    constants_.push_back(constant);
    ++form.constants;
  }
  return true;
}

// Whether the form reads its own event as it was read before.
bool Templates::gives_back(const Template& form, std::string_view event, const RawEvent& draft) {
  RawEvent again;
  const char* const begin = event.data();
  const char* const end = begin + event.size();
  if (fits(form, begin, end, again) != end) return false;
  if (again.time != draft.time || again.duration != draft.duration || again.id != draft.id) {
    return false;
  }
  for (const Piece* piece = form.pieces; piece->hole != Hole::kEnd; ++piece) {
    const auto index = static_cast<std::size_t>(piece->arg);
    if (piece->arg == Arg::kNone) continue;
    if (!draft.has_arg(piece->arg)) return false;
    const bool same = piece->hole == Hole::kReal ? again.reals[index] == draft.reals[index]
                                                 : again.integers[index] == draft.integers[index];
    if (!same) return false;
  }
  return true;
}

}  // namespace stepscope::ingest::kineto
