#include "analysis/device/repeat_owners.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

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

constexpr std::string_view kUnknown = "unknown";

}  // namespace

bool RepeatOwners::knows(const Repeat::Place& place) const {
  for (std::uint32_t i = 0; i < place.count; ++i) {
    if (operator_of(place.first + i) != kUnknown) return true;
  }
  return false;
}

std::string_view RepeatOwners::operator_of(std::uint32_t place) const {
  const FusibleText::Kernel& kernel = text_.kernels[place];
  const WindowView& window = windows_[kernel.window];
  const trace::LaunchTable& launches = window.trace->launches();
  const Row launch = window.work[kernel.work].launch;
  if (launch == trace::kNoRow) return kUnknown;
  const std::uint32_t entry = launches.rows.find(launch);
  if (entry == base::RowSet::kNone || launches.op[entry] == trace::kNoRow) return kUnknown;
  return window.trace->name_text(launches.op[entry]);
}

std::string_view RepeatOwners::around(std::uint32_t place) const {
  const FusibleText::Kernel& kernel = text_.kernels[place];
  const WindowView& window = windows_[kernel.window];
  const trace::Trace& trace = *window.trace;
  std::string_view outermost;
  for (Row row = window.work[kernel.work].launch; row != trace::kNoRow; row = trace.parent()[row]) {
    const std::string_view name = trace.name_text(row);
    const Kind kind = trace.kind()[row];
    if (kind == Kind::kAnnotation && !name.starts_with("ProfilerStep#")) return name;
    if (kind == Kind::kPython && name.starts_with(kModule)) return without_instance(name);
    if (kind == Kind::kCpuOp) outermost = name;
  }
  return outermost;
}

std::optional<std::string> RepeatOwners::around(const Repeat& repeat) const {
  struct Found {
    std::string_view name;
    std::size_t count = 0;
  };
  std::vector<Found> found;
  std::unordered_map<std::string_view, std::size_t> index;
  for (const Repeat::Place& place : repeat.places) {
    const std::string_view name = around(place.first);
    if (name.empty()) continue;
    const auto [at, fresh] = index.try_emplace(name, found.size());
    if (fresh) found.push_back({name, 0});
    ++found[at->second].count;
  }
  if (found.empty()) return std::nullopt;
  return std::string(std::ranges::max_element(found, {}, &Found::count)->name);
}

}  // namespace stepscope::analysis
