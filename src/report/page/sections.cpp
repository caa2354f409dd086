// Which parts the report of a run has, in which order.
#include "report/page/sections.h"

#include <array>

namespace stepscope::report {
namespace {

template <std::size_t N>
using Names = std::array<std::string_view, N>;

constexpr Names<4> kPartColumns = {"rank", "part", "mean_ns", "share"};
constexpr std::array kWhere = std::to_array<Part>({
    {.analysis = "temporal-breakdown", .table = "devices", .shown = Shown::kChart},
    {.analysis = "overview",
     .table = "ranks",
     .shown = Shown::kChart,
     .caption = "The average step of each rank, host and GPU together:",
     .several_ranks = true},
    {.analysis = "steps",
     .table = "parts",
     .columns = kPartColumns,
     .caption = "The average step, every moment counted once, for the first part that applies:",
     .needs = "mean_ns",
     .host_needs = true,
     .one_rank = true},
});

constexpr Names<6> kBusyColumns = {"rank",          "device",   "busy_share", "kernel_busy_share",
                                   "sm_efficiency", "occupancy"};
constexpr std::array kBusy = std::to_array<Part>({
    {.analysis = "overview", .table = "devices", .columns = kBusyColumns},
});

constexpr Names<8> kStepTimeColumns = {"rank",   "steps",  "mean_ns", "median_ns",
                                       "p95_ns", "min_ns", "max_ns",  "steps_per_second"};
constexpr Names<7> kOutlierColumns = {"rank",      "step",       "step_ns", "median_ns",
                                      "excess_ns", "grown_part", "grown_ns"};
constexpr std::array kStepTimes = std::to_array<Part>({
    {.analysis = "steps", .table = "steps", .shown = Shown::kSpark},
    {.analysis = "steps", .table = "times", .columns = kStepTimeColumns, .needs = "mean_ns"},
    {.analysis = "steps",
     .table = "outliers",
     .columns = kOutlierColumns,
     .rows = 8,
     .caption = "Steps that took much longer than usual, and the part of them that grew most:"},
});

constexpr Names<7> kHostOpColumns = {"rank",    "host_op", "waited_in", "gaps",
                                     "idle_ns", "share",   "longest_ns"};
constexpr std::array kIdle = std::to_array<Part>({
    {.analysis = "idle-time", .table = "devices", .shown = Shown::kChart, .needs = "idle_ns"},
    {.analysis = "idle-time",
     .table = "host_ops",
     .columns = kHostOpColumns,
     .rows = 8,
     .caption = "What the host was doing while the GPU waited for it:",
     .one_rank = true},
});

constexpr Names<7> kReportOperatorColumns = {
    "rank", "name", "device_self_ns", "device_self_share", "tensor_cores", "host_self_ns", "calls"};
constexpr Names<5> kHostOperatorColumns = {"rank", "name", "host_self_ns", "host_self_share",
                                           "calls"};
constexpr Names<6> kTensorCoreColumns = {"rank",    "operators",   "device_ns",
                                         "used_ns", "not_used_ns", "unknown_ns"};
constexpr std::array kOperatorParts = std::to_array<Part>({
    {.analysis = "operators",
     .table = "operators",
     .shown = Shown::kBoth,
     .columns = kReportOperatorColumns,
     .rows = 11,
     .host_columns = kHostOperatorColumns,
     .one_rank = true},
    {.analysis = "operators",
     .table = "tensor_cores",
     .columns = kTensorCoreColumns,
     .caption = "GPU time of matrix products, which tensor cores can do, and of the rest, by what "
                "their kernels' names say:",
     .one_rank = true},
});

constexpr Names<7> kReportKernelColumns = {"rank",   "name",  "class",    "count",
                                           "sum_ns", "share", "median_ns"};
constexpr Names<6> kRankColumns = {"name",   "count",        "mean_ns",
                                   "p95_ns", "slowest_rank", "slowest_ratio"};
constexpr std::array kKernelParts = std::to_array<Part>({
    {.analysis = "kernels",
     .table = "kernels",
     .shown = Shown::kBoth,
     .columns = kReportKernelColumns,
     .rows = 11,
     .one_rank = true},
    {.analysis = "kernel-durations",
     .table = "names",
     .columns = kRankColumns,
     .rows = 8,
     .caption = "The same kernels over all ranks; a ratio well above 1 is a slow rank:",
     .several_ranks = true},
    {.analysis = "kernel-durations",
     .table = "histogram",
     .shown = Shown::kChart,
     .caption = "How long their runs took, over all ranks",
     .only_html = true,
     .folded = true},
});

constexpr Names<8> kLaunchColumns = {"rank",          "calls",           "cost_ns",
                                     "mean_cost_ns",  "median_delay_ns", "p95_delay_ns",
                                     "short_kernels", "longer_than_work"};
constexpr Names<7> kQueueColumns = {"rank", "device",      "stream",    "mean",
                                    "max",  "empty_share", "full_share"};
constexpr std::array kLaunches = std::to_array<Part>({
    {.analysis = "launches", .table = "ranks", .columns = kLaunchColumns, .needs = "calls"},
    {.analysis = "queue-length",
     .table = "streams",
     .columns = kQueueColumns,
     .rows = 6,
     .caption = "Work that was launched and has not begun, by stream:",
     .needs = "queued",
     .one_rank = true},
    {.analysis = "queue-length",
     .table = "series",
     .shown = Shown::kChart,
     .caption = "Its length over time:",
     .needs = "length",
     .only_html = true,
     .one_rank = true},
});

constexpr Names<7> kOverlapColumns = {"rank",       "device",       "communication_ns", "hidden_ns",
                                      "exposed_ns", "hidden_share", "exposed_share"};
constexpr Names<7> kCollectiveColumns = {"rank",      "collective", "group",       "count",
                                         "hidden_ns", "exposed_ns", "hidden_share"};
constexpr Names<6> kHostCollectiveColumns = {"rank",      "collective", "count",
                                             "hidden_ns", "exposed_ns", "hidden_share"};
constexpr std::array kCommunication = std::to_array<Part>({
    {.analysis = "overlap",
     .table = "devices",
     .shown = Shown::kBoth,
     .columns = kOverlapColumns,
     .needs = "communication_ns"},
    {.analysis = "overlap",
     .table = "collectives",
     .columns = kCollectiveColumns,
     .rows = 8,
     .caption = "By collective, the most exposed first:",
     .one_rank = true},
    {.analysis = "overlap",
     .table = "host",
     .columns = kHostCollectiveColumns,
     .rows = 8,
     .caption = "Carried out by the CPU:",
     .one_rank = true},
});

constexpr Names<7> kLoadingColumns = {"rank",         "fetches",     "wait_ns",       "wait_share",
                                      "mean_wait_ns", "max_wait_ns", "gpu_idle_share"};
constexpr Names<6> kHostLoadingColumns = {"rank",       "fetches",      "wait_ns",
                                          "wait_share", "mean_wait_ns", "max_wait_ns"};
constexpr std::array kLoading = std::to_array<Part>({
    {.analysis = "dataloader",
     .table = "steps",
     .shown = Shown::kChart,
     .caption = "Waiting for data in each step, by what the GPU did meanwhile:",
     .needs = "wait_ns",
     .only_html = true},
    {.analysis = "dataloader",
     .table = "ranks",
     .columns = kLoadingColumns,
     .host_columns = kHostLoadingColumns,
     .needs = "fetches"},
});

constexpr Names<9> kTransferColumns = {"rank",    "kind",     "host_memory",
                                       "count",   "bytes",    "bytes_per_second",
                                       "copy_ns", "blocking", "hidden_share"};
constexpr std::array kTransfers = std::to_array<Part>({
    {.analysis = "transfers",
     .table = "classes",
     .columns = kTransferColumns,
     .rows = 8,
     .one_rank = true},
    {.analysis = "memory-bandwidth",
     .table = "series",
     .shown = Shown::kChart,
     .caption = "Memory moved per second, over time:",
     .needs = "bytes_per_second",
     .only_html = true,
     .one_rank = true},
});

constexpr Names<6> kMemoryColumns = {"rank",
                                     "device",
                                     "peak_allocated_bytes",
                                     "peak_reserved_bytes",
                                     "memory_bytes",
                                     "peak_reserved_share"};
constexpr std::array kMemoryPeakParts = std::to_array<Part>({
    {.analysis = "overview",
     .table = "devices",
     .columns = kMemoryColumns,
     .needs = "peak_reserved_bytes"},
});

constexpr Names<7> kRangeColumns = {"rank",        "name",      "count",      "host_mean_ns",
                                    "host_sum_ns", "device_ns", "backward_ns"};
constexpr Names<5> kHostRangeColumns = {"rank", "name", "count", "host_mean_ns", "host_sum_ns"};
constexpr std::array kRanges = std::to_array<Part>({
    {.analysis = "annotations",
     .table = "annotations",
     .shown = Shown::kBoth,
     .columns = kRangeColumns,
     .rows = 8,
     .host_columns = kHostRangeColumns,
     .one_rank = true},
});

constexpr Names<8> kModuleColumns = {"rank",  "module",     "calls",       "device_ns",
                                     "share", "forward_ns", "backward_ns", "host_ns"};
constexpr Names<5> kHostModuleColumns = {"rank", "module", "calls", "host_ns", "host_self_ns"};
constexpr std::array kModules = std::to_array<Part>({
    {.analysis = "modules",
     .table = "modules",
     .columns = kModuleColumns,
     .host_columns = kHostModuleColumns,
     .quiet = true,
     .one_rank = true},
});

constexpr Names<8> kRunStepColumns = {"rank",   "steps",  "mean_ns", "median_ns",
                                      "p95_ns", "min_ns", "max_ns",  "slowest_step"};
constexpr Names<7> kTracedColumns = {
    "rank",           "traced_steps",   "traced_median_ns", "untraced_median_ns", "tracing_cost_ns",
    "tracing_low_ns", "tracing_high_ns"};
constexpr Names<6> kSlowestColumns = {"rank",    "step",         "start_ns",
                                      "step_ns", "times_median", "traced"};
constexpr std::array kRunSteps = std::to_array<Part>({
    {.analysis = "time", .table = "steps", .shown = Shown::kSpark},
    {.analysis = "time", .table = "times", .columns = kRunStepColumns},
    {.analysis = "time",
     .table = "times",
     .columns = kTracedColumns,
     .caption = "Traced steps beside the others, and what tracing cost each (95 % interval):",
     .needs = "traced_steps"},
    {.analysis = "time",
     .table = "slowest",
     .columns = kSlowestColumns,
     .rows = 5,
     .caption = "The slowest of them, and when they began:",
     .one_rank = true},
});

constexpr Names<9> kTimeRangeColumns = {"rank",  "where",   "range",   "calls",    "total_ns",
                                        "share", "self_ns", "mean_ns", "median_ns"};
constexpr Names<6> kAcrossColumns = {"where",         "range",        "ranks",
                                     "mean_total_ns", "slowest_rank", "slowest_ratio"};
constexpr std::array kTimeRanges = std::to_array<Part>({
    {.analysis = "time", .table = "ranges", .columns = kTimeRangeColumns, .one_rank = true},
    {.analysis = "time",
     .table = "across",
     .columns = kAcrossColumns,
     .rows = 12,
     .caption = "The same ranges over all ranks; a ratio well above 1 is a slow rank:",
     .several_ranks = true},
});

constexpr Names<5> kLogLevelColumns = {"rank", "level", "lines", "first_step", "last_step"};
constexpr Names<6> kLogLineColumns = {"rank", "step", "time_ns", "level", "logger", "text"};
constexpr std::array kLogLines = std::to_array<Part>({
    {.analysis = "log", .table = "levels", .columns = kLogLevelColumns, .quiet = true},
    {.analysis = "log",
     .table = "lines",
     .columns = kLogLineColumns,
     .rows = 8,
     .caption = "The first warnings and errors, and the step they came in:",
     .quiet = true},
});

// What the report shows of a run's speed, its data loaders and its model.
constexpr Names<8> kPhaseSpeedColumns = {
    "rank",           "phase",  "measured",          "iterations_per_second", "median_per_second",
    "low_per_second", "spread", "samples_per_second"};
constexpr Names<8> kSpeedLimitColumns = {
    "rank",   "phase",          "iterations", "warm_up",
    "traced", "warm_up_traced", "wait_share", "loader_per_second"};
constexpr Names<6> kJobSpeedColumns = {"phase",
                                       "ranks",
                                       "iterations_per_second",
                                       "slowest_per_second",
                                       "slowest_rank",
                                       "samples_per_second"};
constexpr Names<6> kSaveColumns = {"rank", "saves", "save_ns", "save_share", "mean_ns", "max_ns"};
constexpr std::array kSpeedParts = std::to_array<Part>({
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

constexpr Names<9> kWatchedColumns = {
    "rank",          "loader",           "workers",     "batches",   "wait_share",
    "first_wait_ns", "later_wait_share", "p95_wait_ns", "mean_ready"};
constexpr Names<8> kMakingColumns = {"rank",        "loader",          "make_ns",
                                     "fetch_share", "transform_share", "collate_share",
                                     "cpu_cores",   "read_bytes"};
constexpr Names<9> kLateColumns = {"rank",    "loader",          "worker",
                                   "batches", "busy_share",      "median_ns",
                                   "late",    "transform_share", "read_bytes"};
constexpr Names<8> kWaitingStepColumns = {"rank",   "step",  "wait_ns", "wait_share",
                                          "worker", "cause", "make_ns", "read_bytes"};
constexpr std::array kDataParts = std::to_array<Part>({
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

constexpr Names<9> kModelColumns = {"rank",       "model",        "layers",
                                    "parameters", "trainable",    "parameter_bytes",
                                    "mult_adds",  "output_bytes", "counted_by"};
constexpr Names<8> kModelLayerColumns = {
    "rank", "layer", "type", "parameters", "parameter_share", "mult_adds", "output", "depth"};
constexpr std::array kModelParts = std::to_array<Part>({
    {.analysis = "model", .table = "summary", .columns = kModelColumns, .quiet = true},
    {.analysis = "model",
     .table = "layers",
     .columns = kModelLayerColumns,
     .rows = 24,
     .quiet = true,
     .one_rank = true},
});

// What the report shows of the machines a run was on, and of the energy they took.
constexpr Names<10> kMachineColumns = {"node",
                                       "processors",
                                       "cpu_mean_share",
                                       "cpu_p95_share",
                                       "job_cores",
                                       "memory_mean_bytes",
                                       "memory_max_bytes",
                                       "memory_total_bytes",
                                       "disk_read_bytes",
                                       "received_bytes"};
constexpr Names<11> kGpuColumns = {"node",
                                   "gpu",
                                   "busy_mean_share",
                                   "busy_p95_share",
                                   "memory_max_bytes",
                                   "memory_total_bytes",
                                   "mean_watts",
                                   "max_watts",
                                   "mean_mhz",
                                   "max_celsius",
                                   "slowed_by"};
constexpr Names<7> kProcessColumns = {"rank",      "processes",     "most",      "mean_cores",
                                      "max_cores", "rss_max_bytes", "read_bytes"};
constexpr Names<3> kMissingColumns = {"node", "source", "missing"};
constexpr std::array kMachines = std::to_array<Part>({
    {.analysis = "system",
     .table = "load",
     .shown = Shown::kChart,
     .caption = "How busy they were, over time:",
     .only_html = true},
    {.analysis = "system",
     .table = "memory",
     .shown = Shown::kChart,
     .caption = "Memory in use, over time:",
     .only_html = true},
    {.analysis = "system", .table = "machines", .columns = kMachineColumns},
    {.analysis = "system",
     .table = "gpus",
     .columns = kGpuColumns,
     .caption = "The GPUs of the job:",
     .quiet = true},
    {.analysis = "system",
     .table = "processes",
     .columns = kProcessColumns,
     .caption = "The processes of the job:",
     .quiet = true},
    {.analysis = "system",
     .table = "missing",
     .columns = kMissingColumns,
     .caption = "What could not be seen:",
     .quiet = true},
});

constexpr Names<8> kEnergyColumns = {"of",  "devices",    "joules",          "error_joules",
                                     "kwh", "mean_watts", "joules_per_step", "co2_grams"};
constexpr Names<7> kEnergyDeviceColumns = {"node",   "kind",       "device",   "method",
                                           "joules", "mean_watts", "max_watts"};
constexpr Names<8> kPhaseColumns = {"rank",   "range",           "calls", "total_ns",
                                    "joules", "joules_per_call", "watts", "estimate"};
constexpr std::array kEnergyParts = std::to_array<Part>({
    {.analysis = "energy",
     .table = "power",
     .shown = Shown::kChart,
     .caption = "Power in watts, over time:",
     .only_html = true},
    {.analysis = "energy", .table = "run", .columns = kEnergyColumns, .needs = "joules"},
    {.analysis = "energy",
     .table = "devices",
     .columns = kEnergyDeviceColumns,
     .rows = 16,
     .caption = "By device:",
     .quiet = true},
    {.analysis = "energy",
     .table = "phases",
     .columns = kPhaseColumns,
     .rows = 12,
     .caption = "By range, each below the one it was entered in:",
     .needs = "joules",
     .quiet = true,
     .one_rank = true},
});

constexpr std::array kRunSections = std::to_array<Section>({
    {.title = "All steps of the run",
     .about = "As the training process recorded them, traced or not, warm-up too: from one call of "
              "step() to the next.",
     .parts = kRunSteps,
     .next = "time --table steps"},
    {.title = "Speed",
     .about = "Iterations are steps in training, batches elsewhere; warm-up and traced steps are "
              "left out. Low: 19 of 20 iterations are at least as fast. Spread: the standard "
              "deviation of an iteration, divided by its mean.",
     .parts = kSpeedParts,
     .next = "throughput"},
    {.title = "Data: the loader and its workers",
     .about =
         "How long the loop waited for batches of the loaders it watches, and what workers "
         "did to make them: fetch is what transform and collate leave. All batches count, of "
         "warm-up too, and in the shares all but those of traced steps; first wait: for the "
         "first batches of all passes together, "
         "later wait share: without those. Ready: batches that were there when the loop asked.",
     .parts = kDataParts,
     .next = "loader"},
    {.title = "Model",
     .about = "As it was counted when it was recorded; a layer's sums are with the layers inside "
              "it. A mult-add is two floating-point operations.",
     .parts = kModelParts,
     .next = "model"},
    {.title = "Time by range",
     .about = "What the program named, each range below the one it was entered in. Share is of the "
              "time recorded there; self is without the ranges inside.",
     .parts = kTimeRanges,
     .next = "time"},
    {.title = "What the run said",
     .about = "Lines of its log, by level.",
     .parts = kLogLines,
     .next = "log"},
    {.title = "System",
     .about = "What was sampled of the machines while the run went on. A GPU is busy while any "
              "kernel runs on it, however small; memory in use is total less available.",
     .parts = kMachines,
     .next = "system",
     .host_about = "What was sampled of the machines while the run went on. Memory in use is total "
                   "less available."},
    {.title = "Energy",
     .about = "Joules from the counters of the devices, or their power integrated over time; a "
              "kilowatt hour is 3.6 million joules. Processors and memory count for the whole "
              "machine.",
     .parts = kEnergyParts,
     .next = "energy"},
    {.title = "Where the step time goes",
     .about = "The wall time of the steps as each GPU spends it. Communication and memory count as "
              "exposed only while nothing computes; idle is when the GPU has nothing to do.",
     .parts = kWhere,
     .next = "steps",
     .host_about = "The wall time of the steps, by what the host did."},
    {.title = "Is the GPU busy?",
     .about =
         "Busy: anything runs. SM efficiency: the share of the GPU's multiprocessors that have "
         "work, over the same time; small kernels leave most of them empty.",
     .parts = kBusy,
     .next = "overview",
     .of_gpu = true},
    {.title = "Step times",
     .about = "How long each step took, until the GPU work it started had ended.",
     .parts = kStepTimes,
     .next = "steps --table steps",
     .host_about = "How long each step took."},
    {.title = "Why the GPU waits",
     .about =
         "The idle time of each GPU by its cause: the host had not launched the next work yet, "
         "launched work takes a moment to begin, or it had to wait for other work; start and end "
         "are before the first and after the last work.",
     .parts = kIdle,
     .next = "idle-time",
     .of_gpu = true},
    {.title = "What the time is spent on",
     .about = "Operators of the framework, the longest on the GPU first. Self: without the "
              "operators it calls.",
     .parts = kOperatorParts,
     .next = "operators",
     .host_about = "Operators of the framework, the longest first. Self: without the operators it "
                   "calls."},
    {.title = "The kernels that cost most",
     .about = "GPU programs by name, the longest first; share is of all kernel time of the rank.",
     .parts = kKernelParts,
     .next = "kernels",
     .of_gpu = true},
    {.title = "Parts of the model",
     .about = "The modules of the model, each class below the one that calls it. Forward is GPU "
              "work started while the module ran, backward what the backward pass of its operators "
              "started; both with the modules inside it. Share is of all GPU work of the rank.",
     .parts = kModules,
     .next = "modules",
     .host_about = "The modules of the model, each class below the one that calls it: time on the "
                   "host while they ran, with and without the modules inside."},
    {.title = "Launching work",
     .about = "What the calls that start GPU work cost the host, and how long work waits to begin. "
              "A kernel shorter than its launch keeps the GPU waiting for the host.",
     .parts = kLaunches,
     .next = "launches",
     .of_gpu = true},
    {.title = "Communication",
     .about = "Hidden communication runs while something computes and costs nothing; exposed "
              "communication is waited for.",
     .parts = kCommunication,
     .next = "overlap",
     .of_gpu = true},
    {.title = "Data loading",
     .about = "How long the training loop waits for the next batch, and whether the GPU is idle "
              "meanwhile.",
     .parts = kLoading,
     .next = "dataloader",
     .host_about = "How long the training loop waits for the next batch.",
     .of_trace = true},
    {.title = "Copies between host and GPU",
     .about = "Copies from pageable memory are slow and make the host wait; hidden ones run while "
              "something computes.",
     .parts = kTransfers,
     .next = "transfers",
     .of_gpu = true},
    {.title = "Memory",
     .about = "The most memory that tensors took (allocated) and that PyTorch held (reserved).",
     .parts = kMemoryPeakParts,
     .next = {}},
    {.title = "Ranges named in the code",
     .about = "What the program itself marked, by record_function and the like: time on the host, "
              "GPU work started inside, and by the backward pass of what is inside.",
     .parts = kRanges,
     .next = "annotations",
     .host_about = "What the program itself marked, by record_function and the like: time on the "
                   "host.",
     .of_trace = true},
});

// A page has room for fewer rows than a file.
constexpr std::array kRunSettings = std::to_array<Setting>({
    {"operators", "top", "10"},
    {"kernels", "top", "10"},
    {"kernel-durations", "top", "10"},
    {"idle-time", "top", "10"},
    {"launches", "top", "10"},
    {"transfers", "top", "10"},
    {"annotations", "top", "10"},
    {"time", "top", "16"},
    {"log", "top", "8"},
    {"log", "level", "warning"},
    {"stacks", "top", "20"},
    {"stacks", "frames", "100"},
    {"modules", "by", "class"},
    {"modules", "top", "12"},
    {"modules", "depth", "4"},
    {"queue-length", "points", "300"},
    {"energy", "top", "12"},
    {"memory-bandwidth", "points", "300"},
});

}  // namespace

const PageKind kRunPage{.sections = kRunSections, .settings = kRunSettings};

}  // namespace stepscope::report
