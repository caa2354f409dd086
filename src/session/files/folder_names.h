// What a folder holds, by name; and what a path leads to: for searches that must not leave a
// folder.
#pragma once

#include <sys/stat.h>

#include <limits>
#include <string>
#include <vector>

namespace stepscope::session {

// Adds the names of all that lies in `folder`, in no order, at most `most`; errno, or 0. `within`
// holds it to a folder as bytes/beneath.h does; empty: anywhere.
int list_names(const std::string& folder, const std::string& within,
               std::vector<std::string>& names,
               std::size_t most = std::numeric_limits<std::size_t>::max());

// As ::stat, false where there is nothing or what lies outside of `within`.
bool look_at(const std::string& path, const std::string& within, struct stat& facts);

// Whether a path without links in it is the folder or lies in it.
bool is_within(std::string_view path, std::string_view folder);

}  // namespace stepscope::session
