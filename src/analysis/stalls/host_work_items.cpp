// Finds operators that work on the CPU, copies, and ranges of compiling, on threads that launch.
#include "analysis/stalls/host_work_items.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/device/copies.h"
#include "analysis/name_sign.h"
#include "analysis/steps/loader_waits.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Kind;
using trace::Row;

// Shorter ones are the framework's own bookkeeping: counters, scalars, shapes.
constexpr Nanos kLeastOperator = 10'000;

bool is_sorted_name(std::span<const std::string_view> sorted, std::string_view name) {
  return std::ranges::binary_search(sorted, name);
}

// Sorted, without the namespace.
constexpr auto kNoCpuWork = std::to_array<std::string_view>({"_local_scalar_dense",
                                                             "_reshape_alias",
                                                             "_unsafe_view",
                                                             "alias",
                                                             "as_strided",
                                                             "as_strided_",
                                                             "chunk",
                                                             "detach",
                                                             "detach_",
                                                             "diagonal",
                                                             "empty",
                                                             "empty_like",
                                                             "empty_strided",
                                                             "expand",
                                                             "expand_as",
                                                             "flatten",
                                                             "is_nonzero",
                                                             "is_pinned",
                                                             "item",
                                                             "lift_fresh",
                                                             "movedim",
                                                             "narrow",
                                                             "new_empty",
                                                             "new_empty_strided",
                                                             "permute",
                                                             "record_stream",
                                                             "requires_grad_",
                                                             "reshape",
                                                             "resize_",
                                                             "resolve_conj",
                                                             "resolve_neg",
                                                             "result_type",
                                                             "select",
                                                             "set_",
                                                             "slice",
                                                             "split",
                                                             "split_with_sizes",
                                                             "squeeze",
                                                             "squeeze_",
                                                             "swapaxes",
                                                             "t",
                                                             "transpose",
                                                             "transpose_",
                                                             "unbind",
                                                             "unflatten",
                                                             "unflatten_dense_tensors",
                                                             "unfold",
                                                             "unsqueeze",
                                                             "unsqueeze_",
                                                             "view",
                                                             "view_as"});
static_assert(std::ranges::is_sorted(kNoCpuWork));

constexpr auto kRandomOperators = std::to_array<std::string_view>(
    {"bernoulli", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_",
     "multinomial", "normal", "normal_", "poisson", "rand", "rand_like", "randint", "randint_like",
     "randn", "randn_like", "random_", "randperm", "uniform_"});
static_assert(std::ranges::is_sorted(kRandomOperators));

constexpr auto kStatisticOperators =
    std::to_array<std::string_view>({"_histogramdd_bin_edges",
                                     "_histogramdd_from_bin_cts",
                                     "_histogramdd_from_bin_tensors",
                                     "_is_all_true",
                                     "_is_any_true",
                                     "_unique",
                                     "_unique2",
                                     "abs",
                                     "all",
                                     "allclose",
                                     "amax",
                                     "amin",
                                     "aminmax",
                                     "any",
                                     "argmax",
                                     "argmin",
                                     "bincount",
                                     "count_nonzero",
                                     "equal",
                                     "histc",
                                     "histogram",
                                     "histogramdd",
                                     "isclose",
                                     "isfinite",
                                     "isinf",
                                     "isnan",
                                     "kthvalue",
                                     "linalg_norm",
                                     "linalg_vector_norm",
                                     "max",
                                     "mean",
                                     "median",
                                     "min",
                                     "mode",
                                     "nanmean",
                                     "nanmedian",
                                     "nanquantile",
                                     "norm",
                                     "quantile",
                                     "sort",
                                     "std",
                                     "std_mean",
                                     "sum",
                                     "topk",
                                     "unique_consecutive",
                                     "unique_dim",
                                     "var",
                                     "var_mean"});
static_assert(std::ranges::is_sorted(kStatisticOperators));

// "aten::randn" without what stands before it.
std::string_view bare_operator(std::string_view op) {
  const std::size_t at = op.rfind("::");
  return at == std::string_view::npos ? op : op.substr(at + 2);
}

bool names_optimizer_step(std::string_view name) { return name.starts_with("Optimizer.step#"); }
bool names_backward_node(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function: ") &&
         name.find("AccumulateGrad") == std::string_view::npos;
}
bool names_search_for_nan(std::string_view name) { return name == "aten::isnan"; }
bool names_fetched_value(std::string_view name) {
  return name == "aten::item" || name == "aten::is_nonzero";
}

struct HostItemNames {
  NameSign works, compiles, loads_code, optimizer, backward, nan, fetched;

  explicit HostItemNames(const trace::Trace& trace)
      : works(trace, names_cpu_work),
        compiles(trace, names_compiling),
        loads_code(trace, names_loading_code),
        optimizer(trace, names_optimizer_step),
        backward(trace, names_backward_node),
        nan(trace, names_search_for_nan),
        fetched(trace, names_fetched_value) {}
};

// An operator that has not ended.
struct OpenOperator {
  Nanos end = 0;
  Row row = trace::kNoRow;
  std::size_t first = 0;    // of the items found inside
  Row nan = trace::kNoRow;  // of a node: its search for NaN, whose answer is not fetched yet
  bool calls = false;       // the runtime or the driver
  bool works = false;
  bool is_node = false, is_checked = false;
};

// One thread. Rows come callers first, by start.
class HostWorkTrack {
 public:
  HostWorkTrack(const WindowView& window, HostItemNames& names, HostItems& out)
      : window_(&window), trace_(*window.trace), names_(&names), out_(&out) {}

  void read(const trace::Track& track) {
    Union recorded;
    compiling_until_ = std::numeric_limits<Nanos>::min();
    for (Row row = track.begin; row < track.end; ++row) {
      if (trace_.phase()[row] != trace::Phase::kSpan) continue;
      const Kind kind = trace_.kind()[row];
      const bool is_call = trace::is_api_call(kind);
      if (kind != Kind::kCpuOp && kind != Kind::kAnnotation && !is_call) continue;
      const Interval time{trace_.start()[row], trace_.end(row)};
      close_until(time.start);
      if (kind != Kind::kAnnotation) recorded.add(time.start, time.end);
      if (is_call) {
        add_call(row, time);
      } else {
        add_range(row, time, kind);
      }
    }
    close_until(std::numeric_limits<Nanos>::max());
    recorded_.push_back(recorded.take());
  }

  Intervals take_recorded() {
    UnionOfRuns all;
    for (const Intervals& run : recorded_) {
      all.begin_run();
      all.add_run(run);
    }
    return all.take();
  }

 private:
  void add_call(Row row, Interval time) {
    for (auto open = open_.rbegin(); open != open_.rend() && !open->calls; ++open) {
      open->calls = true;
    }
    if (names_->loads_code.matches_row(row)) out_->compiling.push_back({.time = time, .row = row});
  }

  void add_range(Row row, Interval time, Kind kind) {
    if (time.start < compiling_until_) return;
    if (names_->compiles.matches_row(row)) {
      compiling_until_ = time.end;
      out_->compiling.push_back({.time = time, .row = row});
      // What works inside of it is not the program's.
      for (OpenOperator& open : open_) open.calls = true;
      return;
    }
    if (kind == Kind::kAnnotation) {
      if (names_->optimizer.matches_row(row)) out_->optimizer.push_back(time);
      return;
    }
    if (!open_.empty() && open_.back().is_node) check(open_.back(), row, time);
    open_.push_back({.end = time.end,
                     .row = row,
                     .first = out_->list.size(),
                     .works = names_->works.matches_row(row),
                     .is_node = names_->backward.matches_row(row)});
  }

  // Anomaly mode: each result of a node is searched for NaN, and the answer is fetched.
  void check(OpenOperator& node, Row row, Interval time) {
    if (names_->nan.matches_row(row)) {
      node.nan = row;
    } else if (node.nan != trace::kNoRow && names_->fetched.matches_row(row)) {
      out_->checks.push_back({.time = {trace_.start()[node.nan], time.end}, .row = row});
      node.nan = trace::kNoRow;
      node.is_checked = true;
    }
  }

  void close_until(Nanos time) {
    while (!open_.empty() && open_.back().end <= time) {
      const OpenOperator open = open_.back();
      open_.pop_back();
      if (open.is_node && in_selected_step(open.row)) {
        ++out_->backward_nodes;
        out_->checked_nodes += open.is_checked ? 1 : 0;
      }
      if (open.calls || !open.works || trace_.duration()[open.row] < kLeastOperator) continue;
      out_->list.resize(open.first);  // what it calls is part of it
      out_->list.push_back({.time = {trace_.start()[open.row], open.end},
                            .purpose = purpose_of(trace_.name_text(open.row)),
                            .row = open.row});
    }
  }

  bool in_selected_step(Row row) const {
    const Nanos start = trace_.start()[row];
    return window_->counts_at(start) && step_at(window_->steps, start) >= 0;
  }

  const WindowView* window_;
  const trace::Trace& trace_;
  HostItemNames* names_;
  HostItems* out_;
  std::vector<OpenOperator> open_;
  std::vector<Intervals> recorded_;
  Nanos compiling_until_ = std::numeric_limits<Nanos>::min();
};

// Tracks of the host from which work was launched; nothing where half of the work does not say.
std::vector<const trace::Track*> tracks_that_launch(const WindowView& window) {
  std::vector<Row> launches;
  for (const Work& piece : window.work) {
    if (piece.launch != trace::kNoRow) launches.push_back(piece.launch);
  }
  if (2 * launches.size() < window.work.size()) return {};
  std::ranges::sort(launches);
  std::vector<const trace::Track*> out;
  for (const trace::Track& track : window.trace->tracks()) {
    if (track.is_device) continue;
    const auto first = std::ranges::lower_bound(launches, track.begin);
    if (first != launches.end() && *first < track.end) out.push_back(&track);
  }
  return out;
}

void add_item_copies(const WindowView& window, HostItems& out) {
  const trace::Trace& trace = *window.trace;
  for (std::uint32_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (piece.launch == trace::kNoRow || piece.work_class != WorkClass::kCopy) continue;
    const CopyName copy = copy_name(trace.name_text(piece.row));
    const bool down = copy.kind == "DtoH";
    if (!down && copy.kind != "HtoD") continue;
    out.list.push_back({.time = {trace.start()[piece.launch], trace.end(piece.launch)},
                        .sort = down ? HostItem::Sort::kDown : HostItem::Sort::kUp,
                        .pageable = copy.host_memory == "pageable",
                        .piece = i,
                        .row = piece.launch,
                        .bytes = bytes_of(trace, piece.row).value_or(0)});
  }
}

void add_item_launches(const WindowView& window, HostItems& out) {
  const trace::Trace& trace = *window.trace;
  for (const Work& piece : window.work) {
    const bool computes =
        piece.work_class == WorkClass::kCompute || piece.work_class == WorkClass::kCommunication;
    if (computes && piece.launch != trace::kNoRow) {
      out.launches.push_back(trace.start()[piece.launch]);
    }
  }
  sort_runs(out.launches, std::less{});
}

bool item_starts_before(const HostItem& a, const HostItem& b) {
  return a.time.start < b.time.start;
}

}  // namespace

Purpose purpose_of(std::string_view op) {
  const std::string_view name = bare_operator(op);
  if (is_sorted_name(kRandomOperators, name)) return Purpose::kRandom;
  return is_sorted_name(kStatisticOperators, name) ? Purpose::kStatistics : Purpose::kAny;
}

std::string_view name_of(Purpose purpose) {
  static constexpr std::array<std::string_view, 3> kNames = {"", "random", "statistics"};
  return kNames[static_cast<std::size_t>(purpose)];
}

bool names_cpu_work(std::string_view op) {
  if (op.find("::") == std::string_view::npos) return false;
  for (const std::string_view own : {"autograd::", "torch::autograd::", "c10d::", "profiler::"}) {
    if (op.starts_with(own)) return false;
  }
  return !is_sorted_name(kNoCpuWork, bare_operator(op));
}

bool names_compiling(std::string_view range) {
  static constexpr auto kRanges = std::to_array<std::string_view>(
      {"_compile", "async_compile.wait", "backend_compile", "code_gen", "compile_fx_inner",
       "create_aot_dispatcher_function", "dynamo", "entire_backward_compile",
       "entire_frame_compile", "inductor_compile"});
  static_assert(std::ranges::is_sorted(kRanges));
  return range.ends_with("(dynamo_timed)") || is_sorted_name(kRanges, range);
}

bool names_loading_code(std::string_view call) {
  return call.starts_with("cuModuleLoad") || call.starts_with("cuLibraryLoad") ||
         call.starts_with("cudaLibraryLoad") || call.starts_with("hipModuleLoad");
}

HostItems host_items(const WindowView& window) {
  HostItems out;
  const std::vector<const trace::Track*> tracks = tracks_that_launch(window);
  if (tracks.empty()) return out;
  HostItemNames names(*window.trace);
  HostWorkTrack reader(window, names, out);
  for (const trace::Track* track : tracks) reader.read(*track);
  out.recorded = reader.take_recorded();
  add_item_copies(window, out);
  add_item_launches(window, out);
  out.optimizer = sorted_union(std::move(out.optimizer));
  for (const Fetch& fetch : fetches(*window.trace)) out.loading.push_back({fetch.start, fetch.end});
  out.loading = sorted_union(std::move(out.loading));
  for (std::vector<HostItem>* list : {&out.list, &out.compiling, &out.checks}) {
    sort_runs(*list, item_starts_before);
  }
  CoverageWalk optimizer(out.optimizer);
  CoverageWalk loading(out.loading);
  std::erase_if(out.list, [&](const HostItem& item) {
    return item.sort == HostItem::Sort::kOperator && loading.covered(item.time) > 0;
  });
  for (HostItem& item : out.list) {
    item.in_optimizer =
        2 * optimizer.covered(item.time) >= item.time.length() && item.time.length() > 0;
  }
  return out;
}

}  // namespace stepscope::analysis
