#include "cli/options/advice_options.h"

#include <algorithm>
#include <vector>

#include "report/page/page.h"

namespace stepscope::cli {

base::Result<advice::OwnThresholds> thresholds_from(const Arguments& arguments) {
  if (!arguments.has("thresholds")) return advice::OwnThresholds{};
  return session::read_thresholds(arguments.text("thresholds"));
}

std::string typed_paths(const Arguments& arguments) {
  const std::vector<std::string>& paths = arguments.words();
  const bool all_files = std::ranges::find(paths, "-") == paths.end();
  return all_files ? report::typed_again(paths) : std::string();
}

}  // namespace stepscope::cli
