// Makes JSON of a header value that is nearly JSON.
#include <fmt/format.h>

#include "ingest/kineto/header.h"
#include "ingest/kineto/reference_reader.h"
#include "ingest/kineto/text.h"

namespace stepscope::ingest::kineto {
namespace {

std::string quoted(std::string_view raw) {
  std::string out = "\"";
  for (const char c : decode(raw)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

std::string mend(std::string_view value) {
  ReferenceReader reader(value.data() + value.size(), ReferenceReader::Behind::kNothing);
  std::string out;
  std::string open;          // brackets not yet closed
  bool wants_comma = false;  // something stands before the next item
  bool after_key = false;
  const char* at = value.data();
  while ((at = reader.skip_space(at)) < reader.end()) {
    const char c = *at;
    if (after_key && (c == ',' || c == '}' || c == ']')) {
      out += "null";  // a name without a value
      after_key = false;
      wants_comma = true;
    }
    if (c == ',' || c == ':') {
      ++at;
      continue;
    }
    if (c == '}' || c == ']') {
      out += c;
      if (!open.empty()) open.pop_back();
      wants_comma = true;
      after_key = false;
      ++at;
      continue;
    }
    if (wants_comma && !after_key) out += ',';
    if (c == '{' || c == '[') {
      open += c;
      out += c;
      wants_comma = after_key = false;
      ++at;
      continue;
    }
    const bool is_key = !open.empty() && open.back() == '{' && !after_key;
    Token token{};
    Oddities odd;
    const Reading reading =
        c != '"' ? reader.value(at, ReferenceReader::Place::kListItem, token, odd)
                 : reader.string(at,
                                 is_key                ? ReferenceReader::Place::kKey
                                 : open.ends_with('[') ? ReferenceReader::Place::kListItem
                                                       : ReferenceReader::Place::kMember,
                                 token, odd);
    if (reading.outcome != Outcome::kDone) return out;
    at = reading.next;
    const bool is_text = token.type == TokenType::kString || token.type == TokenType::kBare;
    out += is_text ? quoted(token.text) : std::string(token.text);
    if (is_key) out += ':';
    after_key = is_key;
    wants_comma = !is_key;
  }
  return out;
}

}  // namespace stepscope::ingest::kineto
