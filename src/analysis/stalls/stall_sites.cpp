// Finds the call, the operator and the Python frames of host events, as numbers.
#include "analysis/stalls/stall_sites.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analysis/idle/idle_hosts.h"
#include "trace/step_names.h"

namespace stepscope::analysis {

using base::StringId;
using trace::Kind;
using trace::Row;

namespace {

constexpr std::size_t kFrames = 3;

// In the tables by string, beside numbers of texts.
constexpr std::uint32_t kNotAsked = 0xffffffff;
constexpr std::uint32_t kPassedOver = 0xfffffffe;
constexpr std::uint32_t kEmpty = 0xfffffffd;

// Frames that say nothing about the user's code.
bool stall_place_passes_on(std::string_view frame) {
  return frame.starts_with("<built-in") || frame.starts_with("nn.Module: ") ||
         frame.ends_with("_call_impl") || frame.find("torch/profiler/") != std::string_view::npos;
}

std::string from_text(std::string_view stack) {
  std::string out;
  std::size_t taken = 0;
  while (!stack.empty() && taken < kFrames) {
    const std::string_view frame = stack.substr(0, stack.find(';'));
    if (!stall_place_passes_on(frame)) {
      out += (out.empty() ? "" : "; ");
      out += frame;
      ++taken;
    }
    stack.remove_prefix(std::min(frame.size() + 1, stack.size()));
  }
  return out;
}

}  // namespace

StallSites::StallSites(const trace::Trace& trace)
    : trace_(&trace),
      steps_(trace, trace::names_a_step),
      frames_(trace.strings().size(), kNotAsked),
      stacks_(trace.stacks().rows.size() > 0 ? trace.strings().size() : 0, kNotAsked) {}

std::uint32_t StallSites::number(std::string text) {
  if (text.empty()) return kEmpty;
  const auto [found, fresh] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(std::move(text));
  return found->second;
}

std::uint32_t StallSites::frame_of(StringId name) {
  if (name >= frames_.size()) return kEmpty;
  if (frames_[name] == kNotAsked) {
    const std::string_view text = trace_->text(name);
    frames_[name] = stall_place_passes_on(text) ? kPassedOver : number(without_addresses(text));
  }
  return frames_[name];
}

std::uint32_t StallSites::stack_of(StringId text) {
  if (text >= stacks_.size()) return kEmpty;
  if (stacks_[text] == kNotAsked) stacks_[text] = number(from_text(trace_->text(text)));
  return stacks_[text];
}

StallSite StallSites::at(Row row) {
  const trace::Trace& trace = *trace_;
  const auto is_empty = [&](StringId name) { return trace.text(name).empty(); };
  StallSite out;
  StringId annotation = base::kNoString;
  std::size_t filled = 0;  // of out.frames
  std::size_t taken = 0;
  bool outside = false;  // Python calls an operator: what is further out is not its caller's name
  const auto fill = [&](std::uint32_t text) {
    if (text != kEmpty) out.frames[filled++] = text;
  };
  for (; row != trace::kNoRow; row = trace.parent()[row]) {
    const Kind kind = trace.kind()[row];
    const StringId name = trace.name()[row];
    if (kind == Kind::kPython) {
      outside = true;
      if (taken == kFrames) continue;
      const std::uint32_t frame = frame_of(name);
      if (frame == kPassedOver) continue;
      fill(frame);
      ++taken;
      continue;
    }
    if (trace::is_api_call(kind) && is_empty(out.call)) out.call = name;
    if (kind == Kind::kCpuOp && !outside) out.op = name;
    if (kind == Kind::kAnnotation && is_empty(annotation) && !steps_.matches_name(name))
      annotation = name;
    if (filled > 0) continue;
    if (const std::uint32_t said = trace.stacks().rows.find(row); said != base::RowSet::kNone) {
      fill(stack_of(trace.stacks().call_stack[said]));
    }
  }
  if (is_empty(out.op)) out.op = annotation;
  return out;
}

PlaceText StallSites::text(const StallSite& site) const {
  PlaceText out{std::string(trace_->text(site.call)), std::string(trace_->text(site.op)), {}};
  for (const std::uint32_t frame : site.frames) {
    if (frame == StallSite::kNone) break;
    if (!out.frames.empty()) out.frames += "; ";
    out.frames += texts_[frame];
  }
  return out;
}

}  // namespace stepscope::analysis
