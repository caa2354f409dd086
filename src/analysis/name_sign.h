// What names say, each examined once: a trace has millions of events and thousands of names.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::analysis {

class NameSign {
 public:
  using Names = bool (*)(std::string_view);

  NameSign(const trace::Trace& trace, Names names)
      : trace_(&trace), names_(names), known_(trace.strings().size()) {}

  // Whether the name of this row is such a one.
  bool matches_row(trace::Row row) { return matches_name(trace_->name()[row]); }
  bool matches_name(base::StringId name) {
    if (name >= known_.size()) return names_({});  // an event without a name
    std::uint8_t& known = known_[name];
    if (known == kNotAsked) known = names_(trace_->text(name)) ? kYes : kNo;
    return known == kYes;
  }

 private:
  static constexpr std::uint8_t kNotAsked = 0, kNo = 1, kYes = 2;
  const trace::Trace* trace_;
  Names names_;
  std::vector<std::uint8_t> known_;  // by name
};

}  // namespace stepscope::analysis
