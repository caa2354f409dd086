// The door for those who may see one folder only: a server that offers what lies below it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "session/session.h"

namespace stepscope::session {

// As open(), but reads nothing outside of `folder`, which has no links in its path: links that lead
// out are left out and noted. The paths must lie in it. An empty folder is no limit.
base::Result<Recording> open_within(const std::string& folder,
                                    const std::vector<std::string>& paths,
                                    const OpenOptions& options);

}  // namespace stepscope::session
