#include "base/strings.h"

namespace stepscope::base {
namespace {

constexpr std::size_t kPageBytes = 64 * 1024;
constexpr std::size_t kFirstSlots = 1024;

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
