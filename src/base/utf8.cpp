// UTF-8: one sequence at a time, and what is broken in it.
#include "base/utf8.h"

namespace stepscope::base {

std::string repaired_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8 sequence = utf8_at(text, at);
    out.append(sequence.valid ? text.substr(at, sequence.size) : kReplacement);
    at += sequence.size;
  }
  return out;
}

}  // namespace stepscope::base
