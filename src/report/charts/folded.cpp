// Writes stacks in the folded format of flame-graph tools.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/charts/flame_graph.h"

namespace stepscope::report {
namespace {

bool has_several_ranks(const base::Table& frames, std::size_t rank) {
  for (std::size_t r = 1; r < frames.rows(); ++r) {
    if (frames.int_at(rank, r) != frames.int_at(rank, 0)) return true;
  }
  return false;
}

std::string frame_text(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c == ';') c = ',';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

}  // namespace

std::string folded_text(const base::Table& frames, std::string_view own) {
  const auto rank = frames.find("rank");
  const auto depth = frames.find("depth");
  const auto name = frames.find("frame");
  const auto value = frames.find(own);
  if (!rank || !depth || !name || !value) return {};
  const bool several = has_several_ranks(frames, *rank);
  std::string out;
  std::string stack;
  std::vector<std::size_t> ends;  // of the stack's text, by depth
  for (std::size_t r = 0; r < frames.rows(); ++r) {
    const auto level = static_cast<std::size_t>(frames.int_at(*depth, r));
    ends.resize(std::min(ends.size(), level));
    stack.resize(ends.empty() ? 0 : ends.back());
    if (level == 0 && several) stack = fmt::format("rank {}", frames.int_at(*rank, r));
    if (!stack.empty()) stack += ';';
    stack += frame_text(frames.text_at(*name, r));
    ends.push_back(stack.size());
    if (const std::int64_t time = frames.int_at(*value, r); time > 0) {
      out += stack + ' ' + std::to_string(time) + '\n';
    }
  }
  return out;
}

}  // namespace stepscope::report
