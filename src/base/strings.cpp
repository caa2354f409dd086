// Interned text: where a pool keeps its characters, and the table that is left of it.
#include "base/strings.h"

namespace stepscope::base {
namespace {

constexpr std::size_t kPageBytes = 64 * 1024;

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

std::size_t StringPool::memory() const {
  std::size_t bytes = ids_.memory() + entries_.capacity() * sizeof(Entry);
  for (const std::string& page : pages_) bytes += page.capacity();
  return bytes;
}

}  // namespace stepscope::base
