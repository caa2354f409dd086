// Reads names of kernels, calls, ranges and devices for what they say about the program.
#include "analysis/operators/program_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"

namespace stepscope::analysis {
namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "sm90", "sm_80", "sm100": its number, the last digit left out. 0: there is none.
std::int64_t of_sm(std::string_view kernel) {
  std::int64_t newest = 0;
  for (std::size_t at = kernel.find("sm"); at != std::string_view::npos;
       at = kernel.find("sm", at + 2)) {
    if (at > 0 && base::is_letter(kernel[at - 1])) continue;
    std::size_t digits = at + 2;
    if (digits < kernel.size() && kernel[digits] == '_') ++digits;
    std::size_t end = digits;
    while (end < kernel.size() && base::is_digit(kernel[end])) ++end;
    if (end - digits < 2 || end - digits > 3) continue;
    std::int64_t number = 0;
    std::from_chars(kernel.data() + digits, kernel.data() + end, number);
    newest = std::max(newest, number / 10);
  }
  return newest;
}

}  // namespace

bool names_compiled_code(std::string_view range) {
  constexpr std::string_view kAutograd = "autograd::engine::evaluate_function: ";
  if (range.starts_with(kAutograd)) range.remove_prefix(kAutograd.size());
  return range.starts_with("Torch-Compiled Region") || range.starts_with("CompiledFunction") ||
         holds(range, "Call CompiledFxGraph");
}

bool names_compiled_kernel(std::string_view kernel) {
  static constexpr std::array<std::string_view, 6> kSorts = {"poi_", "per_", "red_",
                                                             "tem_", "for_", "mm"};
  constexpr std::string_view kTriton = "triton_";
  if (!kernel.starts_with(kTriton)) return false;
  kernel.remove_prefix(kTriton.size());
  return std::ranges::any_of(kSorts,
                             [&](std::string_view sort) { return kernel.starts_with(sort); }) ||
         holds(kernel, "fused");
}

bool names_graph_launch(std::string_view call) { return holds(call, "GraphLaunch"); }

bool names_backward(std::string_view op) {
  if (op.starts_with("autograd::engine::evaluate_function: ")) return true;
  while (!op.empty() && base::is_digit(op.back())) op.remove_suffix(1);
  return op.ends_with("Backward") && op.find(' ') == std::string_view::npos;
}

std::string_view optimizer_of(std::string_view range) {
  constexpr std::string_view kStep = "Optimizer.step#";
  constexpr std::string_view kEnd = ".step";
  if (!range.starts_with(kStep)) return {};
  range.remove_prefix(kStep.size());
  if (range.ends_with(kEnd)) range.remove_suffix(kEnd.size());
  return range;
}

std::string_view vendor_of_device(std::string_view name) {
  struct Maker {
    std::string_view part, vendor;
  };
  // Drivers of before 2021 leave the maker out.
  static constexpr std::array kMakers = std::to_array<Maker>({{"NVIDIA", "nvidia"},
                                                              {"Tesla", "nvidia"},
                                                              {"GeForce", "nvidia"},
                                                              {"Quadro", "nvidia"},
                                                              {"TITAN", "nvidia"},
                                                              {"AMD", "amd"},
                                                              {"Radeon", "amd"},
                                                              {"Instinct", "amd"},
                                                              {"Intel", "intel"},
                                                              {"Ascend", "ascend"},
                                                              {"MTIA", "mtia"}});
  const auto* const found =
      std::ranges::find_if(kMakers, [&](const Maker& maker) { return holds(name, maker.part); });
  return found == kMakers.end() ? std::string_view() : found->vendor;
}

std::string_view vendor_of_call(std::string_view call) {
  const auto begins = [&](std::string_view prefix) {
    return call.size() > prefix.size() && call.starts_with(prefix) && call[prefix.size()] >= 'A' &&
           call[prefix.size()] <= 'Z';
  };
  if (begins("hip") || begins("hsa")) return "amd";
  if (begins("cuda") || begins("cu")) return "nvidia";
  if (begins("ze") || begins("ur")) return "intel";
  if (begins("acl")) return "ascend";
  return {};
}

std::int64_t generation_named(std::string_view kernel) {
  struct Generation {
    std::string_view part;
    std::int64_t major;
  };
  static constexpr std::array kGenerations = std::to_array<Generation>({{"maxwell_", 5},
                                                                        {"pascal_", 6},
                                                                        {"volta_", 7},
                                                                        {"turing_", 7},
                                                                        {"ampere_", 8},
                                                                        {"hopper_", 9},
                                                                        {"nvjet_hsh", 9},
                                                                        {"blackwell_", 10}});
  std::int64_t newest = of_sm(kernel);
  for (const Generation& one : kGenerations) {
    if (holds(kernel, one.part)) newest = std::max(newest, one.major);
  }
  return newest;
}

}  // namespace stepscope::analysis
