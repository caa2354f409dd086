// Finds the page of a rule among those built into the program.
#include <algorithm>
#include <span>

#include "advice/rule.h"

namespace stepscope::advice {

std::string_view rule_page(std::string_view rule) {
  const std::span<const RulePage> pages(kRulePages, kRulePageCount);
  const auto found = std::ranges::find(pages, rule, &RulePage::rule);
  return found == pages.end() ? std::string_view() : found->markdown;
}

}  // namespace stepscope::advice
