#include "advice/loader_cause.h"

#include <algorithm>
#include <cmath>

namespace stepscope::advice {
namespace {

constexpr std::string_view kStorage = "fetch, waiting";
constexpr std::string_view kDecoding = "fetch, computing";
constexpr std::string_view kTransform = "transform";
constexpr std::string_view kCollate = "collate";
constexpr std::string_view kNoCore = "no free core";
constexpr std::string_view kHandOver = "hand-over";
// Nobody starts more.
constexpr double kMostWorkers = 1024;

void say(Sentence& into, std::string_view form, std::initializer_list<Figure> figures) {
  into.form += form;
  for (const Figure& figure : figures) into.figures.push_back(figure);
}

}  // namespace

bool LoaderCause::workers_help() const {
  return cause != kNoCore && cause != kHandOver && workers < workers_needed();
}

std::int64_t LoaderCause::workers_needed() const {
  if (between_ns <= 0) return static_cast<std::int64_t>(kMostWorkers);
  return static_cast<std::int64_t>(std::clamp(std::ceil(make_ns / between_ns), 1.0, kMostWorkers));
}

void LoaderCause::explain(Sentence& into) const {
  if (workers == 0) {
    say(into, "The loader has no workers: the training loop makes each batch itself, in {}. ",
        {nanos(make_ns)});
  } else {
    say(into, "{} workers take {} for a batch. ",
        {count(static_cast<double>(workers)), nanos(make_ns)});
  }
  if (cause == kStorage) {
    say(into,
        "{} of that is fetching, and most of it waiting for storage, a network or a lock ({} "
        "read per batch).",
        {share(fetch_share), bytes(bytes_per_batch)});
  } else if (cause == kDecoding) {
    say(into, "{} of that is the dataset computing: decoding, decompressing, indexing.",
        {share(fetch_share)});
  } else if (cause == kTransform) {
    say(into, "{} of that are transforms.", {share(transform_share)});
  } else if (cause == kCollate) {
    say(into, "{} of that is putting samples together (collate_fn).", {share(collate_share)});
  } else if (cause == kNoCore) {
    say(into, "For {} of that they could have run and no core was free.", {share(starved_share)});
  } else if (cause == kHandOver) {
    say(into,
        "Batches are made in time, but taking one over (queue, unpickling, pinning) takes "
        "long.",
        {});
  }
  if (workers_help()) {
    say(into, " {} workers would keep up, if each has a core.",
        {count(static_cast<double>(workers_needed()))});
  }
}

std::optional<Change> LoaderCause::change() const {
  if (cause == kStorage) {
    return Change{
        "Make reading cheaper: fewer and larger files, a copy on a local disk, reads of "
        "whole chunks instead of pieces.",
        "# before training, once per node\nshutil.copytree(\"/shared/data\", "
        "os.environ[\"TMPDIR\"] + \"/data\")"};
  }
  if (cause == kDecoding) {
    return Change{
        "Do once what gives the same result every time (decoding, decompressing, "
        "resizing), and store the result.",
        "# before training, once\nfor i, sample in enumerate(dataset): "
        "torch.save(sample, f\"cache/{i}.pt\")"};
  }
  if (cause == kTransform) {
    return Change{
        "Make the transform cheaper: do its fixed part once before training, and the "
        "random part on the GPU, for the whole batch.",
        "batch = augment(batch.to(device, non_blocking=True))  # in the training loop"};
  }
  if (cause == kCollate) {
    return Change{
        "Make samples that need no work to be put together: tensors of one shape and "
        "type, padded or packed by the dataset.",
        ""};
  }
  if (cause == kNoCore) {
    return Change{
        "Give the job more cores, or let each worker use one thread only: more workers "
        "would make it worse.",
        "# in the job script\n#SBATCH --cpus-per-task=16\n# in worker_init_fn\n"
        "torch.set_num_threads(1)"};
  }
  if (cause == kHandOver) {
    return Change{
        "Hand over less: smaller types (uint8, bf16) and fewer tensors per batch, turned "
        "into floats on the GPU; pin_memory=True.",
        ""};
  }
  return std::nullopt;
}

LoaderCause loader_cause(const Facts& facts, std::int32_t rank) {
  LoaderCause out;
  double longest = 0;
  for (const Line& line : facts.lines("loader", "loaders", rank)) {
    const double wait = line.number("wait_ns");
    if (line.text("phase") != "training" || wait <= longest || !line.has("make_ns")) continue;
    longest = wait;
    const double batches = std::max(1.0, line.number("batches"));
    const double whole = line.number("wait_share") > 0 ? wait / line.number("wait_share") : 0;
    out = {.loader = std::string(line.text("loader")),
           .cause = std::string(line.text("cause")),
           .workers = line.whole("workers"),
           .late_worker = line.has("late_worker") ? line.whole("late_worker") : -1,
           .make_ns = line.number("make_ns"),
           .between_ns = std::max(0.0, whole - wait) / batches,
           .fetch_share = line.number("fetch_share"),
           .transform_share = line.number("transform_share"),
           .collate_share = line.number("collate_share"),
           .starved_share = line.number("starved_share"),
           .bytes_per_batch = line.number("read_bytes") / batches};
  }
  return out;
}

}  // namespace stepscope::advice
