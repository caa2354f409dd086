#include "session/addresses.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/notes.h"

namespace stepscope::session {
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

std::string addresses_beside(std::string_view snapshot_path) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (snapshot_path.ends_with(packed)) snapshot_path.remove_suffix(packed.size());
  }
  for (const std::string_view ending : {".pickle", ".pkl"}) {
    if (!snapshot_path.ends_with(ending)) continue;
    snapshot_path.remove_suffix(ending.size());
    return std::string(snapshot_path) + "-addresses.json";
  }
  return {};
}

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

void add_known_addresses(const std::string& snapshot_path, memory::Snapshot& snapshot) {
  const std::string path = addresses_beside(snapshot_path);
  std::ifstream file(path, std::ios::binary);
  if (path.empty() || !file) return;
  const std::string text(std::istreambuf_iterator<char>(file), {});
  auto known = parse_addresses(text);
  if (known) {
    snapshot.known = *std::move(known);
  } else {
    snapshot.log.add(base::Note::kUnknownValue, base::ImportLog::kNowhere,
                     path + " " + known.error().message);
  }
}

}  // namespace stepscope::session
