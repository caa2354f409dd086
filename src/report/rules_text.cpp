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

}  // namespace stepscope::report
