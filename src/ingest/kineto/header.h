// What the keys beside the event list say.
#pragma once

#include <string>
#include <string_view>

#include "trace/header.h"

namespace stepscope::ingest::kineto {

// Takes one top-level member: its name and its value as JSON text. False if the value is not JSON;
// it is then kept in no form.
bool take_member(trace::Header& header, const std::string& name, std::string_view value);

}  // namespace stepscope::ingest::kineto
