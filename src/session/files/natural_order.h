// The order in which people list files: rank2 before rank10. Total and the same on every machine,
// so that results do not depend on how a folder happens to be stored.
#pragma once

#include <string_view>

namespace stepscope::session {

// Runs of digits compare as numbers, the rest by bytes; "a" sorts its folder's files together.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace stepscope::session
