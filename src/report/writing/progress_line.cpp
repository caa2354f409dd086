// The line that shows progress.
#include "report/writing/progress_line.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kBarColumns = 24;
constexpr double kSecondsToTrust = 0.5;  // before that a rate says nothing

std::string bar(double part, const Look& look) {
  const auto filled =
      std::min(kBarColumns, static_cast<std::size_t>(part * static_cast<double>(kBarColumns)));
  std::string done;
  std::string open;
  for (std::size_t i = 0; i < kBarColumns; ++i)
    (i < filled ? done : open) += i < filled ? "━" : "╌";
  return styled(done, Style::kGood, look) + styled(open, Style::kFaint, look);
}

std::string time_left(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s left", std::max(1.0, std::ceil(seconds)));
  const auto whole = static_cast<std::uint64_t>(seconds);
  return fmt::format("{} min {:02} s left", whole / 60, whole % 60);
}

}  // namespace

std::string progress_line(const ProgressState& state, const Look& look) {
  const double rate =
      state.seconds > kSecondsToTrust ? static_cast<double>(state.bytes_done) / state.seconds : 0;
  std::string facts;
  double part = 0;
  if (state.bytes_total > 0) {
    part = std::min(1.0,
                    static_cast<double>(state.bytes_done) / static_cast<double>(state.bytes_total));
    facts += fmt::format("  {:3.0f} %", std::floor(part * 100));
  } else {
    facts += "  " + bytes_text(state.bytes_done);
  }
  if (rate > 0) facts += "  " + rate_text(rate);
  if (rate > 0 && state.bytes_total > state.bytes_done) {
    facts += "  " + time_left(static_cast<double>(state.bytes_total - state.bytes_done) / rate);
  }
  if (state.files_total > 1) {
    facts += fmt::format("  {} of {} files", state.files_done, state.files_total);
  }
  const std::size_t room = look.width == 0 ? 1000 : look.width - 1;
  const bool with_bar =
      state.bytes_total > 0 && state.verb.size() + 2 + kBarColumns + text_width(facts) <= room;
  if (!with_bar) return cut_end(std::string(state.verb) + facts, room);
  return fmt::format("{}  {}{}", state.verb, bar(part, look), facts);
}

}  // namespace stepscope::report
