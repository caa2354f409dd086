// JSON string text: what it means, and what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::ingest::kineto {

// What stands between the quotes → UTF-8. Escapes that escape nothing stay as they stand; bytes
// that are not UTF-8, and lone surrogates, become U+FFFD.
std::string decode(std::string_view raw);

// Counts over the text of one event (or anything else that is mostly ASCII).
struct TextFaults {
  std::uint32_t broken_utf8 = 0;  // ill-formed sequences
  std::uint32_t bad_escapes = 0;  // backslashes that escape nothing
};
TextFaults faults_of(std::string_view text);

}  // namespace stepscope::ingest::kineto
