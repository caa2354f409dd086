#include "analysis/device/kernel_owners.h"

#include <fmt/format.h>

#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

constexpr std::string_view kModule = "nn.Module: ";

// "nn.Module: LayerNorm_12" is one of many LayerNorms.
std::string_view without_instance(std::string_view module) {
  const std::size_t end = module.find_last_not_of("0123456789");
  const bool numbered = end != std::string_view::npos && end + 1 < module.size();
  return numbered && module[end] == '_' ? module.substr(0, end) : module;
}

}  // namespace

std::string_view launching_operator(const WindowView& window, const Work& piece) {
  const trace::LaunchTable& launches = window.trace->launches();
  if (piece.launch == trace::kNoRow) return {};
  const std::uint32_t entry = launches.rows.find(piece.launch);
  if (entry == base::RowSet::kNone || launches.op[entry] == trace::kNoRow) return {};
  return window.trace->name_text(launches.op[entry]);
}

std::string_view range_around(const WindowView& window, const Work& piece) {
  const trace::Trace& trace = *window.trace;
  std::string_view outermost;
  for (Row row = piece.launch; row != trace::kNoRow; row = trace.parent()[row]) {
    const std::string_view name = trace.name_text(row);
    const Kind kind = trace.kind()[row];
    if (kind == Kind::kAnnotation && !trace::names_a_step(name)) return name;
    if (kind == Kind::kPython && name.starts_with(kModule)) return without_instance(name);
    if (kind == Kind::kCpuOp) outermost = name;
  }
  return outermost;
}

std::string joined_names(std::span<const std::string_view> names) {
  constexpr std::size_t kMostNames = 32;
  std::string out;
  std::size_t written = 0;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t end = i + 1;
    while (end < names.size() && names[end] == names[i]) ++end;
    if (!out.empty()) out += " | ";
    if (written++ == kMostNames) return out + fmt::format("and {} more", names.size() - i);
    if (end - i > 1) out += fmt::format("{} x ", end - i);
    out += names[i].empty() ? std::string_view("unknown") : names[i];
    i = end;
  }
  return out;
}

}  // namespace stepscope::analysis
