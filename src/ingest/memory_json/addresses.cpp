// Reads addresses of parameters, gradients and optimizer state.
#include "ingest/memory_json/addresses.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace stepscope::ingest::memory_json {
namespace {

using base::Code;
using base::fail;
using Json = nlohmann::json;
using memory::Content;
using memory::KnownContent;

constexpr std::string_view kSchema = "stepscope.addresses/1";

// Buffers belong to modules as parameters do, and analyses call them that.
constexpr std::array<std::pair<const char*, Content>, 4> kLists = {{
    {"parameters", Content::kParameters},
    {"buffers", Content::kParameters},
    {"gradients", Content::kGradients},
    {"optimizer_state", Content::kOptimizerState},
}};

}  // namespace

base::Result<std::vector<KnownContent>> parse_addresses(std::string_view text) {
  const Json file = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!file.is_object()) return fail(Code::kFormat, "is not a JSON object");
  const auto schema = file.find("schema");
  if (schema == file.end() || *schema != kSchema) {
    return fail(Code::kUnsupported, "is not of schema " + std::string(kSchema));
  }
  std::vector<KnownContent> known;
  for (const auto& [key, content] : kLists) {
    const auto list = file.find(key);
    if (list == file.end()) continue;
    if (!list->is_array()) return fail(Code::kFormat, std::string(key) + " is not a list");
    for (const Json& entry : *list) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number_unsigned() ||
          !entry[1].is_number_unsigned()) {
        return fail(Code::kFormat, std::string(key) + " has more than [address, bytes]");
      }
      known.push_back({.address = entry[0].get<std::uint64_t>(),
                       .bytes = entry[1].get<base::Bytes>(),
                       .content = content});
    }
  }
  std::ranges::stable_sort(known, {}, &KnownContent::address);
  return known;
}

}  // namespace stepscope::ingest::memory_json
