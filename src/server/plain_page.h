// Pages that stand alone, for people at a browser where the real one cannot be shown.
#pragma once

#include <string_view>

#include "server/request.h"

namespace stepscope::server {

// `html` is what stands below the title; nothing in either may come from outside.
Response plain_page(unsigned status, std::string_view title, std::string_view html);

}  // namespace stepscope::server
