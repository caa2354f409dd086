#include "session/config/step_window.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/number_text.h"

namespace stepscope::session {
namespace {

using base::Code;
using base::fail;

constexpr std::int64_t kMostSteps = 1'000'000'000'000;

// -1 where it is none.
std::int64_t count_from(std::string_view text) {
  const auto value = base::parse_number<std::int64_t>(text);
  return value && *value <= kMostSteps ? *value : -1;
}

// Nothing where it is not "10-20" or "10".
std::optional<StepWindow> batches_from(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const std::int64_t first = count_from(text.substr(0, dash));
  const std::int64_t last = dash < text.size() ? count_from(text.substr(dash + 1)) : first;
  if (first < 0 || last < 0) return std::nullopt;
  return StepWindow{.first = first, .stop = last + 1, .epoch = std::nullopt, .warmup = 1};
}

base::Status check_batches(const StepWindow& window, std::string_view text, std::string_view name) {
  if (!window.stop || *window.stop > window.first) return base::Done{};
  return fail(Code::kInvalidArgument, fmt::format("{}: '{}' holds no batches", name, text));
}

}  // namespace

base::Result<StepWindow> parse_steps(std::string_view text, std::string_view name) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::int64_t first = count_from(text.substr(0, colon));
  const std::int64_t stop = colon < text.size() ? count_from(text.substr(colon + 1)) : -1;
  if (first < 0 || stop < 0) {
    return fail(
        Code::kInvalidArgument,
        fmt::format("{}: '{}' is not FIRST:STOP, such as 10:15 for steps 10 to 14", name, text));
  }
  if (stop <= first) {
    return fail(Code::kInvalidArgument, fmt::format("{}: '{}' holds no steps", name, text));
  }
  return StepWindow{.first = first, .stop = stop, .epoch = std::nullopt, .warmup = 1};
}

base::Result<StepWindow> parse_epoch(std::string_view text, std::string_view name) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::int64_t epoch = count_from(text.substr(0, colon));
  std::optional<StepWindow> window = StepWindow{};
  if (colon < text.size()) window = batches_from(text.substr(colon + 1));
  if (epoch < 0 || !window) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: '{}' is not an epoch, such as 4, or one with its batches, such as "
                            "4:10-20",
                            name, text));
  }
  SCOPE_TRY(check_batches(*window, text, name));
  window->epoch = epoch;
  return *window;
}

base::Result<StepWindow> parse_batches(std::string_view text, std::string_view name) {
  const std::optional<StepWindow> window = batches_from(text);
  if (!window) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: '{}' is not FIRST-LAST, such as 10-20", name, text));
  }
  SCOPE_TRY(check_batches(*window, text, name));
  return *window;
}

}  // namespace stepscope::session
