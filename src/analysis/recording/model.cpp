// The model as it was counted when the run began: layers, parameters, multiply-adds, sizes.
// Definitions: docs/metrics/model.md.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/recording/recorded_steps.h"
#include "analysis/registry.h"
#include "analysis/view.h"
#include "trace/model_summary.h"
#include "trace/process_record.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Null;
using base::Type;
using base::Unit;
using trace::ModelLayer;
using trace::ModelSummary;

constexpr std::array kModelParameters = std::to_array<Parameter>({
    {"depth", ParameterType::kCount, "0", "levels of layers inside of layers. 0: all"},
});

constexpr base::ColumnShape kModelCount{"parameters", Type::kInt, Unit::kCount,
                                        "numbers that are learned or kept, shared ones once"};
constexpr base::ColumnShape kTrainable{"trainable", Type::kInt, Unit::kCount,
                                       "of them: those that gradients change"};
constexpr base::ColumnShape kModelBytes{"parameter_bytes", Type::kInt, Unit::kBytes, "they take"};
constexpr base::ColumnShape kMultAdds{
    "mult_adds", Type::kInt, Unit::kCount,
    "multiplications with an addition in one forward pass; empty: not counted"};

constexpr std::array kSummaryColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"model", Type::kText, Unit::kNone, "its class"},
    {"layers", Type::kInt, Unit::kCount, "modules, the model itself left out"},
    kModelCount,
    kTrainable,
    kModelBytes,
    {"buffer_bytes", Type::kInt, Unit::kBytes, "kept beside the parameters: running means, …"},
    kMultAdds,
    {"input_bytes", Type::kInt, Unit::kBytes, "the batch that was passed"},
    {"output_bytes", Type::kInt, Unit::kBytes,
     "outputs of all layers without others: what a forward pass makes at least"},
    {"uncounted", Type::kInt, Unit::kCount,
     "layers with parameters whose multiplications were not counted"},
    {"counted_by", Type::kText, Unit::kNone,
     "stepscope, and torchinfo for layers without a formula here"},
});
constexpr std::array kLayerColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"layer", Type::kText, Unit::kNone, "its name in the model"},
    {"type", Type::kText, Unit::kNone, "its class"},
    kModelCount,
    {"parameter_share", Type::kReal, Unit::kShare, "of all parameters of the model"},
    kTrainable,
    kModelBytes,
    kMultAdds,
    {"mult_add_share", Type::kReal, Unit::kShare, "of all of the model"},
    {"input", Type::kText, Unit::kNone, "shape of the first tensor it got"},
    {"output", Type::kText, Unit::kNone, "shape of the first tensor it gave"},
    {"output_bytes", Type::kInt, Unit::kBytes, "all tensors it gave, in all calls"},
    {"calls", Type::kInt, Unit::kCount, "in one forward pass"},
    {"depth", Type::kInt, Unit::kNone, "layers around it"},
});

constexpr std::array<std::string_view, 1> kCounted = {"parameters"};
constexpr std::array kModelTables = std::to_array<base::TableShape>({
    {"summary", "the model of one rank", kSummaryColumns},
    {"layers",
     "a layer below the one it is part of; sums are with the layers inside it",
     kLayerColumns,
     {base::Chart::kTree, "layer", kCounted, "rank"}},
});

Cell share_model(std::optional<std::int64_t> part, std::int64_t whole) {
  if (!part || whole <= 0) return Null{};
  return static_cast<double>(*part) / static_cast<double>(whole);
}

void add_model(std::int32_t rank, const ModelSummary& model, std::int64_t depth,
               base::Table& summary, base::Table& layers) {
  const auto count =
      std::ranges::count_if(model.layers, [](const ModelLayer& layer) { return layer.depth > 0; });
  summary.add({rank, model.name, count, model.parameters, model.trainable, model.parameter_bytes,
               model.buffer_bytes, Cell(model.mult_adds), Cell(model.input_bytes),
               Cell(model.output_bytes), model.input_bytes ? Cell(model.uncounted) : Cell(Null{}),
               model.counted_by});
  for (const ModelLayer& layer : model.layers) {
    if (depth > 0 && layer.depth > depth) continue;
    const bool ran = layer.calls > 0;
    layers.add({rank, layer.name.empty() ? model.name : layer.name, layer.type, layer.parameters,
                share_model(layer.parameters, model.parameters), layer.trainable,
                layer.parameter_bytes, Cell(layer.mult_adds),
                share_model(layer.mult_adds, model.mult_adds.value_or(0)),
                layer.input.empty() ? Cell(Null{}) : Cell(layer.input),
                layer.output.empty() ? Cell(Null{}) : Cell(layer.output),
                ran ? Cell(layer.output_bytes) : Cell(Null{}), layer.calls, layer.depth});
  }
}

// Types of layers that were called, have parameters, and could not be counted.
void add_model_unknown(const ModelSummary& model, std::set<std::string>& types) {
  if (!model.input_bytes || model.uncounted == 0) return;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const ModelLayer& layer = model.layers[i];
    const bool is_leaf = i + 1 == model.layers.size() || model.layers[i + 1].depth <= layer.depth;
    if (is_leaf && layer.calls > 0 && layer.parameters > 0 && !layer.mult_adds) {
      types.insert(layer.type);
    }
  }
}

Answer run_model(const RunView& view, const Options& options) {
  base::Table summary(kModelTables[0]);
  base::Table layers(kModelTables[1]);
  std::set<std::int32_t> done;
  bool passed = true;
  std::set<std::string> unknown;
  for (const WindowView& recording : view.recordings) {
    const auto& model = recording.trace->header().process_record->model;
    if (model == nullptr || !done.insert(recording.rank).second) continue;
    passed &= model->input_bytes.has_value();
    add_model_unknown(*model, unknown);
    add_model(recording.rank, *model, options.count("depth"), summary, layers);
  }
  Answer answer;
  if (summary.rows() == 0) {
    answer.remarks.emplace_back(
        is_of_program(view)
            ? "No training was seen in this program, so that no model is known."
            : "No summary of a model was recorded: call prof.summarize(model, batch) once.");
  } else if (!passed) {
    answer.remarks.emplace_back(
        "No batch was seen in the model, so shapes and multiplications are not known: "
        "prof.summarize(model, batch) passes one. `stepscope run` looks at the second step and the "
        "callbacks of frameworks at the second batch, unless the model is compiled.");
  }
  if (!unknown.empty()) {
    std::string types;
    for (const std::string& type : unknown) types += (types.empty() ? "" : ", ") + type;
    answer.remarks.emplace_back("Multiplications of layers without a formula are in no sum: " +
                                types + ". torchinfo, where it is installed, may know them.");
  }
  answer.tables.push_back(std::move(summary));
  answer.tables.push_back(std::move(layers));
  return answer;
}

}  // namespace

const Analysis kModel{
    .name = "model",
    .title = "The model",
    .question = "How large is the model, and where are its parameters and multiplications?",
    .parameters = kModelParameters,
    .tables = kModelTables,
    .run = run_model,
    .needs = Needs::kRecording,
};

}  // namespace stepscope::analysis
