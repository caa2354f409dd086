#include "cli/output/doctor_output.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/writing/json_writer.h"
#include "report/writing/numbers.h"

namespace stepscope::cli {
namespace {

using doctor::Check;
using doctor::State;
using report::Style;

Style style_of(State state) {
  switch (state) {
    case State::kGood:
      return Style::kGood;
    case State::kBad:
      return Style::kBad;
    case State::kMissing:
    case State::kUnknown:
      return Style::kWarning;
    case State::kMeasured:
      return Style::kPlain;
  }
  return Style::kPlain;
}

// Whether a person should read more than the line.
bool needs_words(const Check& check) {
  return check.state != State::kGood && check.state != State::kMeasured &&
         (!check.todo.empty() || !check.means.empty());
}

std::string paragraph(std::string_view title, std::string_view text, const report::Look& look) {
  constexpr std::size_t kIndent = 10;
  const std::size_t room = look.width > kIndent + 20 ? look.width - kIndent : 10'000;
  std::string lines;
  for (const std::string& line : report::wrapped(text, room)) {
    lines += fmt::format("  {:<{}}{}\n", lines.empty() ? title : "", kIndent - 2, line);
  }
  return lines;
}

std::string value_of(const Check& check) {
  if (!check.measured || !check.expected) return check.value;
  return fmt::format("{} (expected: at least {:.4g} {})", check.value, *check.expected, check.unit);
}

void put(report::JsonWriter& json, std::string_view key, const std::optional<double>& number) {
  json.key(key);
  if (number) {
    json.value(*number);
  } else {
    json.null();
  }
}

}  // namespace

std::string doctor_text(std::span<const Check> checks, const report::Look& look) {
  report::TextTable table({{.title = ""}, {.title = ""}, {.title = "", .fit = report::Fit::kWrap}});
  for (const Check& check : checks) {
    table.add({report::Cell(std::string(name_of(check.state)), style_of(check.state)),
               report::Cell(check.name), report::Cell(value_of(check))});
  }
  std::string text = table.render(look);
  for (const Check& check : checks) {
    if (!needs_words(check)) continue;
    text +=
        fmt::format("\n{}: {}\n", report::styled(check.name, Style::kStrong, look), check.value);
    if (!check.means.empty()) text += paragraph("means", check.means, look);
    if (!check.why.empty()) text += paragraph("matters", check.why, look);
    if (!check.todo.empty()) text += paragraph("to do", check.todo, look);
  }
  const auto bad =
      static_cast<std::uint64_t>(std::ranges::count(checks, State::kBad, &Check::state));
  text += fmt::format("\n{} looked at, {} bad\n", report::counted(checks.size(), "thing"), bad);
  return text;
}

std::string doctor_json(std::span<const Check> checks) {
  report::JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.doctor/1");
  json.key("checks");
  json.begin_list();
  for (const Check& check : checks) {
    json.begin_object();
    json.member("name", check.name);
    json.member("state", name_of(check.state));
    json.member("value", check.value);
    json.member("means", check.means);
    json.member("to_do", check.todo);
    json.member("matters", check.why);
    if (!check.unit.empty()) {
      json.member("unit", check.unit);
      put(json, "measured", check.measured);
      put(json, "expected", check.expected);
      put(json, "at_best", check.reference);
    }
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::cli
