// Reads the answers of the analysis `program`.
#include "advice/known.h"

#include <algorithm>
#include <array>
#include <optional>

namespace stepscope::advice {
namespace {

// Below this share of the kernels' time a compiled function is no compiled model.
constexpr double kSomeCompiled = 0.10;
constexpr double kMostReplayed = 0.50;

bool any_rank(const Facts& facts, std::string_view column) {
  const auto ranks = facts.lines("program", "ranks");
  return std::ranges::any_of(ranks, [&](const Line& line) { return line.whole(column) != 0; });
}

bool share_is(const Facts& facts, std::int32_t rank, std::string_view column, double least) {
  const auto ranks = facts.lines("program", "ranks", rank);
  return std::ranges::any_of(ranks, [&](const Line& line) { return line.number(column) >= least; });
}

Vendor vendor_of(std::string_view name) {
  if (name.empty()) return Vendor::kUnknown;
  if (name == "nvidia") return Vendor::kNvidia;
  if (name == "amd") return Vendor::kAmd;
  return name == "intel" ? Vendor::kIntel : Vendor::kOther;
}

}  // namespace

Vendor vendor(const Facts& facts) {
  std::optional<Vendor> out;
  for (const Line& line : facts.lines("program", "devices")) {
    const Vendor own = vendor_of(line.text("vendor"));
    if (out && *out != own) return Vendor::kUnknown;
    out = own;
  }
  return out.value_or(Vendor::kUnknown);
}

std::int64_t compute_major(const Facts& facts) {
  std::int64_t least = 0;
  for (const Line& line : facts.lines("program", "devices")) {
    const std::int64_t own = line.whole("compute_major");
    if (own > 0 && (least == 0 || own < least)) least = own;
  }
  return least;
}

std::string_view product_units(const Facts& facts) {
  return vendor(facts) == Vendor::kAmd ? "matrix cores" : "tensor cores";
}

std::string memory_tool(const Facts& facts) {
  const Vendor maker = vendor(facts);
  return maker == Vendor::kNvidia ? " in nvidia-smi" : maker == Vendor::kAmd ? " in amd-smi" : "";
}

bool is_compiled(const Facts& facts, std::int32_t rank) {
  return share_is(facts, rank, "compiled_share", kSomeCompiled);
}

bool is_replayed(const Facts& facts, std::int32_t rank) {
  return share_is(facts, rank, "graph_share", kMostReplayed);
}

bool has_stacks(const Facts& facts) { return any_rank(facts, "stacks"); }
bool has_shapes(const Facts& facts) { return any_rank(facts, "shapes"); }
bool has_backward(const Facts& facts) { return any_rank(facts, "backward"); }

std::string_view after_larger_batch(const Facts& facts) {
  const bool knows = facts.table("program", "ranks") != nullptr;
  return knows && !has_backward(facts) ? "" : " (the learning rate may have to follow)";
}

bool has_optimizer(const Facts& facts) {
  const auto ranks = facts.lines("program", "ranks");
  return std::ranges::any_of(ranks, [](const Line& line) { return line.has_value("optimizers"); });
}

std::string optimizer_named(const Facts& facts) {
  std::string out;
  for (const Line& line : facts.lines("program", "ranks")) {
    const std::string_view names = line.text("optimizers");
    if (names.empty()) continue;
    const bool is_other = !out.empty() && out != names;
    if (is_other || names.find(',') != std::string_view::npos) return {};
    out = names;
  }
  return out;
}

double calls_of(const Facts& facts, std::int32_t rank, std::string_view name) {
  for (const Line& line : facts.lines("program", "calls", rank)) {
    if (line.text("name") == name) return line.number("calls");
  }
  return 0;
}

}  // namespace stepscope::advice
