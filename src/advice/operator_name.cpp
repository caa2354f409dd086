// Names of autograd's operators made readable.
#include <algorithm>
#include <cctype>

#include "advice/finding.h"
#include "base/ascii.h"

namespace stepscope::advice {
namespace {

constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
constexpr std::string_view kBackward = "Backward";
constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// "NativeLayerNorm" is native_layer_norm.
std::string with_underscores(std::string_view words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool begins = is_upper(words[i]) && i > 0 && !is_upper(words[i - 1]) &&
                        !base::is_digit(words[i - 1]) && words[i - 1] != '_';
    if (begins) out += '_';
    out += base::lowered(words[i]);
  }
  return out;
}

// What "MulBackward0" is the backward pass of; empty where it is no such name.
std::string_view forward_of(std::string_view node) {
  while (!node.empty() && base::is_digit(node.back())) node.remove_suffix(1);
  if (!node.ends_with(kBackward)) return {};
  node.remove_suffix(kBackward.size());
  const bool is_one_word = std::ranges::all_of(
      node, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  return is_one_word && !node.empty() && is_upper(node.front()) ? node : std::string_view();
}

}  // namespace

std::string readable_name(std::string_view name) {
  std::string_view node = name;
  if (node.starts_with(kEngine)) node.remove_prefix(kEngine.size());
  if (node == kAccumulate) return "adding up gradients";
  const std::string_view forward = forward_of(node);
  if (!forward.empty()) return "backward of " + with_underscores(forward);
  return std::string(node);
}

}  // namespace stepscope::advice
