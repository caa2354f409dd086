// Makes JSON of a header value that is nearly JSON: a user may have put anything there.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::ingest::kineto {

// Strings are decoded and written anew, bare words put in quotes, commas set right. What is beyond
// that stays broken: the caller parses the result.
std::string mend(std::string_view value);

}  // namespace stepscope::ingest::kineto
