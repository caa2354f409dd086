// What operators were called with, each signature once.
#include "trace/signatures.h"

#include <cstring>

namespace stepscope::trace {

SignatureId SignaturePool::intern(const SignatureTexts& raw, std::uint64_t position) {
  Entry entry{{}, position};
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool given = raw[i].data() != nullptr;
    entry.texts[i] = given ? texts_.intern(raw[i], position) : base::kNoString;
  }
  char key[sizeof(entry.texts)];
  std::memcpy(key, entry.texts.data(), sizeof(key));
  const SignatureId id = keys_.intern({key, sizeof(key)}, position);
  if (id == entries_.size()) entries_.push_back(entry);
  return id;
}

}  // namespace stepscope::trace
