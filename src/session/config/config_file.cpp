// Reads a settings file and checks every key of it.
#include "session/config/config_file.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "base/number_text.h"
#include "base/size_text.h"
#include "session/config/config_keys.h"
#include "session/config/recording_plan.h"
#include "session/user_files/yaml_file.h"

namespace stepscope::session {
namespace {

using enum ConfigKind;
using base::Result;

constexpr std::int64_t kMostCount = 1'000'000'000'000;
constexpr int kMostMerges = 16;  // mappings that take over from each other

std::optional<std::int64_t> count_in(std::string_view text, std::int64_t least) {
  const auto value = base::parse_number<std::int64_t>(text);
  return value && *value >= least && *value <= kMostCount ? value : std::nullopt;
}

std::optional<double> positive_in(std::string_view text, double most) {
  const auto value = base::parse_number<double>(text);
  const bool fits = value && std::isfinite(*value) && *value > 0 && (most == 0 || *value <= most);
  return fits ? value : std::nullopt;
}

std::optional<bool> switch_in(const YAML::Node& node) {
  bool value = false;
  return YAML::convert<bool>::decode(node, value) ? std::optional(value) : std::nullopt;
}

template <class T>
std::optional<ConfigValue> as_value(const std::optional<T>& found) {
  return found ? std::optional<ConfigValue>(*found) : std::nullopt;
}

class ConfigReader {
 public:
  explicit ConfigReader(std::string_view name) : name_(name) {}

  Result<Config> file(const YAML::Node& root) {
    Config config;
    if (!root.IsDefined() || root.IsNull()) return config;
    group("", root, config);
    conflicts();
    if (wrongs_.empty()) return config;
    std::ranges::stable_sort(wrongs_, {}, &Wrong::place);
    std::vector<std::string> texts;
    texts.reserve(wrongs_.size());
    for (Wrong& one : wrongs_) texts.push_back(std::move(one.text));
    return base::fail(base::Code::kFormat, fmt::format("{}", fmt::join(texts, "\n")));
  }

  Result<ConfigValue> value(const ConfigKey& key, const YAML::Node& node) const {
    if (key.kind == kWords) return words(key, node);
    if (key.kind == kNumbers) return numbers(key, node);
    const std::string text = scalar_of(node);
    std::optional<ConfigValue> found;
    if (node.IsScalar()) {
      SCOPE_TRY(found, scalar(key, node, text));
    }
    if (!found)
      return wrong(node, fmt::format("'{}' takes {}", last_name(key.path), taken_by(key)));
    return *std::move(found);
  }

 private:
  base::Failure wrong(const YAML::Node& node, const std::string& what) const {
    return wrong_at(name_, node, what);
  }

  // All errors are reported at once: a user who mistypes one key mistypes two.
  void keep(const YAML::Node& node, const base::Error& error) {
    const YAML::Mark mark = node.Mark();
    wrongs_.push_back({{mark.line, mark.column}, error.message});
  }

  void group(const std::string& prefix, const YAML::Node& node, Config& config) {
    if (!node.IsMap()) {
      const std::string what = prefix.empty()
                                   ? "expected keys with values, such as 'folder: runs/%j'"
                                   : fmt::format("'{}' takes keys of its own, such as '{}'",
                                                 last_name(prefix), names_in(prefix).front());
      keep(node, wrong(node, what).error);
      return;
    }
    for (const auto& entry : node) {
      if (!is_merge(entry.first)) entry_of(prefix, entry.first, entry.second, config);
    }
    // What the group says itself goes before what it takes over from elsewhere.
    for (const auto& entry : node) {
      if (is_merge(entry.first)) merge(prefix, entry.second, config, kMostMerges);
    }
  }

  // "<<: *name", YAML's way to say again what another mapping said.
  static bool is_merge(const YAML::Node& name) { return name.IsScalar() && name.Scalar() == "<<"; }

  void merge(const std::string& prefix, const YAML::Node& from, Config& config, int most) {
    if (most == 0 || (!from.IsMap() && !from.IsSequence())) {
      keep(from, wrong(from, most == 0 ? "'<<' goes round in circles"
                                       : "'<<' takes a mapping that has a name, such as '*name'")
                     .error);
      return;
    }
    if (from.IsSequence()) {
      for (const YAML::Node& one : from) merge(prefix, one, config, most - 1);
      return;
    }
    for (const auto& entry : from) {
      if (is_merge(entry.first)) continue;
      const Result<const ConfigKey*> key = key_of(prefix, entry.first);
      const bool is_said = key && seen_.contains(std::string((*key)->path));
      if (!is_said) entry_of(prefix, entry.first, entry.second, config);
    }
    for (const auto& entry : from) {
      if (is_merge(entry.first)) merge(prefix, entry.second, config, most - 1);
    }
  }

  void entry_of(const std::string& prefix, const YAML::Node& name, const YAML::Node& content,
                Config& config) {
    const Result<const ConfigKey*> key = key_of(prefix, name);
    if (!key) {
      const std::string inside = known_inside(content);
      return keep(name, inside.empty()
                            ? key.error()
                            : wrong(name, fmt::format("unknown key '{}'; '{}', which is in it, "
                                                      "stands at the left margin",
                                                      scalar_of(name), inside))
                                  .error);
    }
    const std::string path((*key)->path);
    // By two of its names; the same name twice is an error of any file.
    if (const auto before = seen_.find(path); before != seen_.end()) {
      return keep(name, wrong(name, fmt::format("'{}' is said twice, first in line {}",
                                                last_name(path), before->second.Mark().line + 1))
                            .error);
    }
    seen_.emplace(path, name);
    if (content.IsNull()) return;  // as if it were not there
    if ((*key)->kind == kGroup) {
      config.set(path, true);
      return group(path, content, config);
    }
    Result<ConfigValue> found = value(**key, content);
    if (!found) return keep(content, found.error());
    config.set(path, *std::move(found));
    said_.insert(path);
  }

  // A key of the file's first level, pasted with what it stands in elsewhere.
  static std::string known_inside(const YAML::Node& content) {
    if (!content.IsMap()) return {};
    for (const auto& entry : content) {
      const std::string name = scalar_of(entry.first);
      const ConfigKey* const found =
          name.find('.') == std::string::npos ? find_config_key(name) : nullptr;
      if (found != nullptr && found->kind == kGroup) return name;
    }
    return {};
  }

  static std::vector<std::string_view> names_in(std::string_view group) {
    std::vector<std::string_view> names;
    for (const ConfigKey* key : keys_in_group(group)) {
      if (key->alias_of.empty()) names.push_back(last_name(key->path));
    }
    return names;
  }

  // The key itself, where the file has an older name of it.
  Result<const ConfigKey*> key_of(const std::string& prefix, const YAML::Node& node) const {
    const std::string name = scalar_of(node);
    const std::string path = prefix.empty() ? name : prefix + "." + name;
    const ConfigKey* const found =
        name.find('.') == std::string::npos ? find_config_key(path) : nullptr;
    if (found != nullptr) return found->alias_of.empty() ? found : find_config_key(found->alias_of);
    const std::string where =
        prefix.empty() ? std::string() : fmt::format(" in '{}'", last_name(prefix));
    const std::string unknown = fmt::format("unknown key '{}'{}", name, where);
    for (const ConfigKey& other : config_keys()) {
      if (last_name(other.path) != name || !other.alias_of.empty()) continue;
      const std::size_t dot = other.path.rfind('.');
      return wrong(
          node, dot == std::string_view::npos
                    ? fmt::format("{}; it stands at the left margin", unknown)
                    : fmt::format("{}; it belongs into '{}'", unknown, other.path.substr(0, dot)));
    }
    return wrong(node, unknown + meant(name, names_in(prefix)));
  }

  // Nothing: it is none that the key takes.
  Result<std::optional<ConfigValue>> scalar(const ConfigKey& key, const YAML::Node& node,
                                            const std::string& text) const {
    std::optional<ConfigValue> none;
    switch (key.kind) {
      case kSwitch:
        return as_value(switch_in(node));
      case kCount:
        return as_value(count_in(text, key.least));
      case kNumber:
        return as_value(positive_in(text, key.most));
      case kText:
        return text.empty() ? none : as_value(std::optional(text));
      case kLogLevel:
        if (const auto on = switch_in(node)) return as_value(on);
        [[fallthrough]];
      case kChoice:
        SCOPE_TRY(check_choice(key, node, text));
        return as_value(std::optional(text));
      case kSize:
        if (const std::string meant = base::unit_forgotten(text); !meant.empty()) {
          return wrong(node, fmt::format("'{}: {}' is a size in bytes: {} is meant, most likely",
                                         last_name(key.path), text, meant));
        }
        return as_value(base::parse_size(text));
      case kSteps:
        SCOPE_TRY(placed(node, parse_steps(text, last_name(key.path))));
        return as_value(std::optional(text));
      case kEpoch:
        SCOPE_TRY(placed(node, parse_epoch(text, last_name(key.path))));
        return as_value(std::optional(text));
      case kBatches:
        SCOPE_TRY(placed(node, parse_batches(text, last_name(key.path))));
        return as_value(std::optional(text));
      case kGroup:
      case kWords:
      case kNumbers:
        break;
    }
    return none;
  }

  // The same error with its place.
  base::Status placed(const YAML::Node& node, const Result<StepWindow>& parsed) const {
    if (!parsed) return wrong(node, parsed.error().message);
    return base::Done{};
  }

  base::Status check_choice(const ConfigKey& key, const YAML::Node& node,
                            std::string_view text) const {
    if (key.choices.empty() || std::ranges::find(key.choices, text) != key.choices.end()) {
      return base::Done{};
    }
    return wrong(node, fmt::format("'{}' is unknown to '{}'{}", text, last_name(key.path),
                                   meant(text, key.choices)));
  }

  // A single one needs no brackets.
  static std::vector<YAML::Node> items_of(const YAML::Node& node) {
    if (!node.IsSequence()) return {node};
    return {node.begin(), node.end()};
  }

  Result<ConfigValue> words(const ConfigKey& key, const YAML::Node& node) const {
    std::vector<std::string> out;
    for (const YAML::Node& item : items_of(node)) {
      const std::string text = scalar_of(item);
      if (text.empty()) {
        return wrong(item, fmt::format("'{}' takes {}", last_name(key.path), taken_by(key)));
      }
      SCOPE_TRY(check_choice(key, item, text));
      out.push_back(text);
    }
    return ConfigValue(std::move(out));
  }

  Result<ConfigValue> numbers(const ConfigKey& key, const YAML::Node& node) const {
    std::vector<std::int64_t> out;
    for (const YAML::Node& item : items_of(node)) {
      const auto number = count_in(scalar_of(item), 0);
      if (!number) {
        return wrong(item, fmt::format("'{}' takes {}", last_name(key.path), taken_by(key)));
      }
      out.push_back(*number);
    }
    if (out.empty()) return wrong(node, fmt::format("'{}' is empty", last_name(key.path)));
    return ConfigValue(std::move(out));
  }

  void conflicts() {
    for (const std::string& path : said_) {
      const std::string group = path.substr(0, path.rfind('.') + 1);
      std::string_view rest = find_config_key(path)->instead_of;
      while (!rest.empty()) {
        const std::string_view name = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        if (said_.contains(group + std::string(name))) {
          const YAML::Node& node = seen_.at(path);
          keep(node,
               wrong(node, fmt::format("'{}' and '{}' exclude each other", last_name(path), name))
                   .error);
        }
      }
    }
  }

  struct Wrong {
    std::pair<int, int> place;  // line and column
    std::string text;
  };

  std::string_view name_;
  std::map<std::string, YAML::Node> seen_;  // the keys, by path
  std::set<std::string> said_;              // those with values
  std::vector<Wrong> wrongs_;
};

}  // namespace

bool Config::has_key(std::string_view path) const { return values_.contains(path); }

void Config::set(std::string_view path, ConfigValue value) {
  values_.insert_or_assign(std::string(path), std::move(value));
}

void Config::forget(std::string_view group) {
  std::erase_if(values_, [&](const auto& one) {
    return one.first.starts_with(group) && one.first.size() > group.size() &&
           one.first[group.size()] == '.';
  });
}

ConfigValue Config::value_of(std::string_view path) const {
  const auto found = values_.find(path);
  return found != values_.end() ? found->second : *config_default(path);
}

std::optional<ConfigValue> config_default(std::string_view path) {
  const ConfigKey* const key = find_config_key(path);
  if (key == nullptr || key->fallback.empty()) return std::nullopt;
  const auto parsed = with_yaml<ConfigValue>(
      std::string(key->fallback), path,
      [&](const YAML::Node& node) { return ConfigReader(path).value(*key, node); });
  return parsed ? std::optional(*parsed) : std::nullopt;
}

base::Result<Config> parse_config(const std::string& text, std::string_view name) {
  return with_yaml<Config>(text, name,
                           [&](const YAML::Node& root) { return ConfigReader(name).file(root); });
}

base::Result<Config> read_config(const std::string& path) {
  SCOPE_TRY(const std::string text, read_small_file(path));
  return parse_config(text, path);
}

}  // namespace stepscope::session
