#include "cli/advice_options.h"

namespace stepscope::cli {

base::Result<advice::OwnThresholds> thresholds_from(const Arguments& arguments) {
  if (!arguments.has("thresholds")) return advice::OwnThresholds{};
  return session::read_thresholds(arguments.text("thresholds"));
}

}  // namespace stepscope::cli
