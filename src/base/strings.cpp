#include "base/strings.h"

#include <cstring>

namespace stepscope::base {
namespace {

constexpr std::size_t kPageBytes = 64 * 1024;
constexpr std::size_t kFirstSlots = 1024;

std::uint64_t load(const char* at, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, size);
  return word;
}

__extension__ using Uint128 = unsigned __int128;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

StringTable::StringTable(const std::vector<std::string>& strings) {
  std::size_t bytes = 0;
  for (const std::string& s : strings) bytes += s.size();
  text_.reserve(bytes);
  begin_.reserve(strings.size() + 1);
  begin_.push_back(0);
  for (const std::string& s : strings) {
    text_ += s;
    begin_.push_back(text_.size());
  }
}

StringId StringTable::find(std::string_view text) const {
  for (StringId id = 0; id < size(); ++id) {
    if ((*this)[id] == text) return id;
  }
  return kNoString;
}

StringPool::StringPool() : slots_(kFirstSlots), mask_(kFirstSlots - 1) {}

// Multiply-and-fold over 16 bytes at a time: names are 10 to 1000 bytes long and are hashed once per
// event, so the tail is read by one overlapping load and not byte by byte.
std::uint64_t StringPool::hash_of(std::string_view raw) {
  constexpr std::uint64_t kA = 0x9e3779b97f4a7c15;
  constexpr std::uint64_t kB = 0xe7037ed1a0b428db;
  const char* p = raw.data();
  std::size_t left = raw.size();
  std::uint64_t h = kA ^ left;
  while (left > 16) {
    h = mix(load(p, 8) ^ h, load(p + 8, 8) ^ kB);
    p += 16;
    left -= 16;
  }
  if (left >= 8) return mix(load(p, 8) ^ h, load(p + left - 8, 8) ^ kB);
  if (left >= 4) return mix(load(p, 4) ^ h, load(p + left - 4, 4) ^ kB);
  if (left == 0) return mix(h, kB);
  const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])); };
  return mix(h ^ byte(0), kB ^ (byte(left / 2) << 8) ^ (byte(left - 1) << 16));
}

StringId StringPool::insert(std::string_view raw, std::uint64_t hash, std::size_t slot,
                            std::uint64_t position) {
  const auto id = static_cast<StringId>(entries_.size());
  entries_.push_back({keep(raw), position});
  slots_[slot] = {static_cast<std::uint32_t>(hash >> 32), id};
  if (entries_.size() * 2 > slots_.size()) grow();
  return id;
}

std::string_view StringPool::keep(std::string_view raw) {
  if (pages_.empty() || pages_.back().capacity() - pages_.back().size() < raw.size()) {
    pages_.emplace_back();
    pages_.back().reserve(raw.size() > kPageBytes ? raw.size() : kPageBytes);
  }
  std::string& page = pages_.back();
  const std::size_t at = page.size();
  page.append(raw);
  return {page.data() + at, raw.size()};
}

void StringPool::grow() {
  std::vector<Slot> bigger(slots_.size() * 2);
  mask_ = bigger.size() - 1;
  for (const Slot& old : slots_) {
    if (old.id == kNoString) continue;
    std::size_t slot = hash_of(entries_[old.id].raw) & mask_;
    while (bigger[slot].id != kNoString) slot = (slot + 1) & mask_;
    bigger[slot] = old;
  }
  slots_ = std::move(bigger);
}

std::size_t StringPool::memory() const {
  std::size_t bytes = slots_.capacity() * sizeof(Slot) + entries_.capacity() * sizeof(Entry);
  for (const std::string& page : pages_) bytes += page.capacity();
  return bytes;
}

}  // namespace stepscope::base
