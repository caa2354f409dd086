// What a settings file says: values by key, checked. Its form is docs/formats/config.md; which keys
// there are is config_keys.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "report/writing/json_writer.h"

namespace stepscope::session {

using ConfigValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>,
                                 std::vector<std::int64_t>>;

class Config {
 public:
  // Whether the file says it. A group: whether it stands there, with keys.
  bool has_key(std::string_view path) const;
  // As the file says it, else the key's default; the key must be of that kind and have one.
  template <class T>
  T get(std::string_view path) const {
    return std::get<T>(value_of(path));
  }
  template <class T>
  std::optional<T> given(std::string_view path) const {
    const auto found = values_.find(path);
    return found == values_.end() ? std::nullopt : std::optional(std::get<T>(found->second));
  }
  ConfigValue value_of(std::string_view path) const;
  void set(std::string_view path, ConfigValue value);
  void forget(std::string_view group);  // all that is said in it

 private:
  std::map<std::string, ConfigValue, std::less<>> values_;
};

base::Result<Config> read_config(const std::string& path);

// Errors begin with `name` and the place, and name the nearest right word: "a.yaml:3:7: …".
base::Result<Config> parse_config(const std::string& text, std::string_view name);

// The default that the table declares; nothing where there is none.
std::optional<ConfigValue> config_default(std::string_view path);

// Values of the settings file as JSON, and the JSON Schema of the file.

void write_config_value(report::JsonWriter& json, const ConfigValue& value);

// The key's value or default, as a member of this name.
void config_member(report::JsonWriter& json, std::string_view name, const Config& config,
                   std::string_view path);

// JSON Schema, draft 2020-12, of the whole file.
std::string config_schema();

// The settings file as `stepscope config` prints it: every key with its meaning and its default.

// YAML in which nothing is said: groups stand there, keys are comments to uncomment.
std::string commented_config();

}  // namespace stepscope::session
