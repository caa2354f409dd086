// Every key of the settings file, declared once: the reader, the JSON Schema, the commented default
// and the docs are made from this table (docs/design/0020-one-settings-file.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::session {

enum class ConfigKind : std::uint8_t {
  kGroup,     // holds other keys
  kSwitch,    // true or false
  kCount,     // a whole number
  kNumber,    // above 0
  kText,      //
  kChoice,    // one of the choices
  kWords,     // texts, of the choices where there are some
  kNumbers,   // whole numbers from 0
  kSize,      // bytes
  kSteps,     // 10:15
  kEpoch,     // 4 or 4:10-20
  kBatches,   // 10-20
  kLogLevel,  // true, false, or one of the choices
};

struct ConfigKey {
  std::string_view path;  // "snapshot.stacks"
  ConfigKind kind = ConfigKind::kSwitch;
  std::string_view about = {};
  std::string_view fallback = {};  // the default, as the file would say it; empty: there is none
  std::string_view sample = {};    // shown where there is no default
  std::span<const std::string_view> choices = {};
  std::int64_t least = 0;            // of counts
  double most = 0;                   // of numbers; 0: no limit
  std::string_view alias_of = {};    // another key's path: this is an older name of it
  std::string_view instead_of = {};  // keys of the same group that may not stand beside it
  bool says_itself = false;          // a group that means something by standing there
};

// Groups come before what they hold.
std::span<const ConfigKey> config_keys();

// Null: there is none.
const ConfigKey* find_config_key(std::string_view path);

// The keys a group holds; "" is the file itself.
std::vector<const ConfigKey*> keys_in_group(std::string_view group);

// "stacks" of "snapshot.stacks".
std::string_view last_name(std::string_view path);

// What a key takes, as the end of a sentence: "one of python, all, none".
std::string taken_by(const ConfigKey& key);

}  // namespace stepscope::session
