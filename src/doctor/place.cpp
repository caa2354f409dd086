#include "doctor/place.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/number_text.h"

namespace stepscope::doctor {
namespace {

std::string trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace

std::optional<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::optional<std::string> field_of(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || trimmed(line.substr(0, colon)) != key) continue;
    return trimmed(line.substr(colon + 1));
  }
  return std::nullopt;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  return base::parse_number<std::int64_t>(trimmed(text));
}

}  // namespace stepscope::doctor
