// The interface as OpenAPI 3.1, made from the descriptors of the analyses and one table.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::server {

std::string openapi_json(std::string_view program_version);

}  // namespace stepscope::server
