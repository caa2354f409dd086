// The rules and their thresholds, for help and docs.
#include <algorithm>

#include <fmt/format.h>

#include "advice/rule.h"
#include "advice/thresholds.h"
#include "report/findings/advice.h"
#include "report/help/help.h"
#include "report/tables/cell_text.h"

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
                 std::string(one.name), figure_text(one.default_value, one.unit),
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

namespace {

// "the analyses steps, stalls; of a run without a trace throughput, loader".
std::string needs_text(const advice::Rule& rule) {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const advice::Need& need : rule.needs) add(need.analysis);
  for (const std::string_view also : rule.reads) add(also);
  std::string out = fmt::format("the analyses {}", fmt::join(names, ", "));
  names.clear();
  for (const advice::Need& need : rule.instead) add(need.analysis);
  if (!names.empty()) out += fmt::format("; of a run without a trace {}", fmt::join(names, ", "));
  return rule.of_device ? out + "; a trace with GPU work" : out;
}

}  // namespace

std::string rule_text(std::string_view id, const Look& look) {
  const advice::Rule* rule = advice::find_rule(id);
  if (rule == nullptr) return {};
  TextTable needs({{"What it needs"}, {"", Align::kLeft, Fit::kWrap}});
  needs.add({"reads", needs_text(*rule)});
  using advice::Recorder;
  std::string last;
  for (const Recorder recorder :
       {Recorder::kTorchProfiler, Recorder::kProfile, Recorder::kRunCommand}) {
    const std::string how = advice::how_to_record(rule->wanted, recorder);
    if (!how.empty() && how != last) needs.add({last.empty() ? "record" : "or", how});
    last = how;
  }
  TextTable numbers({{"Thresholds"}, {"", Align::kRight}, {"", Align::kLeft, Fit::kWrap}});
  for (const advice::Threshold& one : advice::thresholds()) {
    if (one.rule != rule->id) continue;
    numbers.add(
        {std::string(one.name), figure_text(one.default_value, one.unit), std::string(one.about)});
  }
  std::string out = fmt::format("{}: {}\n\n", rule->id, rule->asks);
  out += rule_page_text(advice::rule_page(rule->id), look);
  out += fmt::format("\n{}", needs.render(look));
  if (!numbers.empty()) {
    out += fmt::format("\n{}  {}\n", numbers.render(look),
                       styled("--thresholds FILE sets others", Style::kFaint, look));
  }
  return out + fmt::format("\nPage: docs/advice/{}.md\n", rule->id);
}

}  // namespace stepscope::report
