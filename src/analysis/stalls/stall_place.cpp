#include "analysis/stalls/stall_place.h"

#include <string_view>

#include "analysis/idle/idle_hosts.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

constexpr std::size_t kFrames = 3;

// Frames that say nothing about the user's code.
bool passes_on(std::string_view frame) {
  return frame.starts_with("<built-in") || frame.starts_with("nn.Module: ") ||
         frame.ends_with("_call_impl") || frame.find("torch/profiler/") != std::string_view::npos;
}

std::string from_text(std::string_view stack) {
  std::string out;
  std::size_t taken = 0;
  while (!stack.empty() && taken < kFrames) {
    const std::string_view frame = stack.substr(0, stack.find(';'));
    if (!passes_on(frame)) {
      out += (out.empty() ? "" : "; ");
      out += frame;
      ++taken;
    }
    stack.remove_prefix(std::min(frame.size() + 1, stack.size()));
  }
  return out;
}

}  // namespace

PlaceText place_text(const trace::Trace& trace, Row row) {
  PlaceText out;
  std::string_view annotation;
  std::size_t taken = 0;
  bool outside = false;  // Python calls an operator: what is further out is not its caller's name
  for (; row != trace::kNoRow; row = trace.parent()[row]) {
    const Kind kind = trace.kind()[row];
    const std::string_view name = trace.name_text(row);
    if (trace::is_api_call(kind) && out.call.empty()) out.call = name;
    if (kind == Kind::kCpuOp && !outside) out.op = name;
    if (kind == Kind::kAnnotation && annotation.empty() && !trace::names_a_step(name)) {
      annotation = name;
    }
    if (kind == Kind::kPython) {
      outside = true;
      if (taken < kFrames && !passes_on(name)) {
        out.frames += (out.frames.empty() ? "" : "; ") + without_addresses(name);
        ++taken;
      }
    } else if (out.frames.empty()) {
      if (const std::uint32_t said = trace.stacks().rows.find(row); said != base::RowSet::kNone) {
        const base::StringId text = trace.stacks().call_stack[said];
        if (text != base::kNoString) out.frames = from_text(trace.text(text));
      }
    }
  }
  if (out.op.empty()) out.op = annotation;
  return out;
}

}  // namespace stepscope::analysis
