// Small YAML files of the user's: read whole, errors with their place.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"

namespace stepscope::session {

// What YAML's reader lets pass in silence, and what no file of a user's means.

// A key that a mapping says twice (one of the values would be lost), a second document (all of it
// would be lost), and NUL in a text (no path or name can hold one): the first of them, with its
// place. Throws what the library throws where the text is no YAML.
base::Status check_form(const std::string& text, std::string_view name);

// At most 1 MiB.
base::Result<std::string> read_small_file(const std::string& path);

// "peaks.yaml:3:7: what"
base::Failure wrong_at(std::string_view name, const YAML::Node& node, const std::string& what);
base::Failure wrong_at(std::string_view name, const YAML::Mark& place, const std::string& what);

// The text of a scalar; empty for anything else.
std::string scalar_of(const YAML::Node& node);

// "; did you mean 'limits'?", or all there are.
std::string meant(std::string_view given, std::span<const std::string_view> words);

// What the library threw, with its place; tabs, which look like spaces, by their name.
base::Failure yaml_failure(std::string_view text, std::string_view name,
                           const YAML::Exception& error);

// What `parse` makes of the one document of a text that says each key once. The
// library reports by throwing; nothing of that leaves this function.
template <class T>
base::Result<T> with_yaml(const std::string& text, std::string_view name,
                          const std::function<base::Result<T>(const YAML::Node&)>& parse) {
  try {
    SCOPE_TRY(check_form(text, name));
    return parse(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return yaml_failure(text, name, error);
  }
}

}  // namespace stepscope::session
