// Parts of a step's time that several rules measure.
#include "advice/step_time.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "advice/facts.h"

namespace stepscope::advice {

// A GPU that lags its host also runs kernels of steps before the first: what all of them take
// together is more than the steps have room for.
double kernel_share_of_step(const Facts& facts, const RankSteps& rank) {
  double all = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    all += line.number("sum_ns");
  }
  for (const Line& line : facts.lines("steps", "parts", rank.rank)) {
    if (line.text("part") != "kernel" || !(all > 0)) continue;
    return std::min(1 / static_cast<double>(rank.steps), line.number("mean_ns") / all);
  }
  return 1 / static_cast<double>(rank.steps);
}

double idle_of(const Facts& facts, const RankSteps& rank, std::string_view column) {
  return mean_of(facts, "idle-time", "devices", rank.rank, column).value_or(0) /
         static_cast<double>(rank.steps);
}

double tried_out_ns(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("autotuning", "ranks", rank.rank)) {
    sum += line.number("device_ns") - line.number("once_ns");
  }
  return sum / static_cast<double>(rank.steps);
}

bool names_any(std::string_view name, std::span<const std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

double named_kernels_ns(const Facts& facts, const RankSteps& rank,
                        std::span<const std::string_view> parts) {
  double sum = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    if (names_any(line.text("name"), parts)) sum += line.number("sum_ns");
  }
  return sum * kernel_share_of_step(facts, rank);
}

double short_pauses_ns(const Facts& facts, const RankSteps& rank) {
  return std::max(0.0, idle_of(facts, rank, "kernel_ns") - idle_of(facts, rank, "late_ns") +
                           idle_of(facts, rank, "called_ns"));
}

double pauses_between_ns(const Facts& facts, const RankSteps& rank, double kernels) {
  double all = 0;
  for (const Line& line : facts.lines("kernels", "kernels", rank.rank)) {
    all += line.number("count") / static_cast<double>(rank.steps);
  }
  return all > 0 ? short_pauses_ns(facts, rank) * std::min(1.0, kernels / all) : 0;
}

std::optional<double> mean_of(const Facts& facts, std::string_view analysis, std::string_view table,
                              std::int32_t rank, std::string_view column) {
  double sum = 0;
  double rows = 0;
  for (const Line& line : facts.lines(analysis, table, rank)) {
    if (!line.has_value(column)) continue;
    sum += line.number(column);
    ++rows;
  }
  return rows > 0 ? std::optional(sum / rows) : std::nullopt;
}

Sample sample_of(std::span<const double> values) {
  Sample out{.count = static_cast<double>(values.size())};
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / out.count;
  for (const double one : values) out.variance += (one - out.mean) * (one - out.mean);
  out.variance /= out.count - 1;
  return out;
}

bool is_gloo(const Line& line) { return line.text("collective").starts_with("gloo:"); }

double exposed_gloo_ns(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("overlap", "host", rank.rank)) {
    if (is_gloo(line)) sum += line.number("exposed_ns") / static_cast<double>(rank.steps);
  }
  return sum;
}

std::optional<double> held_memory(const Facts& facts, std::int32_t rank) {
  std::optional<double> most;
  for (const Line& line : facts.lines("overview", "devices", rank)) {
    if (!line.has_value("peak_reserved_share")) return std::nullopt;
    most = std::max(most.value_or(0), line.number("peak_reserved_share"));
  }
  return most;
}

bool has_several_ranks(const Facts& facts) {
  if (facts.ranks().size() > 1) return true;
  const auto runs = facts.lines("overview", "run");
  return std::ranges::any_of(runs, [](const Line& line) { return line.whole("world_size") > 1; });
}

namespace {

// What launches work because of a selection: itself, or its part of the backward pass.
bool belongs_to_selection(std::string_view op) {
  constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";
  if (!op.starts_with(kNode)) return op != "aten::where" && selects_by_mask(op);
  op.remove_prefix(kNode.size());
  return op.starts_with("IndexBackward") || op.starts_with("MaskedSelectBackward");
}

}  // namespace

bool selects_by_mask(std::string_view op) {
  constexpr std::array<std::string_view, 6> kOps = {"aten::nonzero",       "aten::index",
                                                    "aten::masked_select", "aten::where",
                                                    "aten::unique",        "aten::_unique2"};
  return std::ranges::find(kOps, op) != kOps.end();
}

bool waits_for_selections(const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("stalls", "places", rank.rank)) {
    if (line.text("stall") == "sync")
      return selects_by_mask(line.text("op"));  // the worst is first
  }
  return false;
}

double launching_of_selections_ns(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("stalls", "places", rank.rank)) {
    if (line.text("stall") == "launch" && belongs_to_selection(line.text("op"))) {
      sum += line.number("idle_ns");
    }
  }
  return std::min(sum / static_cast<double>(rank.steps), facts.stall(rank, "launch").idle_ns);
}

}  // namespace stepscope::advice
