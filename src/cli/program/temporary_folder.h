// New folders for what is needed until the command ends.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::cli {

// TMPDIR, or where programs without one put their files.
std::string temporary_place();

// A new folder that begins with this name; empty where none can be made.
std::string make_temporary_folder(std::string_view name);

// With all that is in it.
void remove_folder(const std::string& folder);

}  // namespace stepscope::cli
