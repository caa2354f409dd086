// Parses model.json into a model summary.
#include "ingest/scope/model_file.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

namespace stepscope::ingest::scope {
namespace {

using base::Code;
using base::fail;
using Json = nlohmann::json;

constexpr std::string_view kSchema = "stepscope.model/1";

std::optional<std::int64_t> count_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  // A number beyond 63 bits is damage; it must not come out negative.
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  const auto value = found->get<std::int64_t>();
  return value < 0 ? std::nullopt : std::optional(value);
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

// "[8, 3]" as Python writes a list of numbers.
std::string shape_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return {};
  std::string text = "[";
  for (const Json& size : *found) {
    if (!size.is_number_integer()) return {};
    if (text.size() > 1) text += ", ";
    text += std::to_string(size.get<std::int64_t>());
  }
  return text + "]";
}

}  // namespace

base::Result<trace::ModelSummary> parse_model(std::string_view text) {
  const Json file = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!file.is_object()) return fail(Code::kFormat, "is not a JSON object");
  if (text_in(file, "schema") != kSchema) {
    return fail(Code::kUnsupported, "is not of schema " + std::string(kSchema));
  }
  const auto layers = file.find("layers");
  if (layers == file.end() || !layers->is_array()) return fail(Code::kFormat, "has no layers");
  trace::ModelSummary model{.counted_by = text_in(file, "counted_by"),
                            .name = text_in(file, "name"),
                            .layers = {},
                            .parameters = count_in(file, "parameters").value_or(0),
                            .trainable = count_in(file, "trainable").value_or(0),
                            .parameter_bytes = count_in(file, "parameter_bytes").value_or(0),
                            .buffer_bytes = count_in(file, "buffer_bytes").value_or(0),
                            .mult_adds = count_in(file, "mult_adds"),
                            .uncounted = count_in(file, "uncounted").value_or(0),
                            .input_bytes = count_in(file, "input_bytes"),
                            .output_bytes = count_in(file, "output_bytes")};
  for (const Json& layer : *layers) {
    if (!layer.is_object()) return fail(Code::kFormat, "has a layer that is not an object");
    model.layers.push_back({.name = text_in(layer, "name"),
                            .type = text_in(layer, "type"),
                            .depth = count_in(layer, "depth").value_or(0),
                            .calls = count_in(layer, "calls").value_or(0),
                            .parameters = count_in(layer, "parameters").value_or(0),
                            .trainable = count_in(layer, "trainable").value_or(0),
                            .parameter_bytes = count_in(layer, "parameter_bytes").value_or(0),
                            .mult_adds = count_in(layer, "mult_adds"),
                            .input = shape_in(layer, "input"),
                            .output = shape_in(layer, "output"),
                            .output_bytes = count_in(layer, "output_bytes").value_or(0)});
  }
  return model;
}

}  // namespace stepscope::ingest::scope
