// Reads the rules of `check`.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "session/user_files/user_files.h"
#include "session/user_files/yaml_file.h"

namespace stepscope::session {
namespace {

using analysis::Aggregate;
using analysis::GateLimit;
using analysis::GateRules;
using base::Unit;

constexpr std::array<std::string_view, 6> kTop = {"limits",     "false_alarms", "worth_seeing",
                                                  "run_to_run", "strict",       "allow_unfinished"};
constexpr std::array<std::string_view, 10> kGateFileKeys = {
    "max_increase", "max_decrease", "max",       "min",     "samples_per_step",
    "column",       "where",        "aggregate", "average", "per_step"};
constexpr std::array<std::string_view, 4> kNames = {
    analysis::sample::kStepTime, analysis::sample::kThroughput, analysis::sample::kPeakMemory,
    analysis::sample::kExposedCommunication};
constexpr std::array<std::string_view, 4> kAggregates = {"sum", "mean", "max", "min"};

// Nothing that is measured is near it. What it is multiplied with, and the square of that, must
// stay finite: a gate that compares inf with inf passes everything.
constexpr double kMostNumber = 1e30;
constexpr double kLeastSamples = 1e-30;

std::optional<double> number_from(std::string_view text) {
  const auto value = base::parse_number<double>(text);
  return value && *value >= 0 && *value <= kMostNumber ? value : std::nullopt;
}

std::optional<double> percent_from(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto number = number_from(text);
  return number ? std::optional(*number / 100) : std::nullopt;
}

std::optional<double> duration_from(const std::string& text) {
  static constexpr analysis::Parameter kTime{"time", analysis::ParameterType::kDuration, "0"};
  const auto parsed = analysis::parse_options(std::span(&kTime, 1), {{"time", text}});
  return parsed ? std::optional(static_cast<double>(parsed->duration("time"))) : std::nullopt;
}

// An amount in the quantity's own unit.
std::optional<double> amount_from(const std::string& text, Unit unit) {
  if (unit == Unit::kNanos) return duration_from(text);
  if (unit == Unit::kShare && text.ends_with('%')) return percent_from(text);
  if (unit == Unit::kBytes) {
    if (text == "0") return 0;
    const auto size = base::parse_size(text);
    return size ? std::optional(static_cast<double>(*size)) : std::nullopt;
  }
  return number_from(text);
}

std::string_view amount_words(Unit unit) {
  switch (unit) {
    case Unit::kNanos:
      return "a length of time such as 55ms";
    case Unit::kBytes:
      return "a size such as 70GiB";
    case Unit::kShare:
      return "a share such as 0.02";
    default:
      return "a number from 0 to 1e30";
  }
}

class GateFileParser {
 public:
  explicit GateFileParser(std::string_view name) : name_(name) {}

  base::Result<GateRules> file(const YAML::Node& root) const {
    if (!root.IsMap()) return wrong(root, "expected 'limits:' with what is limited");
    GateRules rules;
    rules.limits = {};
    bool has_limits = false;
    for (const auto& entry : root) {
      const std::string key = scalar_of(entry.first);
      if (key == "limits") {
        has_limits = true;
        SCOPE_TRY(rules.limits, limits(entry.second));
      } else if (key == "false_alarms") {
        SCOPE_TRY(rules.tail, share(entry.second, key));
        if (rules.tail <= 0 || rules.tail >= 0.5) {
          return wrong(entry.second, "'false_alarms' lies between 0 and 50 %, as in 0.5%");
        }
      } else if (key == "worth_seeing") {
        SCOPE_TRY(rules.worth_seeing, share(entry.second, key));
      } else if (key == "run_to_run") {
        SCOPE_TRY(rules.spread, share(entry.second, key));
      } else if (key == "strict") {
        SCOPE_TRY(rules.strict, yes_or_no(entry.second, key));
      } else if (key == "allow_unfinished") {
        SCOPE_TRY(rules.allow_unfinished, yes_or_no(entry.second, key));
      } else {
        return wrong(entry.first, fmt::format("unknown key '{}'{}", key, meant(key, kTop)));
      }
    }
    if (!has_limits) rules.limits = analysis::standard_rules().limits;
    return rules;
  }

 private:
  base::Failure wrong(const YAML::Node& node, const std::string& what) const {
    return wrong_at(name_, node, what);
  }

  base::Result<double> share(const YAML::Node& node, std::string_view key) const {
    const std::string text = scalar_of(node);
    if (const auto value = text.ends_with('%') ? percent_from(text) : number_from(text);
        value && *value <= 1) {
      return *value;
    }
    return wrong(node, fmt::format("'{}' takes a share such as 5% or 0.05", key));
  }

  base::Result<bool> yes_or_no(const YAML::Node& node, std::string_view key) const {
    bool value = false;
    if (node.IsScalar() && YAML::convert<bool>::decode(node, value)) return value;
    return wrong(node, fmt::format("'{}' is true or false", key));
  }

  base::Result<std::vector<GateLimit>> limits(const YAML::Node& node) const {
    if (!node.IsMap() || node.size() == 0) {
      return wrong(node, "expected limits by name: 'step_time: {max_increase: 3%}'");
    }
    std::vector<GateLimit> out;
    for (const auto& entry : node) {
      SCOPE_TRY(GateLimit limit, read_limit(entry.first, entry.second));
      out.push_back(std::move(limit));
    }
    return out;
  }

  base::Result<GateLimit> read_limit(const YAML::Node& name, const YAML::Node& keys) const {
    const std::string called = scalar_of(name);
    if (!keys.IsMap()) {
      return wrong(keys, fmt::format("'{}' takes max_increase, max_decrease, max or min", called));
    }
    for (const auto& entry : keys) {
      const std::string key = scalar_of(entry.first);
      if (std::ranges::find(kGateFileKeys, key) == kGateFileKeys.end()) {
        return wrong(entry.first,
                     fmt::format("unknown key '{}'{}", key, meant(key, kGateFileKeys)));
      }
    }
    GateLimit limit{.name = called, .sample = called};
    if (keys["column"]) {
      SCOPE_TRY(column(keys, limit));
    } else if (auto known = analysis::named_limit(called)) {
      limit = *std::move(known);
    } else {
      return wrong(name, fmt::format("'{}' is no quantity, and has no 'column'{}", called,
                                     meant(called, kNames)));
    }
    SCOPE_TRY(numbers(name, keys, limit));
    return limit;
  }

  // "kernels.kernels.sum_ns": analysis, table, column, each checked against what there is.
  base::Status column(const YAML::Node& keys, GateLimit& limit) const {
    const YAML::Node place = keys["column"];
    const std::string text = scalar_of(place);
    const std::size_t first = text.find('.');
    const std::size_t last = text.rfind('.');
    if (first == std::string::npos || first == last) {
      return wrong(place, "'column' is ANALYSIS.TABLE.COLUMN, as in kernels.kernels.sum_ns");
    }
    analysis::ColumnSource source{.analysis = text.substr(0, first),
                                  .table = text.substr(first + 1, last - first - 1),
                                  .column = text.substr(last + 1)};
    std::vector<std::string_view> words;
    for (const analysis::Analysis* about : analysis::analyses()) words.push_back(about->name);
    const analysis::Analysis* about = analysis::find_analysis(source.analysis);
    if (about == nullptr) {
      return wrong(place, fmt::format("there is no analysis '{}'{}", source.analysis,
                                      meant(source.analysis, words)));
    }
    words.clear();
    for (const base::TableShape& table : about->tables) words.push_back(table.name);
    const auto table = std::ranges::find(about->tables, source.table, &base::TableShape::name);
    if (table == about->tables.end()) {
      return wrong(place, fmt::format("{} has no table '{}'{}", source.analysis, source.table,
                                      meant(source.table, words)));
    }
    words.clear();
    for (const base::ColumnShape& one : table->columns) words.push_back(one.name);
    const auto shape = std::ranges::find(table->columns, source.column, &base::ColumnShape::name);
    if (shape == table->columns.end()) {
      return wrong(place, fmt::format("{}.{} has no column '{}'{}", source.analysis, source.table,
                                      source.column, meant(source.column, words)));
    }
    if (shape->type != base::Type::kInt && shape->type != base::Type::kReal) {
      return wrong(place, fmt::format("'{}' holds no numbers", source.column));
    }
    limit.unit = shape->unit;
    source.has_steps = std::ranges::find(words, "step") != words.end();
    if (const YAML::Node alone = keys["per_step"]) {
      SCOPE_TRY(source.per_step, yes_or_no(alone, "per_step"));
    }
    if (keys["aggregate"]) {
      const std::string how = scalar_of(keys["aggregate"]);
      const auto* const found = std::ranges::find(kAggregates, how);
      if (found == kAggregates.end()) {
        return wrong(keys["aggregate"],
                     fmt::format("'{}' is no way to combine rows{}", how, meant(how, kAggregates)));
      }
      source.aggregate = static_cast<Aggregate>(1 + (found - kAggregates.begin()));
    }
    SCOPE_TRY(where(keys["where"], words, source));
    // In a baseline it goes by what it is made of: a limit may be renamed.
    limit.sample = text;
    for (const auto& [name, value] : source.where)
      limit.sample += fmt::format(" {}={}", name, value);
    if (keys["aggregate"]) limit.sample += " " + scalar_of(keys["aggregate"]);
    if (source.per_step) limit.sample += " per_step";
    limit.column = std::move(source);
    return base::Done{};
  }

  base::Status where(const YAML::Node& node, std::span<const std::string_view> columns,
                     analysis::ColumnSource& source) const {
    if (!node) return base::Done{};
    if (!node.IsMap()) return wrong(node, "'where' takes columns with what they hold");
    for (const auto& entry : node) {
      const std::string column = scalar_of(entry.first);
      if (std::ranges::find(columns, column) == columns.end()) {
        return wrong(entry.first, fmt::format("{}.{} has no column '{}'{}", source.analysis,
                                              source.table, column, meant(column, columns)));
      }
      source.where[column] = scalar_of(entry.second);
    }
    return base::Done{};
  }

  base::Status numbers(const YAML::Node& name, const YAML::Node& keys, GateLimit& limit) const {
    const bool falls = keys["max_decrease"] || keys["min"];
    const bool rises = keys["max_increase"] || keys["max"];
    if (falls && rises) {
      return wrong(name, fmt::format("'{}' may be limited in one direction: max_increase and max, "
                                     "or max_decrease and min",
                                     limit.name));
    }
    if (!falls && !rises) {
      return wrong(name, fmt::format("'{}' has no limit: max_increase, max_decrease, max or min",
                                     limit.name));
    }
    limit.less_is_worse = falls;
    if (const YAML::Node change = keys[falls ? "max_decrease" : "max_increase"]) {
      const std::string text = scalar_of(change);
      limit.worse_share = percent_from(text);
      if (!limit.worse_share) limit.worse_by = amount_from(text, limit.unit);
      if (!limit.worse_share && !limit.worse_by) {
        return wrong(change, fmt::format("expected a part of what it was, such as 3%, or {}",
                                         amount_words(limit.unit)));
      }
      const bool allows_nothing = limit.worse_share.value_or(1) == 0 || limit.worse_by == 0.0;
      if (allows_nothing && limit.column && !limit.column->tells_noise() &&
          analysis::is_measured(limit.unit)) {
        return wrong(change,
                     fmt::format("'{}' is one figure of the run, and its noise is not known: say "
                                 "'per_step: true' to judge it step by step, or allow more than 0",
                                 limit.name));
      }
    }
    if (const YAML::Node bound = keys[falls ? "min" : "max"]) {
      limit.bound = amount_from(scalar_of(bound), limit.unit);
      if (!limit.bound) return wrong(bound, fmt::format("expected {}", amount_words(limit.unit)));
    }
    return details(keys, limit);
  }

  base::Status details(const YAML::Node& keys, GateLimit& limit) const {
    if (const YAML::Node samples = keys["samples_per_step"]) {
      const auto number = number_from(scalar_of(samples));
      if (!limit.inverted || !number || *number < kLeastSamples) {
        return wrong(
            samples,
            "'samples_per_step' is a number above 0, at most 1e30, and of throughput alone");
      }
      limit.factor = *number;
    }
    if (const YAML::Node average = keys["average"]) {
      const std::string how = scalar_of(average);
      if (how != "typical" && how != "mean") {
        return wrong(average, "'average' is typical (the middle half of the steps) or mean");
      }
      limit.average = how == "mean" ? analysis::Average::kMean : analysis::Average::kTypical;
    }
    for (const std::string_view key : {"where", "aggregate", "per_step"}) {
      if (keys[std::string(key)] && !limit.column) {
        return wrong(keys[std::string(key)], fmt::format("'{}' goes with 'column'", key));
      }
    }
    return base::Done{};
  }

  std::string_view name_;
};

}  // namespace

base::Result<GateRules> parse_gate_rules(const std::string& text, std::string_view name) {
  return with_yaml<GateRules>(
      text, name, [&](const YAML::Node& root) { return GateFileParser(name).file(root); });
}

base::Result<GateRules> read_gate_rules(const std::string& path) {
  SCOPE_TRY(const std::string text, read_small_file(path));
  return parse_gate_rules(text, path);
}

}  // namespace stepscope::session
