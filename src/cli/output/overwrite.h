// Whether a command may write where it was told to: never over what it reads, and never over
// somebody's trace because a file name was forgotten.
#pragma once

#include <span>
#include <string>

#include "base/result.h"

namespace stepscope::cli {

// `option` is how the user named the file: "-o", "--html". Fails when `path` is one of the inputs
// or a trace in one of the folders among them.
base::Status check_not_an_input(const std::string& option, const std::string& path,
                                std::span<const std::string> inputs);

// Fails when `path` is there and is no page.
base::Status check_may_hold_page(const std::string& option, const std::string& path);

}  // namespace stepscope::cli
