// Names of operators as people say them: autograd's own are not for readers.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::advice {

// "autograd::engine::evaluate_function: MulBackward0" is "backward of mul"; others stay.
std::string readable_name(std::string_view name);

}  // namespace stepscope::advice
