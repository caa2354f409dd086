// The JSON Schema of the settings file, and its values as JSON.
#include <type_traits>
#include <utility>

#include "session/config/config_file.h"
#include "session/config/config_keys.h"

namespace stepscope::session {
namespace {

using enum ConfigKind;
using report::JsonWriter;

void types(JsonWriter& json, std::initializer_list<std::string_view> names) {
  json.key("type");
  json.begin_list();
  for (const std::string_view name : names) json.value(name);
  json.end_list();
}

// Values that may be left open, which is as good as not there.
void choices(JsonWriter& json, const ConfigKey& key, bool open) {
  json.key("enum");
  json.begin_list();
  if (key.kind == kLogLevel) {
    json.value(true);
    json.value(false);
  }
  for (const std::string_view choice : key.choices) json.value(choice);
  if (open) json.null();
  json.end_list();
}

void list_of(JsonWriter& json, const ConfigKey& key) {
  const bool of_numbers = key.kind == kNumbers;
  types(json, {"array", of_numbers ? "integer" : "string", "null"});
  json.key("items");
  json.begin_object();
  if (!key.choices.empty()) {
    choices(json, key, false);
  } else {
    json.member("type", of_numbers ? "integer" : "string");
  }
  if (of_numbers) json.member("minimum", 0);
  json.end_object();
  if (of_numbers) {
    json.member("minItems", 1);
    json.member("minimum", 0);
  }
}

void leaf(JsonWriter& json, const ConfigKey& key) {
  switch (key.kind) {
    case kGroup:
      break;
    case kSwitch:
      return types(json, {"boolean", "null"});
    case kCount:
      types(json, {"integer", "null"});
      return json.member("minimum", key.least);
    case kNumber:
      types(json, {"number", "null"});
      json.member("exclusiveMinimum", 0);
      if (key.most > 0) json.member("maximum", key.most);
      return;
    case kText:
      types(json, {"string", "number", "null"});
      return json.member("minLength", 1);
    case kChoice:
    case kLogLevel:
      return choices(json, key, true);
    case kWords:
    case kNumbers:
      return list_of(json, key);
    case kSize:
      types(json, {"integer", "string", "null"});
      json.member("minimum", 1);
      return json.member("pattern", R"(^[0-9.]+ ?([kKmMgGtTpP]([iI]?[bB])?|[bB])?$)");
    case kSteps:
      types(json, {"string", "null"});
      return json.member("pattern", "^[0-9]+:[0-9]+$");
    case kEpoch:
      types(json, {"integer", "string", "null"});
      json.member("minimum", 0);
      return json.member("pattern", "^[0-9]+(:[0-9]+(-[0-9]+)?)?$");
    case kBatches:
      types(json, {"integer", "string", "null"});
      json.member("minimum", 0);
      return json.member("pattern", "^[0-9]+(-[0-9]+)?$");
  }
}

void group(JsonWriter& json, std::string_view path) {
  json.key("properties");
  json.begin_object();
  for (const ConfigKey* key : keys_in_group(path)) {
    const bool is_alias = !key->alias_of.empty();
    const ConfigKey& meant_key = is_alias ? *find_config_key(key->alias_of) : *key;
    json.key(last_name(key->path));
    json.begin_object();
    if (is_alias) {
      json.member("description", "the same as " + std::string(last_name(key->alias_of)));
      json.member("deprecated", true);
    } else {
      json.member("description", key->about);
    }
    if (const auto fallback = config_default(meant_key.path)) {
      json.key("default");
      write_config_value(json, *fallback);
    }
    if (key->kind == kGroup) {
      types(json, {"object", "null"});
      group(json, key->path);
    } else {
      leaf(json, meant_key);
    }
    json.end_object();
  }
  json.end_object();
  json.member("additionalProperties", false);
}

}  // namespace

void write_config_value(JsonWriter& json, const ConfigValue& value) {
  std::visit(
      [&](const auto& one) {
        using One = std::remove_cvref_t<decltype(one)>;
        constexpr bool kIsList = std::is_same_v<One, std::vector<std::string>> ||
                                 std::is_same_v<One, std::vector<std::int64_t>>;
        if constexpr (kIsList) {
          json.begin_list();
          for (const auto& item : one) json.value(item);
          json.end_list();
        } else {
          json.value(one);
        }
      },
      value);
}

void config_member(JsonWriter& json, std::string_view name, const Config& config,
                   std::string_view path) {
  json.key(name);
  write_config_value(json, config.value_of(path));
}

std::string config_schema() {
  JsonWriter json;
  json.begin_object();
  json.member("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.member("$id", "urn:stepscope:config:1");
  json.member("title", "stepscope.yaml: what stepscope records");
  types(json, {"object", "null"});
  group(json, "");
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::session
