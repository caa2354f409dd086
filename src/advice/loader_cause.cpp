// Why a data loader is slow: what its records say, and what to change.
#include "advice/loader_cause.h"

#include <algorithm>
#include <cmath>

#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::string_view kStorage = "fetch, waiting";
constexpr std::string_view kDecoding = "fetch, computing";
constexpr std::string_view kTransform = "transform";
constexpr std::string_view kCollate = "collate";
constexpr std::string_view kNoCore = "no free core";
constexpr std::string_view kHandOver = "hand-over";
constexpr std::string_view kStartUp = "start-up";

// Workers that only wait need hardly any processor, but each is a process with memory of its own.
constexpr std::int64_t kMostWaiting = 32;

void add_sentence(Sentence& into, std::string_view form, std::initializer_list<Figure> figures) {
  into.form += form;
  for (const Figure& figure : figures) into.figures.push_back(figure);
}

}  // namespace

bool LoaderCause::waits_at_start() const { return watched && cause == kStartUp; }

bool LoaderCause::has_too_few() const {
  if (!watched || cause == kNoCore || cause == kHandOver || cause == kStartUp) return false;
  return workers == 0 || needed == 0 || workers < needed;
}

bool LoaderCause::workers_help() const {
  if (!has_too_few() || (cpus && workers >= served())) return false;
  return per_core() == 1 || needed == 0 || workers < wanted();
}

bool LoaderCause::processors_lack() const {
  return has_too_few() && needed > 0 && cpus && served() < wanted();
}

std::int64_t LoaderCause::per_core() const {
  if (cause != kStorage) return 1;
  constexpr double kLeast = 1.0 / kMostWaiting;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(1 / std::max(kLeast, cpu_cores)));
}

std::int64_t LoaderCause::wanted() const {
  return per_core() > 1 ? std::min(needed, kMostWaiting) : needed;
}

std::int64_t LoaderCause::served() const {
  // A rank with one processor: half of it, which the loop does not need while it waits.
  return cpus->workers() > 0 ? per_core() * cpus->workers() : per_core() / 2;
}

std::int64_t LoaderCause::processors_to_ask_for() const {
  return (wanted() + per_core() - 1) / per_core() + 1;
}

std::string LoaderCause::workers_to_set() const {
  if (cpus) {
    const std::int64_t most =
        std::clamp<std::int64_t>(served(), 1, std::max(kMostWaiting, cpus->workers()));
    return std::to_string(needed > 0 ? std::min(wanted(), most) : most);
  }
  // One processor serves them all, and there is one.
  if (needed > 0 && per_core() > 1 && wanted() <= per_core()) return std::to_string(wanted());
  // Ranks that torchrun starts on a machine share its processors. A loader without workers takes
  // neither prefetch_factor nor persistent_workers: there is always one.
  const std::string cores =
      several_ranks
          ? "len(os.sched_getaffinity(0)) // int(os.environ.get(\"LOCAL_WORLD_SIZE\", 1)) - 1"
          : "len(os.sched_getaffinity(0)) - 1";
  const std::string most = (per_core() > 1 ? std::to_string(per_core()) + " * " : std::string()) +
                           "max(1, " + cores + ")";
  return needed > 0 ? "min(" + std::to_string(wanted()) + ", " + most + ")" : most;
}

void LoaderCause::explain(Sentence& into) const {
  if (workers == 0) {
    add_sentence(into, "The loader has no workers: the training loop makes each batch itself", {});
  } else {
    add_sentence(into, workers == 1 ? "{} worker makes the batches" : "{} workers make the batches",
                 {count(static_cast<double>(workers))});
  }
  if (make_ns > 0) add_sentence(into, ", {} for each", {nanos(make_ns)});
  into.form += ". ";
  if (cause == kStorage && !reads_files) {
    add_sentence(
        into,
        "{} of that is fetching, and most of it waiting for something that is no file: a network, "
        "a lock, another process.",
        {share(fetch_share)});
  } else if (cause == kStorage) {
    add_sentence(
        into,
        "{} of that is fetching, and most of it waiting for storage, a network or a lock ({} "
        "read per batch).",
        {share(fetch_share), bytes(bytes_per_batch)});
  } else if (cause == kDecoding && reads_files) {
    add_sentence(into, "{} of that is the dataset computing: decoding, decompressing, indexing.",
                 {share(fetch_share)});
  } else if (cause == kDecoding) {
    add_sentence(
        into,
        "{} of that is the dataset computing: it reads no files, and is asked for each sample by "
        "itself.",
        {share(fetch_share)});
  } else if (cause == kTransform) {
    add_sentence(into, "{} of that are transforms.", {share(transform_share)});
  } else if (cause == kCollate) {
    add_sentence(into, "{} of that is putting samples together (collate_fn).",
                 {share(collate_share)});
  } else if (cause == kNoCore) {
    add_sentence(into, "For {} of that no core was free, although there was work.",
                 {share(starved_share)});
  } else if (cause == kHandOver) {
    add_sentence(into,
                 "Batches are made in time, but taking one over (queue, unpickling, pinning) takes "
                 "long.",
                 {});
  } else if (cause == kStartUp) {
    add_sentence(into,
                 passes == 1
                     ? "Most of the waiting is for the first batch, {}: workers start, import and "
                       "open the dataset."
                     : "Most of the waiting is for the first batch of each pass, {} each time: "
                       "workers start, import and open the dataset.",
                 {nanos(first_wait_ns)});
  } else if (!late) {
    add_sentence(
        into, "No single wait was long: it is what taking over a batch costs in every step.", {});
  }
  if (reads_too_much()) {
    add_sentence(into,
                 " A batch holds {}, and {} are read for it: whole files or chunks are read for a "
                 "part of each, because the order of the samples is not that of the data.",
                 {bytes(batch_bytes), bytes(bytes_per_batch)});
    if (files_per_batch >= 1) {
      add_sentence(into, " It opens {} files for each batch.",
                   {count(std::round(files_per_batch))});
    }
  }
  if (late && needed > 0 && has_too_few()) say_needed(into);
}

void LoaderCause::say_needed(Sentence& into) const {
  add_sentence(into, needed == 1 ? " {} worker would keep up" : " {} workers would keep up",
               {count(static_cast<double>(needed))});
  if (per_core() == 1) {
    add_sentence(into, needed == 1 ? ", if it has a core" : ", if each has a core", {});
  } else {
    add_sentence(into,
                 needed == 1
                     ? "; it waits most of the time and keeps {} processors busy"
                     : "; they wait most of the time and need no core each: together they keep {} "
                       "processors busy",
                 {Figure(static_cast<double>(needed) * cpu_cores, base::Unit::kNone)});
  }
  if (wanted() < needed) {
    add_sentence(
        into,
        "; more than {} are not advised, because each is a process with memory of its own: a batch "
        "must be waited for less",
        {count(static_cast<double>(wanted()))});
  }
  if (processors_lack()) {
    const std::int64_t own = cpus->per_rank();
    add_sentence(into,
                 own == 1 ? "; the rank has {} processor, for the training loop"
                          : "; the rank has {} processors, {} beside the training loop",
                 {count(static_cast<double>(own))});
    if (own > 1) into.figures.push_back(count(static_cast<double>(cpus->workers())));
  }
  into.form += '.';
}

bool LoaderCause::reads_too_much() const {
  constexpr double kTimes = 8;  // no format takes so many bytes for one of its own
  constexpr double kMuch = 1 << 20;
  return (cause == kStorage || cause == kDecoding) && batch_bytes > 0 && bytes_per_batch >= kMuch &&
         bytes_per_batch >= kTimes * batch_bytes;
}

std::optional<Change> LoaderCause::change() const {
  if (reads_too_much()) {
    return Change{
        "Read in the order in which the data lies: take all samples of a file or chunk that was "
        "read, and shuffle files first, then samples within them; or store it again in pieces of "
        "the size that is asked for; or map the files, so that only what is used is read.",
        "array = numpy.load(path, mmap_mode=\"r\")   # reads the part that is indexed\n"
        "# zarr, HDF5: chunks of one sample, or a sampler that keeps samples of a chunk together\n"
        "for chunk in random.sample(chunks, len(chunks)):\n"
        "    samples = load(chunk); random.shuffle(samples); yield from samples"};
  }
  if (cause == kStorage && !reads_files) {
    return Change{
        "Find out what the dataset waits for, line by line.",
        "@stepscope.lines(memory=False)  # then print(stepscope.lines_report(\"__getitem__\"))\n"
        "def __getitem__(self, index):"};
  }
  if (cause == kStorage) {
    return Change{
        "Make reading cheaper: fewer and larger files, a copy on a local disk, reads of "
        "whole chunks instead of pieces.",
        "# before training, once per node\nshutil.copytree(\"/shared/data\", "
        "os.environ[\"TMPDIR\"] + \"/data\")"};
  }
  if (cause == kDecoding && reads_files) {
    return Change{
        "Do once what gives the same result every time (decoding, decompressing, "
        "resizing), and store the result.",
        "# before training, once\nfor i, sample in enumerate(dataset): "
        "torch.save(sample, f\"cache/{i}.pt\")"};
  }
  if (cause == kDecoding || (cause == kCollate && !reads_files)) {
    return Change{
        "Take a whole batch at once: the data is in memory, and asking for one sample at a time "
        "costs more than the data.",
        "def __getitems__(self, indices):  # of your Dataset: all samples of a batch in one call\n"
        "    return self.inputs[indices], self.targets[indices]\n"
        "loader = DataLoader(dataset, collate_fn=lambda batch: batch, ...)"};
  }
  if (cause == kTransform && on_gpu) {
    return Change{
        "Make the transform cheaper: do its fixed part once before training, and the "
        "random part on the GPU, for the whole batch.",
        "batch = augment(batch.to(device, non_blocking=True))  # in the training loop"};
  }
  if (cause == kTransform) {
    return Change{
        "Make the transform cheaper: do its fixed part once before training, and the random part "
        "for a whole batch at a time.",
        "batch = augment(batch)  # in the training loop, for all samples at once"};
  }
  if (cause == kCollate) {
    return Change{
        "Make samples that need no work to be put together: tensors of one shape and "
        "type, padded or packed by the dataset.",
        ""};
  }
  if (cause == kNoCore && workers == 0) {
    return Change{
        "Let the job have a processor that nothing else uses: the loop makes its batches "
        "itself, and had none for most of that time.",
        "#SBATCH --cpus-per-task=2"};
  }
  if (cause == kNoCore) {
    // A processor for every worker and one for the loop.
    return Change{
        "Give the job more cores, or let each worker use one thread only: more workers "
        "would make it worse.",
        "# in the job script\n#SBATCH --cpus-per-task=" + std::to_string(workers + 1) +
            "\n# in worker_init_fn\ntorch.set_num_threads(1)"};
  }
  if (starts_again()) {
    return Change{"Keep the workers from one pass to the next: they start once.",
                  "loader = DataLoader(dataset, batch_size=..., num_workers=" +
                      std::to_string(workers) + ",\n                    persistent_workers=True)"};
  }
  if (cause == kStartUp) {
    return Change{
        "Make the start of a worker cheaper: what the dataset imports, opens and reads in "
        "__init__ is done by each. Workers start once: a longer training waits no longer for them.",
        ""};
  }
  if (cause == kHandOver) {
    return Change{on_gpu ? "Hand over less: smaller types (uint8, bf16) and fewer tensors per "
                           "batch, turned into floats on the GPU; pin_memory=True."
                         : "Hand over less: smaller types (uint8, bf16) and fewer tensors per "
                           "batch, turned into floats in the training loop.",
                  ""};
  }
  return std::nullopt;
}

LoaderCause loader_cause(const Facts& facts, std::int32_t rank) {
  // A worker's own bookkeeping reads a little: less than this per batch is no data.
  constexpr double kNoData = 4096;
  LoaderCause out;
  double longest = -1;
  for (const Line& line : facts.lines("loader", "loaders", rank)) {
    const double wait = line.number("wait_ns");
    if (line.text("phase") != "training" || wait <= longest) continue;
    longest = wait;
    const double batches = std::max(1.0, line.number("batches"));
    const std::int64_t passes = std::max<std::int64_t>(1, line.whole("passes"));
    out = {.loader = std::string(line.text("loader")),
           .watched = line.has_value("make_ns") || line.whole("workers") > 0,
           .cause = std::string(line.text("cause")),
           .late = line.has_value("cause") || line.whole("waited") > 0,
           .workers = line.whole("workers"),
           .late_worker = line.has_value("late_worker") ? line.whole("late_worker") : -1,
           .passes = passes,
           .first_wait_ns = line.number("first_wait_ns") / static_cast<double>(passes),
           .first_waits_share = wait > 0 ? line.number("first_wait_ns") / wait : 0,
           .make_ns = line.number("make_ns"),
           .needed = line.has_value("workers_needed") ? line.whole("workers_needed") : 0,
           .fetch_share = line.number("fetch_share"),
           .transform_share = line.number("transform_share"),
           .collate_share = line.number("collate_share"),
           .starved_share = line.number("starved_share"),
           .cpu_cores = line.number("cpu_cores"),
           .bytes_per_batch = line.number("read_bytes") / batches,
           .batch_bytes = line.number("batch_bytes") / batches,
           .files_per_batch = line.number("files") / batches};
    out.reads_files = !line.has_value("read_bytes") || line.whole("files") > 0 ||
                      out.bytes_per_batch >= kNoData ||
                      line.number("storage_bytes") / batches >= kNoData;
  }
  const std::vector<Line> workers = facts.lines("loader", "workers", rank);
  out.restarts = workers.empty() || std::ranges::any_of(workers, [&](const Line& line) {
                   return line.text("loader") == out.loader && line.whole("processes") > 1;
                 });
  out.on_gpu = facts.on_gpu();
  out.several_ranks = has_several_ranks(facts);
  out.cpus = job_processors(facts, rank);
  return out;
}

}  // namespace stepscope::advice
