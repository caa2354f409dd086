// The settings file as `stepscope config` prints it: every key with its meaning and its default.
#pragma once

#include <string>

namespace stepscope::session {

// YAML in which nothing is said: groups stand there, keys are comments to uncomment.
std::string commented_config();

}  // namespace stepscope::session
