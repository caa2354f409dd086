// Recognises events whose text was seen before, but for their numbers.
#include "ingest/kineto/templates.h"

#include <algorithm>

#include "ingest/kineto/numbers.h"

namespace stepscope::ingest::kineto {
namespace {

constexpr std::size_t kPageBytes = std::size_t{64} << 10;
constexpr std::size_t kLongestName = 1024;
// Of forms with the same beginning and name: beyond these reading it another way takes less time.
constexpr int kMostTries = 32;

bool same_text(const char* a, const char* b, std::size_t size) {
  if (size > 64) return std::memcmp(a, b, size) == 0;
  if (size >= 8) {
    std::uint64_t different = fast::load(a + size - 8) ^ fast::load(b + size - 8);
    for (std::size_t i = 0; i + 8 < size; i += 8)
      different |= fast::load(a + i) ^ fast::load(b + i);
    return different == 0;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// The place after a number that is not read, or is read as text; nullptr if it is not of the
// ordinary form.
const char* behind_digits(const char* at) {
  const char* const begin = at;
  while (true) {
    const unsigned digits = fast::digits_in(fast::load(at));
    at += digits;
    if (digits != 8) return at == begin ? nullptr : at;
  }
}

const char* behind_number(const char* at) {
  at = behind_digits(at + (*at == '-' ? 1 : 0));
  if (at != nullptr && *at == '.') at = behind_digits(at + 1);
  return at;
}

}  // namespace

Templates::Templates() : heads_(std::size_t{1} << kHeadBits, kNone) {}

const char* Templates::read(const char* at, const char* end, RawEvent& draft) {
  const std::uint32_t far = far_.next();
  if (const char* const after = by_guess(far, at, end, draft)) return after;
  const std::uint32_t near = near_.next();
  if (near != far) {
    if (const char* const after = by_guess(near, at, end, draft)) return after;
  }
  return look_up(at, end, draft);
}

const char* Templates::by_guess(std::uint32_t form, const char* at, const char* end,
                                RawEvent& draft) {
  if (form == kNone) return nullptr;
  const char* const after = fits(forms_[form], at, end, draft);
  if (after != nullptr) found(form, draft);
  return after;
}

void Templates::found(std::uint32_t form, RawEvent& draft) {
  ++found_;
  fill(forms_[form], draft);
  followed_by(form);
}

const char* Templates::fits(const Template& form, const char* at, const char* end,
                            RawEvent& draft) {
  draft.duration = 0;
  draft.id = {};
  for (const Piece* piece = form.pieces;; ++piece) {
    if (static_cast<std::size_t>(end - at) < piece->size) return nullptr;
    if (!same_text(at, piece->text, piece->size)) return nullptr;
    at += piece->size;
    switch (piece->hole) {
      case Hole::kEnd:
        return at;
      case Hole::kTime: {
        const FastNumber time = time_(at);
        if (time.next == nullptr) return nullptr;
        draft.time = time.value;
        at = time.next;
        break;
      }
      case Hole::kDuration: {
        const FastNumber time = duration_(at);
        if (time.next == nullptr) return nullptr;
        draft.duration = time.value;
        at = time.next;
        break;
      }
      case Hole::kInteger: {
        const FastNumber number = fast_integer(at);
        if (number.next == nullptr) return nullptr;
        draft.integers[static_cast<std::size_t>(piece->arg)] = number.value;
        at = number.next;
        break;
      }
      case Hole::kReal: {
        const char* const after = behind_number(at);
        if (after == nullptr) return nullptr;
        const auto value = parse_real({at, static_cast<std::size_t>(after - at)});
        if (!value) return nullptr;
        draft.reals[static_cast<std::size_t>(piece->arg)] = *value;
        at = after;
        break;
      }
      case Hole::kId: {
        const char* const after = behind_digits(at);
        if (after == nullptr) return nullptr;
        draft.id = {at, static_cast<std::size_t>(after - at)};
        at = after;
        break;
      }
      case Hole::kUnread:
        at = behind_number(at);
        if (at == nullptr) return nullptr;
        break;
    }
  }
}

// What all events of the form have in common.
void Templates::fill(const Template& form, RawEvent& draft) const {
  draft.phase = form.phase;
  draft.has_time = true;
  draft.has_duration = form.has_duration;
  draft.name = form.name;
  draft.has_name = form.has_name;
  draft.category = form.category;
  draft.category_id = form.category_id;
  draft.track_id = form.track_id;
  draft.name_id = form.name_id;
  draft.category_name_id = form.category_name_id;
  draft.signature_id = form.signature_id;
  draft.present = form.present;
  const Constant* constant = constants_.data() + form.first_constant;
  for (std::uint32_t i = 0; i < form.constants; ++i, ++constant) {
    const auto arg = static_cast<std::size_t>(constant->arg);
    if (constant->type == ArgType::kInteger || constant->type == ArgType::kTruth) {
      draft.integers[arg] = constant->integer;
    } else if (constant->type == ArgType::kReal) {
      draft.reals[arg] = constant->real;
    } else {
      draft.texts[arg] = constant->text;
    }
  }
}

// Tries the forms with this beginning and name; the one that fits comes first from now on.
const char* Templates::look_up(const char* at, const char* end, RawEvent& draft) {
  const std::uint32_t head = head_of(at, end);
  if (head == kNone) return nullptr;
  std::uint32_t* link = &heads_[head];
  for (int i = 0; i < kMostTries && *link != kNone; ++i) {
    const std::uint32_t number = *link;
    if (const char* const after = fits(forms_[number], at, end, draft)) {
      *link = forms_[number].sibling;
      forms_[number].sibling = heads_[head];
      heads_[head] = number;
      found(number, draft);
      return after;
    }
    link = &forms_[number].sibling;
  }
  return nullptr;
}

std::uint32_t Templates::head_of(const char* at, const char* end) const {
  for (std::size_t i = 0; i < openings_.size(); ++i) {
    const std::string_view text = openings_[i].text;
    if (static_cast<std::size_t>(end - at) < text.size()) continue;
    if (!same_text(at, text.data(), text.size())) continue;
    if (!openings_[i].named) return head_of(i, {});
    const char* const name = at + text.size();
    const std::size_t most = std::min(static_cast<std::size_t>(end - name), kLongestName);
    const void* const quote = std::memchr(name, '"', most);
    if (quote == nullptr) return kNone;
    return head_of(i, {name, static_cast<std::size_t>(static_cast<const char*>(quote) - name)});
  }
  return kNone;
}

// Of the name's size and some of its bytes: forms with the same head are distinguished by trying.
std::uint32_t Templates::head_of(std::size_t opening, std::string_view name) {
  std::uint64_t hash = (name.size() << 8 ^ opening) * 0x9e3779b97f4a7c15;
  const auto add = [&](std::uint64_t word) {
    hash = (hash ^ hash >> 29 ^ word) * 0xbf58476d1ce4e5b9;
  };
  if (name.size() >= 8) {
    for (std::size_t i = 0; i + 8 <= name.size(); i += 8) add(fast::load(name.data() + i));
    add(fast::load(name.data() + name.size() - 8));
  } else {
    for (const char c : name) add(static_cast<unsigned char>(c));
  }
  return static_cast<std::uint32_t>(hash >> (64 - kHeadBits));
}

char* Templates::keep(std::size_t bytes) {
  const std::size_t rounded = (bytes + 15) / 16 * 16;
  if (pages_.empty() || page_used_ + rounded > pages_.back().size()) {
    pages_.emplace_back(std::max(kPageBytes, rounded));
    page_used_ = 0;
  }
  char* const at = pages_.back().data() + page_used_;
  page_used_ += rounded;
  kept_bytes_ += rounded;
  return at;
}

void Templates::forget() {
  forms_.clear();
  constants_.clear();
  openings_.clear();
  pages_.clear();
  std::fill(heads_.begin(), heads_.end(), kNone);
  kept_bytes_ = 0;
  page_used_ = 0;
  far_.forget();
  near_.forget();
}

}  // namespace stepscope::ingest::kineto
