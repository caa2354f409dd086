// Call stacks of operators: Python's own spans around them, or the text that traces of 2021 have.
#include <algorithm>
#include <unordered_map>

#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/operators/op_groups.h"

namespace stepscope::analysis {
namespace {

using base::StringId;
using trace::Row;

constexpr std::uint32_t kOpStacksNone = 0xffffffff;
constexpr std::uint32_t kBackward =
    kOpStacksNone - 1;  // stands for a frame: the rest called the forward

// Where an operator was called from.
struct OpStacksPlace {
  Row frame = trace::kNoRow;        // the innermost Python span, or
  StringId text = base::kNoString;  // frames by ';', the innermost first
  bool backward = false;            // of the forward operator
  bool found() const { return frame != trace::kNoRow || text != base::kNoString; }
  bool operator==(const OpStacksPlace&) const = default;
};

bool has_stacks(const trace::Trace& trace) {
  return trace.stacks().rows.size() > 0 ||
         std::ranges::find(trace.kind(), trace::Kind::kPython) != trace.kind().end();
}

OpStacksPlace place_around(const trace::Trace& trace, Row row, Row& forward) {
  OpStacksPlace place;
  for (; row != trace::kNoRow; row = trace.parent()[row]) {
    if (trace.kind()[row] == trace::Kind::kPython) {
      place.frame = row;
      place.text = base::kNoString;
      break;
    }
    if (const std::uint32_t said = trace.stacks().rows.find(row);
        said != base::RowSet::kNone && place.text == base::kNoString) {
      place.text = trace.stacks().call_stack[said];
    }
    if (const std::uint32_t entry = trace.backward().rows.find(row);
        entry != base::RowSet::kNone && forward == trace::kNoRow) {
      forward = trace.backward().forward[entry];
    }
  }
  return place;
}

// Autograd's threads have no Python frames: there it is what called the forward operator.
OpStacksPlace op_stacks_place_of(const trace::Trace& trace, Row op) {
  Row forward = trace::kNoRow;
  OpStacksPlace place = place_around(trace, op, forward);
  if (place.found() || forward == trace::kNoRow) return place;
  Row further = trace::kNoRow;
  place = place_around(trace, forward, further);
  place.backward = place.found();
  return place;
}

// Whether nothing from a call up to one around it says where it was called from: then the outer one
// says it for both.
bool is_placed_as(const trace::Trace& trace, Row outer, Row call) {
  for (; call != outer; call = trace.parent()[call]) {
    if (trace.kind()[call] == trace::Kind::kPython || trace.stacks().rows.contains(call) ||
        trace.backward().rows.contains(call)) {
      return false;
    }
  }
  return true;
}

bool op_stacks_passes_on(std::string_view frame) {
  return frame.starts_with("<built-in") || frame.starts_with("nn.Module: ") ||
         frame.ends_with("_call_impl");
}

// Frames as paths from the innermost outwards. A path is a number: its outermost frame and the path
// further in.
class Paths {
 public:
  Paths(const trace::Trace& trace, std::size_t most)
      : trace_(&trace), most_(most), of_name_(trace.strings().size(), kUnasked) {}

  std::uint32_t path(const OpStacksPlace& place) {
    std::uint32_t path = place.backward ? paths_.number(kOpStacksNone, kBackward) : kOpStacksNone;
    std::size_t taken = 0;
    const auto take = [&](std::uint32_t frame) {
      if (frame == kOpStacksNone) return;
      path = paths_.number(path, frame);
      ++taken;
    };
    const auto wanted = [&] { return most_ == 0 || taken < most_; };
    for (Row row = place.frame; row != trace::kNoRow && wanted(); row = trace_->parent()[row]) {
      if (trace_->kind()[row] == trace::Kind::kPython) take(of_name(trace_->name()[row]));
    }
    if (place.text != base::kNoString) {
      std::string_view left = trace_->text(place.text);
      while (!left.empty() && wanted()) {
        const std::size_t end = std::min(left.find(';'), left.size());
        take(number(left.substr(0, end)));
        left.remove_prefix(std::min(end + 1, left.size()));
      }
    }
    return path;
  }
  std::string text(std::uint32_t path) const {
    std::vector<std::uint32_t> outwards;
    for (; path != kOpStacksNone; path = paths_.members()[path].first) {
      outwards.push_back(paths_.members()[path].second);
    }
    std::string text;
    std::string_view separator;
    for (std::size_t i = outwards.size(); i-- > 0;) {
      if (outwards[i] == kBackward) {
        text += "backward of ";
        continue;
      }
      text += separator;
      text += frames_[outwards[i]];
      separator = "; ";
    }
    return text;
  }

 private:
  static constexpr std::uint32_t kUnasked = kOpStacksNone - 2;

  std::uint32_t of_name(StringId name) {
    if (name == base::kNoString) return kOpStacksNone;
    if (of_name_[name] == kUnasked) of_name_[name] = number(trace_->text(name));
    return of_name_[name];
  }
  // kNone: a frame that says nothing of the place.
  std::uint32_t number(std::string_view frame) {
    if (op_stacks_passes_on(frame)) return kOpStacksNone;
    const auto [found, fresh] =
        numbers_.try_emplace(frame, static_cast<std::uint32_t>(frames_.size()));
    if (fresh) frames_.push_back(frame);
    return found->second;
  }

  const trace::Trace* trace_;
  std::size_t most_;
  std::vector<std::uint32_t> of_name_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::vector<std::string_view> frames_;
  PairNumbers paths_;
};

}  // namespace

OpKeys keys_by_stack(const WindowView& window, const OpCalls& ops, std::size_t frames) {
  const trace::Trace& trace = *window.trace;
  OpKeys keys;
  if (!has_stacks(trace)) return keys;
  keys.key.reserve(ops.calls.size());
  Paths paths(trace, frames);
  PairNumbers pairs;
  std::vector<std::uint32_t> path_of;  // by call
  path_of.reserve(ops.calls.size());
  OpStacksPlace last;
  std::uint32_t last_path = kOpStacksNone;
  for (const OpCall& call : ops.calls) {
    std::uint32_t path = kOpStacksNone;
    if (call.parent != OpCall::kNone && is_placed_as(trace, ops.calls[call.parent].row, call.row)) {
      path = path_of[call.parent];
    } else {
      // Operators of one place follow each other.
      if (const OpStacksPlace place = op_stacks_place_of(trace, call.row); place != last) {
        last = place;
        last_path = paths.path(place);
      }
      path = last_path;
    }
    path_of.push_back(path);
    keys.has_details |= path != kOpStacksNone;
    keys.key.push_back(pairs.number(trace.name()[call.row], path));
  }
  for (const auto& [name, path] : pairs.members()) {
    keys.labels.push_back({std::string(trace.text(name)), paths.text(path), {}});
  }
  return keys;
}

}  // namespace stepscope::analysis
