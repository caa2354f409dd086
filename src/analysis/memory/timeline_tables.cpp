#include "analysis/memory/timeline_tables.h"

#include "analysis/key_columns.h"
#include "analysis/memory/owners/categories.h"

namespace stepscope::analysis {
namespace {

using base::Type;
using base::Unit;

constexpr std::array kShapeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"floor_bytes", Type::kInt, Unit::kBytes,
     "the least that was allocated from the end of the first step on"},
    {"peak_bytes", Type::kInt, Unit::kBytes, "the most that was allocated"},
    {"above_floor_bytes", Type::kInt, Unit::kBytes, "what a step needs on top: peak less floor"},
    {"forward_bytes", Type::kInt, Unit::kBytes, "by how much a forward pass grows it; median"},
    {"backward_bytes", Type::kInt, Unit::kBytes, "by how much a backward pass grows it; median"},
    {"floor_at_ns", Type::kInt, Unit::kInstant, "when the floor was first touched"},
    {"floor_event", Type::kInt, Unit::kId, "place in the history"},
    {"steps", Type::kInt, Unit::kCount, "steps in the history; null: nothing tells them"},
    {"steps_from", Type::kText, Unit::kNone, "what tells where steps are"},
});
constexpr std::array kPointColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    {"device", Type::kInt, Unit::kId, "number of the device; null: an exported timeline's"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"step", Type::kInt, Unit::kId, "the step it is in"},
    {"pass", Type::kText, Unit::kNone, "forward, backward or optimizer, as far as stacks tell"},
    {"allocated_bytes", Type::kInt, Unit::kBytes, "all that was allocated"},
    {"parameters_bytes", Type::kInt, Unit::kBytes, "parameters and buffers of modules"},
    {"optimizer_state_bytes", Type::kInt, Unit::kBytes, "what the optimizer keeps"},
    {"gradients_bytes", Type::kInt, Unit::kBytes, "what outlives the backward pass"},
    {"activations_bytes", Type::kInt, Unit::kBytes, "made by the forward pass for the backward"},
    {"inputs_bytes", Type::kInt, Unit::kBytes, "batches"},
    {"temporaries_bytes", Type::kInt, Unit::kBytes, "soon freed again, and libraries' scratch"},
    {"autograd_detail_bytes", Type::kInt, Unit::kBytes, "within the backward pass only"},
    {"communication_bytes", Type::kInt, Unit::kBytes, "for collectives"},
    {"unknown_bytes", Type::kInt, Unit::kBytes, "nothing tells"},
    {"floor_bytes", Type::kInt, Unit::kBytes,
     "the floor of the table shape; null: the first step has not ended"},
});
constexpr std::array kTimelineTablesStackColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"where", Type::kText, Unit::kNone, "the program's line that asked for it; null: all others"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated there"},
    {"stack", Type::kText, Unit::kNone, "all calls, the outermost first"},
});
constexpr std::array kModuleColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"module", Type::kText, Unit::kNone,
     "the module that asked for it, or whose backward pass did; null: no module, and all others"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated there"},
});
constexpr std::array kTimelineTablesAnnotationColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"annotation", Type::kText, Unit::kNone,
     "the innermost annotation it was made in; null: none, and all others"},
    {"event", Type::kInt, Unit::kId, "place in the history"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"bytes", Type::kInt, Unit::kBytes, "allocated there"},
});
constexpr std::array kTimelineTablesStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"step", Type::kInt, Unit::kId, "its number; its place where nothing numbers them"},
    {"start_bytes", Type::kInt, Unit::kBytes, "allocated when it began"},
    {"peak_bytes", Type::kInt, Unit::kBytes, "the most within it"},
    {"lowest_bytes", Type::kInt, Unit::kBytes, "the least within it"},
    {"end_bytes", Type::kInt, Unit::kBytes, "allocated when it ended"},
    {"change_bytes", Type::kInt, Unit::kBytes, "end less start"},
    {"at_ns", Type::kInt, Unit::kInstant, "when it began, since the first event"},
    {"length_ns", Type::kInt, Unit::kNanos, "from its first to its last event"},
    {"event", Type::kInt, Unit::kId, "its first in the history"},
    {"events", Type::kInt, Unit::kCount, "how many it has"},
});
constexpr std::array kPassColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"step", Type::kInt, Unit::kId, "the step it is in"},
    {"pass", Type::kText, Unit::kNone, "forward, backward or optimizer"},
    {"start_bytes", Type::kInt, Unit::kBytes, "allocated when it began"},
    {"peak_bytes", Type::kInt, Unit::kBytes, "the most within it"},
    {"lowest_bytes", Type::kInt, Unit::kBytes, "the least within it"},
    {"end_bytes", Type::kInt, Unit::kBytes, "allocated when it ended"},
    {"change_bytes", Type::kInt, Unit::kBytes, "end less start"},
    {"at_ns", Type::kInt, Unit::kInstant, "when it began, since the first event"},
    {"length_ns", Type::kInt, Unit::kNanos, "from its first to its last event"},
    {"event", Type::kInt, Unit::kId, "its first in the history"},
    {"events", Type::kInt, Unit::kCount, "how many it has"},
});
constexpr std::array<std::string_view, kCategories> kTimelineTablesStacked = {
    "parameters_bytes",      "optimizer_state_bytes", "gradients_bytes",
    "activations_bytes",     "inputs_bytes",          "temporaries_bytes",
    "autograd_detail_bytes", "communication_bytes",   "unknown_bytes"};
constexpr std::array<std::string_view, 1> kTimelineTablesBytes = {"bytes"};

using Shapes = std::array<base::TableShape, kTimelineTables>;

constexpr base::Drawing parts_by(std::string_view column, std::string_view x) {
  return {.chart = base::Chart::kStack,
          .x = x,
          .y = kTimelineTablesBytes,
          .group = "snapshot",
          .parts = column};
}

constexpr Shapes shapes_over(std::string_view x) {
  return {{
      {"shape", "one device: its floor, its peak, and what passes add", kShapeColumns},
      {"timeline",
       "a stretch of the history when the most of it was allocated",
       kPointColumns,
       {.chart = base::Chart::kStack,
        .x = x,
        .y = kTimelineTablesStacked,
        .group = "snapshot",
        .marks = "step",
        .bands = "pass",
        .level = "floor_bytes"}},
      {"steps", "one step of one device", kTimelineTablesStepColumns},
      {"passes", "one forward, backward or optimizer pass of one device", kPassColumns},
      {"stacks", "what one place of the program had at a moment of the timeline",
       kTimelineTablesStackColumns, parts_by("where", x)},
      {"modules", "what one nn.Module had at a moment of the timeline", kModuleColumns,
       parts_by("module", x)},
      {"annotations", "what was made in one annotation at a moment of the timeline",
       kTimelineTablesAnnotationColumns, parts_by("annotation", x)},
  }};
}

}  // namespace

constinit const Shapes kTimelineShapes = shapes_over("event");
constinit const Shapes kTimelineShapesByTime = shapes_over("at_ns");

}  // namespace stepscope::analysis
