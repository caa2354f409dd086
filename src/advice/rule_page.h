// The page of a rule as it stands in docs/advice; the build puts them into the program.
#pragma once

#include <cstddef>
#include <string_view>

namespace stepscope::advice {

struct RulePage {
  std::string_view rule, markdown;
};
extern const RulePage kRulePages[];
extern const std::size_t kRulePageCount;

// Empty where there is none.
std::string_view rule_page(std::string_view rule);

}  // namespace stepscope::advice
