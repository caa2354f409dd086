#include "trace/signatures.h"

#include <cstring>

namespace stepscope::trace {
namespace {

std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  return word;
}

}  // namespace

// From a few bytes of each text, which tell most calls apart.
std::size_t SignaturePool::slot_of(const SignatureTexts& raw) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t hash = 0;
  for (const std::string_view text : raw) {
    hash = (hash ^ text.size()) * kOdd;
    if (text.size() < 8) continue;
    const char* const first = text.data();
    const std::size_t last = text.size() - 8;
    hash ^= load(first + last / 4) * 3 + load(first + last / 2) * 5 + load(first + last) * 7;
  }
  return (hash ^ hash >> 29) * kOdd >> (64 - kSlotBits);
}

bool SignaturePool::is(const Entry& entry, const SignatureTexts& raw) const {
  const std::span<const base::StringPool::Entry> texts = texts_.entries();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool given = raw[i].data() != nullptr;
    if (given != (entry.texts[i] != base::kNoString)) return false;
    if (given && raw[i] != texts[entry.texts[i]].raw) return false;
  }
  return true;
}

SignatureId SignaturePool::find(const SignatureTexts& raw, std::uint64_t position) {
  Entry entry{{}, position};
  for (std::size_t i = 0; i < raw.size(); ++i) {
    entry.texts[i] = raw[i].data() == nullptr ? base::kNoString : texts_.intern(raw[i], position);
  }
  char key[sizeof(entry.texts)];
  std::memcpy(key, entry.texts.data(), sizeof(key));
  const SignatureId id = keys_.intern({key, sizeof(key)}, position);
  if (id == entries_.size()) entries_.push_back(entry);
  return id;
}

}  // namespace stepscope::trace
