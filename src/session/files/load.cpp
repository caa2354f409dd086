// Reads many files side by side within a limit of memory.
#include "session/files/load.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/notes.h"
#include "base/parallel.h"
#include "bytes/source_around.h"
#include "bytes/source_within.h"
#include "ingest/memory_json/addresses.h"
#include "ingest/pickle/pickle.h"
#include "ingest/reading.h"
#include "session/files/run_folder.h"

namespace stepscope::session {

namespace {

constexpr std::uint64_t kLeastBytes = 4096;  // an empty or unknown file still costs something
constexpr std::uint64_t kUsualRatio = 12;    // of compressed traces
constexpr std::uint64_t kLeastMemory = 256u << 20;  // small files share no small budget

// What is left to say about a source that its reader consumed.
struct SourceFacts {
  bytes::Encoding encoding = bytes::Encoding::kPlain;
  std::uint64_t text_bytes = 0;
  std::uint64_t file_bytes = 0;
};

// Hands a source through and keeps its facts, because the reader owns the source and destroys it.
class WatchedSource final : public bytes::SourceAround {
 public:
  WatchedSource(std::unique_ptr<bytes::ByteSource> source, std::shared_ptr<SourceFacts> facts)
      : SourceAround(std::move(source)), facts_(std::move(facts)) {
    facts_->encoding = encoding();
  }

  base::Result<std::size_t> read(std::span<char> into) override {
    base::Result<std::size_t> got = inner().read(into);
    facts_->text_bytes = text_position();
    facts_->file_bytes = file_size().value_or(file_position());
    return got;
  }

 private:
  std::shared_ptr<SourceFacts> facts_;
};

// Held by what was read.
struct MemoryOf {
  std::uint64_t operator()(const trace::Window& window) const { return window.trace.memory(); }
  std::uint64_t operator()(const memory::Snapshot& snapshot) const { return snapshot.memory(); }
  std::uint64_t operator()(const memory::Timeline& timeline) const {
    return timeline.points.capacity() * sizeof(timeline.points.front());
  }
  std::uint64_t operator()(const memory::Stats& stats) const {
    std::uint64_t bytes = stats.values.capacity() * sizeof(stats.values.front());
    for (const auto& [name, value] : stats.values) bytes += name.capacity();
    return bytes;
  }
  std::uint64_t operator()(const series::Node& node) const { return node.memory(); }
  std::uint64_t operator()(const auto&) const { return 0; }
};

std::uint64_t memory_of(const LoadedFile& file) { return std::visit(MemoryOf{}, file); }

// Why a file that was not named is no recording; empty when it may be one.
base::Result<std::string> look_inside(const FoundFile& file) {
  SCOPE_TRY(const std::unique_ptr<bytes::ByteSource> source,
            bytes::open_source_within(file.within, file.path, {.input_window_bytes = 64 * 1024}));
  std::string text;
  std::size_t wanted = 64 * 1024;
  while (true) {
    const std::size_t before = text.size();
    text.resize(wanted);
    std::size_t filled = before;
    while (filled < wanted) {
      SCOPE_TRY(const std::size_t got,
                source->read(std::span(text).subspan(filled, wanted - filled)));
      if (got == 0) break;
      filled += got;
    }
    text.resize(filled);
    const bool whole = filled < wanted;
    std::string reason = reason_to_skip(text, whole);
    if (reason.empty() || whole || filled >= kContentPrefixBytes) return reason;
    wanted = kContentPrefixBytes;  // traceEvents may stand after long metadata
  }
}

class Loader {
 public:
  Loader(const std::vector<FoundFile>& files, const OpenOptions& options,
         trace::StepPattern step_pattern)
      : files_(files),
        options_(options),
        step_pattern_(std::move(step_pattern)),
        results_(files.size()),
        positions_(files.size()),
        threads_(std::max(1u, options.threads)),
        free_threads_(threads_) {
    order_.resize(files.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    // The largest first: a long file that starts last would leave the other threads idle.
    std::ranges::stable_sort(order_, std::greater(), [&](std::size_t i) { return weight(i); });
    for (std::size_t i = 0; i < files.size(); ++i) {
      unstarted_weight_ += weight(i);
      unfinished_weight_ += weight(i);
      progress_.bytes_total += files[i].bytes;
      if (files[i].bytes == 0 && files[i].path == "-") size_known_ = false;
    }
    if (!size_known_) progress_.bytes_total = 0;
    progress_.files_total = files.size();
  }

  std::vector<LoadedFile> run() {
    const std::size_t workers = std::min<std::size_t>(threads_, files_.size());
    base::on_threads(workers, [this](std::size_t) { work(); }, [this] { give_up(); });
    read_again_alone();
    say_limit();
    return std::move(results_);
  }

 private:
  struct Share {
    std::size_t file = 0;
    unsigned threads = 1;
    std::uint64_t memory = 0;
  };

  // An estimate of a file's text, which is what reading costs.
  std::uint64_t weight(std::size_t file) const {
    const FoundFile& found = files_[file];
    const bool plain = !found.path.ends_with(".gz") && !found.path.ends_with(".zst");
    return std::max(kLeastBytes, found.bytes) * (plain ? 1 : kUsualRatio);
  }

  void work() {
    while (const std::optional<Share> share = next()) {
      read(*share);
      done(*share);
    }
  }

  // No other file is begun, and the threads of this one are not waited for.
  void give_up() {
    const std::lock_guard lock(mutex_);
    started_ = order_.size();
    wake_.notify_all();
  }

  std::optional<Share> next() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return free_threads_ > 0 || started_ == order_.size(); });
    if (started_ == order_.size() || stopped()) return std::nullopt;
    Share share;
    share.file = order_[started_++];
    const auto part =
        static_cast<double>(weight(share.file)) / static_cast<double>(unstarted_weight_);
    const auto wanted = static_cast<unsigned>(part * threads_ + 0.999);
    share.threads = std::clamp(wanted, 1u, free_threads_);
    free_threads_ -= share.threads;
    unstarted_weight_ -= weight(share.file);
    share.memory = memory_for(share.file);
    return share;
  }

  // Everything unfinished must fit into what the finished files left over.
  std::uint64_t memory_for(std::size_t file) const {
    const std::uint64_t limit = options_.max_memory_bytes;
    if (limit == std::numeric_limits<std::uint64_t>::max()) return limit;
    const std::uint64_t left = limit > held_bytes_ ? limit - held_bytes_ : 0;
    const auto part = static_cast<double>(weight(file)) / static_cast<double>(unfinished_weight_);
    const auto share = static_cast<std::uint64_t>(static_cast<double>(left) * part);
    return std::max(share, std::min(left, kLeastMemory));
  }

  void done(const Share& share) {
    const std::lock_guard lock(mutex_);
    free_threads_ += share.threads;
    unfinished_weight_ -= weight(share.file);
    held_bytes_ += memory_of(results_[share.file]);
    positions_[share.file] = files_[share.file].bytes;
    ++progress_.files_done;
    report(lock, true);
    wake_.notify_all();
  }

  // A file's share of the memory is a guess. What did not fit into it may still fit into all that
  // is left, now that no other file needs any.
  void read_again_alone() {
    for (std::size_t i = 0; i < files_.size() && !stopped(); ++i) {
      const auto* const error = std::get_if<base::Error>(&results_[i]);
      const bool too_large = error != nullptr && error->code == base::Code::kLimit;
      const bool rereadable = files_[i].bytes > 0;
      if (!too_large || !rereadable || held_bytes_ >= options_.max_memory_bytes) continue;
      results_[i] = NotRead{};
      const Share share{i, threads_, options_.max_memory_bytes - held_bytes_};
      read(share);
      held_bytes_ += memory_of(results_[i]);
    }
  }

  // The reader knows its share of the memory; the user knows the option, or left it out.
  void say_limit() {
    const std::uint64_t limit = options_.max_memory_bytes;
    for (LoadedFile& result : results_) {
      auto* const error = std::get_if<base::Error>(&result);
      const bool is_memory = error != nullptr && error->code == base::Code::kLimit &&
                             error->message.find("--max-memory") != std::string::npos;
      if (!is_memory) continue;
      constexpr std::uint64_t kMiB = 1u << 20;
      error->message += limit < kMiB ? fmt::format(" (it allows {} bytes)", limit)
                                     : fmt::format(" (it allows {} MiB)", limit / kMiB);
    }
  }

  void read(const Share& share) {
    const FoundFile& file = files_[share.file];
    LoadedFile& result = results_[share.file];
    if (!file.named) {
      base::Result<std::string> reason = look_inside(file);
      if (!reason) {
        result = reason.error();
        return;
      }
      if (!reason->empty()) {
        result = NoRecording{*std::move(reason)};
        return;
      }
    }
    base::Result<LoadedFile> document = read_document(share);
    result = document ? *std::move(document) : LoadedFile(document.error());
  }

  base::Result<LoadedFile> read_document(const Share& share) {
    const FoundFile& file = files_[share.file];
    SCOPE_TRY(std::unique_ptr<bytes::ByteSource> source,
              bytes::open_source_within(file.within, file.path, {.stop = options_.stop}));
    const auto facts = std::make_shared<SourceFacts>();
    ingest::ReadOptions options;
    options.threads = share.threads;
    options.max_memory_bytes = share.memory;
    options.step_pattern = step_pattern_;
    options.reference_only = options_.reference_only;
    if (options_.block_bytes != 0) options.block_bytes = options_.block_bytes;
    options.stop = options_.stop;
    options.model = model_beside(file.path, file.within);
    if (options_.progress) {
      options.progress = [this, index = share.file](std::uint64_t position) {
        // A pipe has no size, and a file may grow: neither may lead beyond the total.
        const std::uint64_t end = size_known_ ? files_[index].bytes : position;
        positions_[index].store(std::min(position, end), std::memory_order_relaxed);
        if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) report(lock, false);
      };
    }
    SCOPE_TRY(ingest::Document document,
              ingest::read(std::make_unique<WatchedSource>(std::move(source), facts), options));
    if (auto* const snapshot = std::get_if<memory::Snapshot>(&document)) {
      add_known_addresses(file.path, *snapshot, file.within);
    }
    // Readers know how messages call a source; in data it has the path that was given.
    const auto as_loaded = [&](auto&& read) -> LoadedFile {
      if constexpr (requires { read.source.path; }) read.source.path = file.path;
      if constexpr (requires { read.path; }) read.path = file.path;
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(read)>, trace::Trace>) {
        return trace::Window{.source = {.path = file.path,
                                        .encoding = std::string(name_of(facts->encoding)),
                                        .file_bytes = facts->file_bytes,
                                        .text_bytes = facts->text_bytes},
                             .trace = std::forward<decltype(read)>(read)};
      } else {
        return std::forward<decltype(read)>(read);
      }
    };
    return std::visit(as_loaded, std::move(document));
  }

  // The lock is only a sign that it is held.
  template <class Lock>
  void report(const Lock&, bool always) {
    if (!options_.progress) return;
    const auto now = std::chrono::steady_clock::now();
    if (!always && now - last_report_ < std::chrono::milliseconds(50)) return;
    last_report_ = now;
    progress_.bytes_done = 0;
    for (const auto& position : positions_) {
      progress_.bytes_done += position.load(std::memory_order_relaxed);
    }
    options_.progress(progress_);
  }

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  const std::vector<FoundFile>& files_;
  const OpenOptions& options_;
  trace::StepPattern step_pattern_;
  std::vector<LoadedFile> results_;
  std::vector<std::atomic<std::uint64_t>> positions_;
  std::vector<std::size_t> order_;

  std::mutex mutex_;  // of everything below
  std::condition_variable wake_;
  unsigned threads_;
  unsigned free_threads_;
  std::size_t started_ = 0;
  std::uint64_t unstarted_weight_ = 0, unfinished_weight_ = 0, held_bytes_ = 0;
  bool size_known_ = true;
  Progress progress_;
  std::chrono::steady_clock::time_point last_report_;
};

}  // namespace

base::Result<std::vector<LoadedFile>> load(const std::vector<FoundFile>& files,
                                           const OpenOptions& options) {
  SCOPE_TRY(trace::StepPattern steps, trace::StepPattern::parse(options.step_pattern));
  if (files.empty()) return std::vector<LoadedFile>{};
  return Loader(files, options, std::move(steps)).run();
}

std::string addresses_beside(std::string_view snapshot_path) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (snapshot_path.ends_with(packed)) snapshot_path.remove_suffix(packed.size());
  }
  for (const std::string_view ending : {".pickle", ".pkl"}) {
    if (!snapshot_path.ends_with(ending)) continue;
    snapshot_path.remove_suffix(ending.size());
    return std::string(snapshot_path) + "-addresses.json";
  }
  return {};
}

void add_known_addresses(const std::string& snapshot_path, memory::Snapshot& snapshot,
                         const std::string& within) {
  const std::string path = addresses_beside(snapshot_path);
  if (path.empty()) return;
  const auto text = bytes::whole_file(within, path);
  if (!text) return;
  auto known = ingest::memory_json::parse_addresses(*text);
  if (known) {
    snapshot.known = *std::move(known);
  } else {
    snapshot.log.add(base::Note::kUnknownValue, base::ImportLog::kNowhere,
                     path + " " + known.error().message);
  }
}

namespace {

constexpr std::array<std::string_view, 12> kTraceKeys = {
    "traceEvents",     "schemaVersion", "deviceProperties",    "distributedInfo",
    "displayTimeUnit", "traceName",     "baseTimeNanoseconds", "record_shapes",
    "with_stack",      "trace_id",      "otherData",           "systemTraceEvents"};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Walks over JSON text without judging it: enough to tell keys of the outermost object from text
// further in.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void step() { ++at_; }
  bool at_end() { return peek() == '\0'; }

  // The string that begins here, still escaped.
  std::string_view string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const std::size_t end = std::min(at_, text_.size());
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(begin, end - begin);
  }

  // Over one value, up to the comma or bracket after it.
  void skip_value() {
    int depth = 0;
    while (!at_end()) {
      const char c = peek();
      if (c == '"') {
        string();
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) return;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      step();
    }
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

struct Keys {
  std::vector<std::string_view> names;
  bool closed = false;  // the object ended within the text
  bool has_name(std::string_view name) const {
    return std::ranges::find(names, name) != names.end();
  }
};

// The keys of the object that begins here; stops early at traceEvents.
Keys keys_of_object(Walk& walk) {
  Keys keys;
  walk.step();
  while (!walk.at_end()) {
    const char c = walk.peek();
    if (c == '}') {
      keys.closed = true;
      return keys;
    }
    if (c != '"') {
      walk.step();
      continue;
    }
    keys.names.push_back(walk.string());
    if (keys.names.back() == "traceEvents") return keys;
    if (walk.peek() == ':') {
      walk.step();
      walk.skip_value();
    }
  }
  return keys;
}

std::string reason_for_object(Walk& walk, bool whole) {
  const Keys keys = keys_of_object(walk);
  if (keys.has_name("traceEvents")) return {};
  if (keys.has_name("segments") || keys.has_name("device_traces")) return "a memory snapshot";
  if (keys.has_name("optimizer_state") && keys.has_name("gradients")) {
    return "addresses that belong to a memory snapshot";
  }
  if (keys.closed) return "JSON without traceEvents";
  for (const std::string_view key : keys.names) {
    if (std::ranges::find(kTraceKeys, key) != kTraceKeys.end()) return {};
  }
  if (whole) return {};  // cut in the middle of something that may have been a trace
  return "no traceEvents in its first megabyte";
}

// {"schema": "stepscope.run/1", …
bool is_own(std::string_view text) {
  Walk walk(text);
  if (walk.peek() != '{') return false;
  walk.step();
  if (walk.peek() != '"' || walk.string() != "schema" || walk.peek() != ':') return false;
  walk.step();
  return walk.peek() == '"' && walk.string().starts_with("stepscope.");
}

std::string reason_for_list(Walk& walk) {
  walk.step();
  const char first = walk.peek();
  if (first == ']') return "an empty list";
  if (first == '[') return "a list of lists, such as a memory timeline";
  if (first == '\0') return {};
  if (first != '{') return "a list without events";
  const Keys keys = keys_of_object(walk);
  if (keys.has_name("ph") || !keys.closed) return {};
  return "a list of objects without 'ph'";
}

}  // namespace

std::string reason_to_skip(std::string_view text, bool whole) {
  if (ingest::pickle::sniff(text) > 0) return ingest::pickle::reason_to_skip(text);
  const std::string_view format = ingest::format_of(text.substr(0, ingest::kSniffedBytes)).name;
  if (format.starts_with("scope") || format.starts_with("memory-")) return {};
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Walk walk(text);
  if (is_own(text)) return std::string(kOwnFile);
  switch (walk.peek()) {
    case '\0':  // nothing, or the zeros a crashed node leaves: for the reader to report
      return {};
    case '{':
      return reason_for_object(walk, whole);
    case '[':
      return reason_for_list(walk);
    default:  // its name says that it is one: the reader tells what it is instead
      return {};
  }
}

}  // namespace stepscope::session
