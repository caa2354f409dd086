// The page writes numbers and gains itself (web/src/render): what it shows is what is printed, by
// examples that its tests read as well.
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/number_text.h"
#include "report/findings/advice.h"
#include "report/tables/cell_text.h"
#include "report/writing/numbers.h"

namespace stepscope::report {
namespace {

// Without the line of titles.
std::vector<std::vector<std::string>> examples(const std::string& name) {
  std::ifstream file(std::string(STEPSCOPE_FIXTURES) + "/" + name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream parts(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string part; std::getline(parts, part, '\t');) row.push_back(part);
  }
  return rows;
}

template <class T>
T value_of(const std::string& text) {
  const auto value = base::parse_number<T>(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(0);
}

std::optional<base::Nanos> nanos_in(const std::string& text) {
  return text == "-" ? std::nullopt : std::optional(value_of<base::Nanos>(text));
}

TEST(TextsOfThePage, Numbers) {
  const std::map<std::string, std::function<std::string(const std::string&)>> written = {
      {"duration", [](const auto& text) { return duration_text(value_of<base::Nanos>(text)); }},
      {"bytes", [](const auto& text) { return bytes_text(value_of<std::uint64_t>(text)); }},
      {"rate", [](const auto& text) { return rate_text(value_of<double>(text)); }},
      {"count", [](const auto& text) { return count_text(value_of<std::uint64_t>(text)); }},
      {"share", [](const auto& text) { return share_text(value_of<double>(text)); }},
      {"number", [](const auto& text) { return number_text(value_of<double>(text)); }},
  };
  const auto rows = examples("number_texts.tsv");
  EXPECT_FALSE(rows.empty());
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 3U);
    ASSERT_TRUE(written.contains(row[0])) << row[0];
    EXPECT_EQ(written.at(row[0])(row[1]), row[2]) << row[0] << " " << row[1];
  }
}

TEST(TextsOfThePage, Gains) {
  const auto rows = examples("gain_texts.tsv");
  EXPECT_FALSE(rows.empty());
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 8U);
    advice::Finding finding;
    finding.gain = {value_of<base::Nanos>(row[0]), value_of<base::Nanos>(row[1])};
    if (const auto high = nanos_in(row[2])) finding.remaining = {0, *high};
    if (const auto low = nanos_in(row[4])) finding.here = {*low, *nanos_in(row[5])};
    finding.untraced_step_ns = value_of<int>(row[6]);
    advice::Advice advice;
    advice.step_ns = value_of<base::Nanos>(row[3]);
    advice.findings = {finding};
    EXPECT_EQ(gain_text(advice, finding), row[7]);
  }
}

}  // namespace
}  // namespace stepscope::report
