// What the report shows of a run's speed, its data loaders and its model.
#pragma once

#include <array>
#include <string_view>

#include "report/page/sections.h"

namespace stepscope::report {

inline constexpr std::array<std::string_view, 8> kPhaseSpeedColumns = {
    "rank",           "phase",  "measured",          "iterations_per_second", "median_per_second",
    "low_per_second", "spread", "samples_per_second"};
inline constexpr std::array<std::string_view, 8> kSpeedLimitColumns = {
    "rank",   "phase",          "iterations", "warm_up",
    "traced", "warm_up_traced", "wait_share", "loader_per_second"};
inline constexpr std::array<std::string_view, 6> kJobSpeedColumns = {"phase",
                                                                     "ranks",
                                                                     "iterations_per_second",
                                                                     "slowest_per_second",
                                                                     "slowest_rank",
                                                                     "samples_per_second"};
inline constexpr std::array<std::string_view, 6> kSaveColumns = {"rank",       "saves",   "save_ns",
                                                                 "save_share", "mean_ns", "max_ns"};
inline constexpr std::array kSpeedParts = std::to_array<Part>({
    {.analysis = "throughput",
     .table = "series",
     .shown = Shown::kChart,
     .caption = "Iterations a second, over time:",
     .quiet = true,
     .only_html = true,
     .one_rank = true},
    {.analysis = "throughput", .table = "phases", .columns = kPhaseSpeedColumns, .quiet = true},
    {.analysis = "throughput",
     .table = "phases",
     .columns = kSpeedLimitColumns,
     .caption = "What was left out of these (traced ones of the warm-up are in both), how long the "
                "rest waited for data, and how many batches a second the loader can make:",
     .quiet = true},
    {.analysis = "throughput",
     .table = "job",
     .columns = kJobSpeedColumns,
     .caption = "All ranks together:",
     .quiet = true,
     .several_ranks = true},
    {.analysis = "throughput",
     .table = "saves",
     .columns = kSaveColumns,
     .caption = "Checkpoints, which are part of no step and of no rate, and the time that training "
                "stood still for them:",
     .quiet = true},
});

inline constexpr std::array<std::string_view, 9> kWatchedColumns = {
    "rank",          "loader",           "workers",     "batches",   "wait_share",
    "first_wait_ns", "later_wait_share", "p95_wait_ns", "mean_ready"};
inline constexpr std::array<std::string_view, 8> kMakingColumns = {
    "rank",          "loader",    "make_ns",   "fetch_share", "transform_share",
    "collate_share", "cpu_cores", "read_bytes"};
inline constexpr std::array<std::string_view, 9> kLateColumns = {
    "rank",      "loader", "worker",          "batches",   "busy_share",
    "median_ns", "late",   "transform_share", "read_bytes"};
inline constexpr std::array<std::string_view, 8> kWaitingStepColumns = {
    "rank", "step", "wait_ns", "wait_share", "worker", "cause", "make_ns", "read_bytes"};
inline constexpr std::array kDataParts = std::to_array<Part>({
    {.analysis = "loader",
     .table = "steps",
     .shown = Shown::kChart,
     .caption = "Waiting for data in each step:",
     .needs = "wait_ns",
     .quiet = true,
     .only_html = true},
    {.analysis = "loader", .table = "loaders", .columns = kWatchedColumns, .quiet = true},
    {.analysis = "loader",
     .table = "loaders",
     .columns = kMakingColumns,
     .caption = "Making a batch, by parts:",
     .needs = "make_ns",
     .quiet = true},
    {.analysis = "loader",
     .table = "workers",
     .columns = kLateColumns,
     .rows = 16,
     .caption = "Worker by worker; late: the loop waited for a batch it was still making:",
     .quiet = true,
     .one_rank = true},
    {.analysis = "loader",
     .table = "steps",
     .columns = kWaitingStepColumns,
     .rows = 8,
     .caption = "The first steps, and the batch each waited for:",
     .needs = "wait_ns",
     .quiet = true,
     .only_html = true,
     .one_rank = true},
});

inline constexpr std::array<std::string_view, 9> kModelColumns = {
    "rank",      "model",        "layers",    "parameters", "trainable", "parameter_bytes",
    "mult_adds", "output_bytes", "counted_by"};
inline constexpr std::array<std::string_view, 8> kModelLayerColumns = {
    "rank", "layer", "type", "parameters", "parameter_share", "mult_adds", "output", "depth"};
inline constexpr std::array kModelParts = std::to_array<Part>({
    {.analysis = "model", .table = "summary", .columns = kModelColumns, .quiet = true},
    {.analysis = "model",
     .table = "layers",
     .columns = kModelLayerColumns,
     .rows = 24,
     .quiet = true,
     .one_rank = true},
});

}  // namespace stepscope::report
