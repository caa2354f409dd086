// Parses the target of a request into a path and parameters.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "server/request.h"

namespace stepscope::server {
namespace {

using base::Code;
using base::fail;

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

}  // namespace

std::string_view Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

base::Result<std::string> decode_component(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_blank) c = ' ';
    if (c == '%') {
      const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
      if (!high || !low) return fail(Code::kInvalidArgument, "'%' without two digits after it");
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return fail(Code::kInvalidArgument, "the address has control characters");
    }
    out += c;
  }
  if (base::repaired_utf8(out) != out)
    return fail(Code::kInvalidArgument, "the address is not UTF-8");
  return out;
}

base::Result<Target> parse_target(std::string_view target, std::string_view base_path) {
  if (target.empty() || target.front() != '/') {
    return fail(Code::kInvalidArgument, "the address does not begin with '/'");
  }
  const std::size_t mark = target.find('?');
  std::string_view path = target.substr(0, mark);
  // Proxies pass the base path on or take it away.
  if (path.starts_with(base_path) &&
      (path.size() == base_path.size() || path[base_path.size()] == '/')) {
    path.remove_prefix(base_path.size());
  }
  if (path.starts_with('/')) path.remove_prefix(1);
  Target out;
  SCOPE_TRY(out.path, decode_component(path, false));
  if (mark == std::string_view::npos) return out;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    SCOPE_TRY(std::string name, decode_component(pair.substr(0, equals), true));
    SCOPE_TRY(std::string value,
              decode_component(pair.substr(std::min(equals + 1, pair.size())), true));
    if (!out.query.try_emplace(name, std::move(value)).second) {
      return fail(Code::kInvalidArgument, "parameter '" + name + "' is given twice");
    }
  }
  return out;
}

}  // namespace stepscope::server
