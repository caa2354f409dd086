// Who started the kernels of a repeat: the operators, and the module or named range around them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/device/fusible.h"

namespace stepscope::analysis {

class RepeatOwners {
 public:
  RepeatOwners(std::span<const WindowView> windows, const FusibleText& text)
      : windows_(windows), text_(text) {}

  // Whether the trace says of any of these kernels who launched it.
  bool knows(const Repeat::Place& place) const;
  // The operator that launched the kernel at a place; empty: not recorded.
  std::string_view operator_of(std::uint32_t place) const;
  // What most of the repeat's places are started in; of several the one that comes first. Nothing
  // when the trace does not say.
  std::optional<std::string> around(const Repeat& repeat) const;

 private:
  std::string_view around(std::uint32_t place) const;

  std::span<const WindowView> windows_;
  const FusibleText& text_;
};

}  // namespace stepscope::analysis
