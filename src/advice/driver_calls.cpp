// Reads what stalls says of calls of the driver.
#include "advice/driver_calls.h"

#include <algorithm>
#include <array>
#include <optional>

#include "advice/known.h"

namespace stepscope::advice {

bool pins_memory(std::string_view call) { return call.find("Host") != std::string_view::npos; }

bool returns_gpu_memory(std::string_view call) {
  if (pins_memory(call)) return false;
  return call.find("Free") != std::string_view::npos || call == "cuMemUnmap";
}

bool takes_gpu_memory(std::string_view call) {
  if (pins_memory(call)) return false;
  return call.find("Malloc") != std::string_view::npos || call.starts_with("cuMemAlloc") ||
         call == "cuMemMap";
}

bool launches_work(std::string_view call) {
  constexpr std::array<std::string_view, 3> kParts = {"Launch", "Memset", "Memcpy"};
  return std::ranges::any_of(
      kParts, [&](std::string_view part) { return call.find(part) != std::string_view::npos; });
}

DriverCalls driver_calls(const Facts& facts, const RankSteps& rank, std::string_view stall,
                         bool (*wanted)(std::string_view call)) {
  DriverCalls out;
  const auto steps = static_cast<double>(rank.steps);
  double most_idle = -1;
  double most_host = -1;
  for (const Line& line : facts.lines("stalls", "calls", rank.rank)) {
    if (line.text("stall") != stall || !wanted(line.text("call"))) continue;
    const double idle = line.number("idle_ns");
    const double host = line.number("host_ns");
    out.count += line.number("count") / steps;
    out.host_ns += host / steps;
    out.runs += line.number("runs") / steps;
    out.idle_ns += idle / steps;
    if (idle < most_idle || (idle == most_idle && host <= most_host)) continue;
    most_idle = idle;
    most_host = host;
    out.most = line.text("call");
  }
  return out;
}

HeldLaunches held_launches(const Facts& facts, const RankSteps& rank, std::string_view stall) {
  for (const Line& line : facts.lines("stalls", "kinds", rank.rank)) {
    if (line.text("stall") != stall) continue;
    const double each = static_cast<double>(rank.steps) * std::max(1.0, line.number("devices"));
    return {line.number("held_ns") / each, line.number("first_use_ns") / each};
  }
  return {};
}

bool goes_on(const Facts& facts, const RankSteps& rank, std::string_view stall,
             std::string_view column, double least_share) {
  std::optional<std::int64_t> first;
  for (const Line& line : facts.lines("stalls", "steps", rank.rank)) {
    first = std::min(first.value_or(line.whole("step")), line.whole("step"));
  }
  double steps = 0;
  for (const Line& line : facts.lines("stalls", "steps", rank.rank)) {
    if (line.text("stall") == stall && line.number(column) > 0 && line.whole("step") != *first)
      ++steps;
  }
  const auto later = static_cast<double>(rank.steps - 1);
  return later > 0 && steps >= least_share * later;
}

bool is_rocm(const Facts& facts) {
  const auto has_hip = [&](std::string_view analysis, std::string_view table,
                           std::string_view column) {
    const auto lines = facts.lines(analysis, table);
    return std::ranges::any_of(
        lines, [&](const Line& line) { return line.text(column).starts_with("hip"); });
  };
  return vendor(facts) == Vendor::kAmd || has_hip("stalls", "calls", "call") ||
         has_hip("stalls", "places", "call") || has_hip("idle-time", "queued", "launch");
}

}  // namespace stepscope::advice
