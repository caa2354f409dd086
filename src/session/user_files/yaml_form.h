// What YAML's reader lets pass in silence, and what no file of a user's means.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stepscope::session {

// A key that a mapping says twice (one of the values would be lost), a second document (all of it
// would be lost), and NUL in a text (no path or name can hold one): the first of them, with its
// place. Throws what the library throws where the text is no YAML.
base::Status check_form(const std::string& text, std::string_view name);

}  // namespace stepscope::session
