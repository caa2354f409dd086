// Reads rank.json into what is known of a rank.
#include "ingest/rank_json/rank_json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace stepscope::ingest::rank_json {
namespace {

using base::Code;
using base::fail;
using Json = nlohmann::json;

constexpr std::string_view kSchema = "stepscope.rank/1";

const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json& object, const char* name) {
  const Json* const value = member(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// A whole number that T holds.
template <class T>
std::optional<T> number_of(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return std::nullopt;
    return static_cast<T>(number);
  }
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  if (!std::in_range<T>(number)) return std::nullopt;
  return static_cast<T>(number);
}

template <class T>
std::optional<T> number_of(const Json& object, const char* name) {
  const Json* const value = member(object, name);
  return value == nullptr ? std::nullopt : number_of<T>(*value);
}

// The texts of a list; whatever else is in it is none of ours.
std::vector<std::string> texts_of(const Json& object, const char* name) {
  std::vector<std::string> found;
  const Json* const list = member(object, name);
  if (list == nullptr || !list->is_array()) return found;
  for (const Json& entry : *list) {
    if (entry.is_string()) found.push_back(entry.get<std::string>());
  }
  return found;
}

// The objects of a list; whatever else is in it is no entry of ours.
std::vector<const Json*> objects_of(const Json& object, const char* name) {
  std::vector<const Json*> found;
  const Json* const list = member(object, name);
  if (list == nullptr || !list->is_array()) return found;
  for (const Json& entry : *list) {
    if (entry.is_object()) found.push_back(&entry);
  }
  return found;
}

trace::RecordedWindow window_of(const Json& entry) {
  trace::RecordedWindow window{
      .kind = text_of(entry, "kind"),
      .first_step = number_of<std::int64_t>(entry, "first_step").value_or(0),
      .steps = number_of<std::uint64_t>(entry, "steps").value_or(0),
      .closed = text_of(entry, "closed"),
      .whole = std::nullopt,
      .files = texts_of(entry, "files"),
      .cost = {}};
  if (const Json* const whole = member(entry, "whole"); whole != nullptr && whole->is_boolean()) {
    window.whole = whole->get<bool>();
  }
  if (const Json* const cost = member(entry, "cost_ns"); cost != nullptr && cost->is_object()) {
    for (const auto& [what, value] : cost->items()) {
      // Anything a training could last; sums of some stay numbers.
      constexpr base::Nanos kMost = std::numeric_limits<base::Nanos>::max() / (1 << 20);
      const auto ns = number_of<base::Nanos>(value);
      if (ns && *ns >= 0 && *ns <= kMost) window.cost.emplace_back(what, *ns);
    }
  }
  return window;
}

// What `stepscope run` saw of its program. A process that was killed said nothing, one that ended
// well by itself may have been killed, or have failed, later; and one that was asked to exit with a
// status may have thought better of it.
void add_end_of_program(const Json& program, std::string& finished) {
  const bool by_exit = finished.starts_with("status ");
  if (!finished.empty() && finished != "exit" && finished != "stop" && !by_exit) return;
  const std::string signal = text_of(program, "signal");
  const auto status = number_of<std::int32_t>(program, "status");
  if (by_exit && signal.empty() && status == 0) finished = "exit";
  if (!signal.empty()) {
    finished = signal;
  } else if (status.value_or(0) != 0) {
    finished = "status " + std::to_string(*status);
  }
}

}  // namespace

base::Result<trace::RankRecord> parse(std::string_view text) {
  const Json file = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!file.is_object()) return fail(Code::kFormat, "is not a JSON object");
  if (text_of(file, "schema") != kSchema) {
    return fail(Code::kUnsupported, "is not of schema " + std::string(kSchema));
  }
  trace::RankRecord record;
  record.rank = number_of<std::int32_t>(file, "rank").value_or(0);
  record.attempt = number_of<std::int64_t>(file, "attempt").value_or(0);
  record.host = text_of(file, "host");
  record.pid = number_of<std::int64_t>(file, "pid").value_or(0);
  record.start_unix_ns = number_of<std::int64_t>(file, "start_ns").value_or(0);
  for (const Json* const entry : objects_of(file, "windows")) {
    record.windows.push_back(window_of(*entry));
  }
  for (const Json* const entry : objects_of(file, "warnings")) {
    record.warnings.push_back({.text = text_of(*entry, "text"),
                               .unix_ns = number_of<std::int64_t>(*entry, "time_ns").value_or(0)});
  }
  record.lines = texts_of(file, "lines");
  if (const Json* const error = member(file, "error"); error != nullptr && error->is_object()) {
    record.error =
        trace::RecordedError{.type = text_of(*error, "type"),
                             .text = text_of(*error, "text"),
                             .step = number_of<std::int64_t>(*error, "step").value_or(0)};
  }
  record.finished = text_of(file, "finished");
  if (const Json* const program = member(file, "program");
      program != nullptr && program->is_object()) {
    add_end_of_program(*program, record.finished);
  }
  record.steps = number_of<std::uint64_t>(file, "steps");
  record.epochs = number_of<std::uint64_t>(file, "epochs");
  return record;
}

}  // namespace stepscope::ingest::rank_json
