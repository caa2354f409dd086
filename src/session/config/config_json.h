// Values of the settings file as JSON, and the JSON Schema of the file.
#pragma once

#include <string>
#include <string_view>

#include "report/writing/json_writer.h"
#include "session/config/config_file.h"

namespace stepscope::session {

void write_config_value(report::JsonWriter& json, const ConfigValue& value);

// The key's value or default, as a member of this name.
void config_member(report::JsonWriter& json, std::string_view name, const Config& config,
                   std::string_view path);

// JSON Schema, draft 2020-12, of the whole file.
std::string config_schema();

}  // namespace stepscope::session
