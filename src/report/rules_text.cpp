// The rules and their thresholds, for help and docs.
#include <fmt/format.h>

#include "advice/rule.h"
#include "advice/thresholds.h"
#include "report/advice.h"
#include "report/cell_text.h"

namespace stepscope::report {

std::string rules_text(const Look& look) {
  TextTable rules({{"Rules"}, {"", Align::kLeft, Fit::kWrap}});
  for (const advice::Rule* rule : advice::rules()) {
    rules.add({std::string(rule->id), std::string(rule->asks)});
  }
  TextTable numbers(
      {{"Thresholds"}, {"", Align::kLeft}, {"", Align::kRight}, {"", Align::kLeft, Fit::kWrap}});
  std::string_view last;
  for (const advice::Threshold& one : advice::thresholds()) {
    numbers.add({std::string(one.rule == last ? std::string_view() : one.rule),
                 std::string(one.name), figure_text(one.standard, one.unit),
                 std::string(one.about)});
    last = one.rule;
  }
  return rules.render(look) + "\n" + numbers.render(look);
}

std::vector<std::string_view> rule_names() {
  std::vector<std::string_view> names;
  for (const advice::Rule* rule : advice::rules()) names.push_back(rule->id);
  return names;
}

std::string rule_text(std::string_view id, const Look& look) {
  const advice::Rule* rule = advice::find_rule(id);
  if (rule == nullptr) return {};
  TextTable facts({{""}, {"", Align::kLeft, Fit::kWrap}});
  facts.add({"cause", std::string(rule->cause)});
  std::string reads;
  for (const advice::Need& need : rule->needs) {
    if (reads.find(need.analysis) != std::string::npos) continue;
    reads += fmt::format("{}{}", reads.empty() ? "" : ", ", need.analysis);
  }
  for (const std::string_view also : rule->reads) reads += fmt::format(", {}", also);
  facts.add({"reads", fmt::format("the analyses {}", reads)});
  facts.add({"record", std::string(rule->record)});
  facts.add({"page", fmt::format("docs/advice/{}.md", rule->id)});
  TextTable numbers({{"Thresholds"}, {"", Align::kRight}, {"", Align::kLeft, Fit::kWrap}});
  for (const advice::Threshold& one : advice::thresholds()) {
    if (one.rule != rule->id) continue;
    numbers.add(
        {std::string(one.name), figure_text(one.standard, one.unit), std::string(one.about)});
  }
  std::string out = fmt::format("{}: {}\n\n{}", rule->id, rule->asks, facts.render(look));
  return numbers.empty() ? out : out + "\n" + numbers.render(look);
}

}  // namespace stepscope::report
