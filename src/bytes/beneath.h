// Opening what lies below a folder that others may write to. Between looking at a path and opening
// it a link may be put into its place: so the path is followed once, and then opened part by
// part from the folder down, no link followed. What was found to lie in the folder is what is
// opened.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

namespace stepscope::bytes {

// Whether a path without links in it is the folder or lies in it.
bool is_within(std::string_view path, std::string_view folder);

// As ::open for reading: a descriptor, or -1 and errno. `folder` has no links in its path; links in
// `path` are followed as long as they end in the folder, else errno is EACCES. An empty folder is
// no limit.
int open_beneath(const std::string& folder, const std::string& path, int flags);

// As ::stat, held to the folder in the same way.
int stat_beneath(const std::string& folder, const std::string& path, struct stat& facts);

// The second half: `below` is relative to the folder, and a link anywhere in it is an error
// (ELOOP).
int open_without_links(const std::string& folder, std::string_view below, int flags);

}  // namespace stepscope::bytes
