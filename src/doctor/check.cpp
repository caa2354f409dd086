// Checks as text that travels between processes, and the small files that checks read.
#include "doctor/check.h"

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

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

namespace {

constexpr char kFieldEnd = '\x1f';
constexpr char kCheckEnd = '\x1e';
constexpr std::size_t kFields = 11;

void put_check(std::string& text, std::string_view field) {
  for (const char c : field) text += c == kFieldEnd || c == kCheckEnd ? ' ' : c;
  text += kFieldEnd;
}

void put_check(std::string& text, const std::optional<double>& number) {
  put_check(text, number ? fmt::format("{}", *number) : std::string());
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::kGood:
      return "good";
    case State::kMissing:
      return "missing";
    case State::kBad:
      return "bad";
    case State::kUnknown:
      return "unknown";
    case State::kMeasured:
      return "measured";
  }
  return "unknown";
}

std::string encoded(std::span<const Check> checks) {
  std::string text;
  for (const Check& check : checks) {
    put_check(text, check.name);
    put_check(text, fmt::format("{}", static_cast<unsigned>(check.state)));
    put_check(text, check.value);
    put_check(text, check.means);
    put_check(text, check.todo);
    put_check(text, check.why);
    put_check(text, check.measured);
    put_check(text, check.reference);
    put_check(text, check.expected);
    put_check(text, check.expected_share);
    put_check(text, check.unit);
    text += kCheckEnd;
  }
  return text;
}

std::vector<Check> decoded(std::string_view text) {
  std::vector<Check> checks;
  while (!text.empty()) {
    const std::size_t end = text.find(kCheckEnd);
    if (end == std::string_view::npos) break;  // the writer was killed in the middle
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end + 1);
    std::array<std::string_view, kFields> fields;
    std::size_t count = 0;
    while (count < kFields) {
      const std::size_t stop = row.find(kFieldEnd);
      if (stop == std::string_view::npos) break;
      fields[count++] = row.substr(0, stop);
      row.remove_prefix(stop + 1);
    }
    const auto state = base::parse_number<double>(fields[1]);
    if (count != kFields || !state || *state < 0 || *state > 4) continue;
    checks.push_back({.name = std::string(fields[0]),
                      .state = static_cast<State>(*state),
                      .value = std::string(fields[2]),
                      .means = std::string(fields[3]),
                      .todo = std::string(fields[4]),
                      .why = std::string(fields[5]),
                      .measured = base::parse_number<double>(fields[6]),
                      .reference = base::parse_number<double>(fields[7]),
                      .expected = base::parse_number<double>(fields[8]),
                      .expected_share = base::parse_number<double>(fields[9]),
                      .unit = std::string(fields[10])});
  }
  return checks;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = 1024 * 1024;
  if (bytes < 1024 * kMiB) return fmt::format("{} MiB", bytes / kMiB);
  const double gib = static_cast<double>(bytes) / static_cast<double>(1024 * kMiB);
  if (gib < 10'000) return fmt::format("{:.{}f} GiB", gib, gib < 100 ? 1 : 0);
  return fmt::format("{:.1f} TiB", gib / 1024);
}

}  // namespace stepscope::doctor
