// What operators are called with, interned: a trace has a few hundred different calls among many
// thousands. A shard keeps the texts as they stand in the file; what they mean is worked out once
// per distinct text when the shards are merged.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "trace/tables.h"

namespace stepscope::trace {

// In the order of Signature's members; one without data() is not given.
using SignatureTexts = std::array<std::string_view, 4>;

class SignaturePool {
 public:
  struct Entry {
    std::array<base::StringId, 4> texts;  // into texts()
    std::uint64_t first_seen;             // smallest position at which it was interned
  };

  // `position` must not fall within one pool: readers of one shard move forward.
  SignatureId intern(const SignatureTexts& raw, std::uint64_t position);

  const base::StringPool& texts() const { return texts_; }
  std::span<const Entry> entries() const { return entries_; }

 private:
  base::StringPool texts_;
  base::StringPool keys_;  // the four ids as bytes → place among the entries
  std::vector<Entry> entries_;
};

}  // namespace stepscope::trace
