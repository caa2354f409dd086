// What the text of a JSON string means, and what is wrong with it.
#include "ingest/kineto/text.h"

#include <algorithm>

#include "base/json_string.h"
#include "base/utf8.h"

namespace stepscope::ingest::kineto {
namespace {

bool is_plain(std::string_view raw) {
  return std::all_of(raw.begin(), raw.end(),
                     [](char c) { return c != '\\' && static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string decode(std::string_view raw) {
  if (is_plain(raw)) return std::string(raw);
  return base::decode_string(base::repaired_utf8(raw));
}

TextFaults faults_of(std::string_view text) {
  TextFaults faults;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\\') {
      const char next = at + 1 < text.size() ? text[at + 1] : '\0';
      const bool known = base::simple_escape(next) || base::code_unit_at(text, at + 1);
      faults.bad_escapes += known ? 0 : 1;
      at += known ? 2 : 1;
      continue;
    }
    const base::Utf8 sequence = base::utf8_at(text, at);
    faults.broken_utf8 += sequence.valid ? 0 : 1;
    at += sequence.size;
  }
  return faults;
}

}  // namespace stepscope::ingest::kineto
