// Files moved from one disk to another, each whole or not at all.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace stepscope::session {

struct MovedFiles {
  std::size_t files = 0;
  std::size_t left = 0;     // that stayed where they were
  std::string first_error;  // of those
};

// Everything below `from` to the same place below `to`. What is there already is not overwritten:
// a file of the same name and content is taken for moved, any other stays.
MovedFiles move_tree(const std::string& from, const std::string& to);

}  // namespace stepscope::session
