// The recorder: rings of threads are emptied by one writer thread, which appends blocks to a .scope
// file.
#include "capture/recorder.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/scope_file.h"

namespace stepscope::capture {

namespace detail {
std::atomic<std::uint32_t> generation = 0;
std::atomic<bool> end_wanted = false;
thread_local Ring* own_ring __attribute__((tls_model("initial-exec"))) = nullptr;
}  // namespace detail

namespace {

constexpr auto kRecorderBetweenWrites = std::chrono::milliseconds(100);
constexpr std::int64_t kBetweenAnchorsNs = 1'000'000'000;
// Log lines that may wait for the writer; more are dropped and counted.
constexpr std::size_t kMostLogBytes = std::size_t{8} << 20;
constexpr std::size_t kMostNameBytes = std::size_t{16} << 20;
constexpr std::string_view kFurtherNames = "(further names)";

// What the file holds of a name. Readers take an empty one for a name that was lost.
std::string_view kept_name(std::string_view name) {
  return name.empty() ? "(no name)" : name.substr(0, wire::kLongestText);
}

std::int64_t system_thread_id() { return static_cast<std::int64_t>(syscall(SYS_gettid)); }

// The number of this process's recordings and threads, and all that the writer works on. Never
// destroyed: threads may record while the process exits.
struct RecorderState {
  std::mutex mutex;  // of everything below
  std::condition_variable wake, written;
  RecordOptions options;
  ScopeFile file;
  std::thread writer;
  bool stopping = false, forked = false;
  std::uint32_t last_generation = 0;
  std::uint64_t rounds = 0, rounds_wanted = 0;  // of the writer; flush waits for one more
  std::vector<std::unique_ptr<Ring>> rings;
  std::vector<std::unique_ptr<Ring>> retired;  // of recordings before; threads may still look
  wire::ThreadId next_thread = 1;
  std::string pending;  // blocks that wait for the writer: threads that came
  std::vector<wire::LogLine> logs;
  std::size_t log_bytes = 0;
  std::uint64_t dropped_logs = 0;
  std::uint64_t unsaid =
      0;  // records that the disk refused; reported as soon as it takes something
  wire::Cost cost;
  std::int64_t last_anchor_ns = 0;
  wire::NameId names_written = 0;

  std::mutex names_mutex;  // of the names alone
  std::unordered_map<std::string, wire::NameId> name_ids;
  std::vector<const std::string*> names;  // by number; keys of the map, which stay where they are
  std::size_t name_bytes = 0;
};

RecorderState& state_recorder() {
  static RecorderState& it = *new RecorderState;
  return it;
}

std::atomic<std::int64_t> current_step = -1;
std::atomic<bool> wake_wanted = false;  // a ring is filling

// Marks the ring when its thread ends, so that the writer lets it go once it is empty.
struct RingOwner {
  ~RingOwner() {
    if (detail::own_ring != nullptr) detail::own_ring->abandoned.store(true);
    detail::own_ring = nullptr;
  }
};
thread_local RingOwner ring_owner;

void add_new_names(RecorderState& it, std::string& out) {
  std::vector<std::string_view> names;
  {
    const std::lock_guard lock(it.names_mutex);
    for (std::size_t i = it.names_written; i < it.names.size(); ++i)
      names.emplace_back(*it.names[i]);
  }
  wire::put_names(out, it.names_written, names);
  it.names_written += static_cast<wire::NameId>(names.size());
}

void add_anchor(RecorderState& it, std::string& out, bool always) {
  const wire::Anchor anchor = now();
  if (!always && anchor.monotonic_ns - it.last_anchor_ns < kBetweenAnchorsNs) return;
  it.last_anchor_ns = anchor.monotonic_ns;
  wire::put_anchor(out, anchor);
}

// Everything that waits, as blocks. With the lock held: rings come and go under it.
std::string collect(RecorderState& it, bool last) {
  std::string records;
  std::vector<wire::Record> drained;
  for (std::size_t i = 0; i < it.rings.size();) {
    Ring& ring = *it.rings[i];
    const bool abandoned = ring.abandoned.load();
    drained.clear();
    ring.drain(drained);
    it.cost.records += drained.size();
    wire::put_events(records, ring.thread(), drained);
    if (const std::uint64_t dropped = ring.take_dropped(); dropped > 0) {
      it.cost.dropped += dropped;
      wire::put_dropped(records, ring.thread(), dropped);
    }
    if (abandoned) {
      it.rings.erase(it.rings.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  // Names and threads first, since records speak of them; they are asked for last, since records
  // may have brought new ones.
  std::string out;
  if (it.unsaid > 0) wire::put_dropped(out, wire::kAllThreads, std::exchange(it.unsaid, 0));
  add_anchor(it, out, last || !records.empty() || it.rounds < 2);
  add_new_names(it, out);
  out += std::exchange(it.pending, {});
  out += records;
  wire::put_logs(out, it.logs);
  it.cost.log_lines += it.logs.size();
  it.logs.clear();
  it.log_bytes = 0;
  if (const std::uint64_t dropped = std::exchange(it.dropped_logs, 0); dropped > 0) {
    it.cost.dropped += dropped;
    wire::put_dropped(out, wire::kLogLines, dropped);
  }
  return out;
}

void write_until_stopped() {
  pthread_setname_np(pthread_self(), "stepscope");
  RecorderState& it = state_recorder();
  std::unique_lock lock(it.mutex);
  while (true) {
    it.wake.wait_for(lock, kRecorderBetweenWrites,
                     [&] { return it.stopping || it.rounds_wanted > it.rounds || wake_wanted; });
    wake_wanted = false;
    const bool overdue = detail::sigterm_is_overdue();
    const bool last = it.stopping || overdue || detail::end_wanted.load();
    const std::uint64_t records_before = it.cost.records;
    std::string out = collect(it, last);
    it.cost.writer_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    it.cost.bytes = it.file.written() + out.size();
    it.cost.lost_bytes = it.file.lost();
    if (last) wire::put_end(out, it.cost);
    // Only this thread writes, and stop() waits for it: a slow disk must not hold the lock.
    lock.unlock();
    const bool is_kept = it.file.write(out);
    lock.lock();
    if (last) it.file.close();  // what still waits is lost
    if (overdue) detail::end_by_sigterm();
    if (!is_kept) it.unsaid += it.cost.records - records_before;
    it.cost.bytes = it.file.written();
    it.cost.lost_bytes = it.file.lost();
    ++it.rounds;
    it.written.notify_all();
    if (!last) continue;
    // No thread waits for this one, but a handler looks at the generation.
    if (!it.stopping) detail::generation.store(0);
    return;
  }
}

// The writer takes no signals: they are the training's.
std::thread start_writer() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread writer(write_until_stopped);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return writer;
}

wire::Fields about_process(const RecordOptions& options) {
  wire::Fields fields = options.about;
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  fields.emplace_back("pid", std::to_string(getpid()));
  fields.emplace_back("parent_pid", std::to_string(getppid()));
  fields.emplace_back("host", host);
  fields.emplace_back("ticks", kSteadyCounter ? "processor" : "monotonic");
  return fields;
}

// With the lock held.
base::Status begin_recording(RecorderState& it, const std::string& file_name) {
  SCOPE_TRY(ScopeFile file, ScopeFile::create(it.options.folder + "/" + file_name));
  if (it.writer.joinable()) it.writer.join();  // has ended by itself
  detail::end_wanted.store(false);
  it.file = std::move(file);
  it.stopping = it.forked = false;
  it.rounds = it.rounds_wanted = 0;
  it.cost = {};
  it.names_written = 0;
  it.next_thread = 1;
  it.pending.clear();
  it.logs.clear();
  it.log_bytes = 0;
  std::string out;
  wire::put_file_header(out);
  wire::put_process(out, about_process(it.options));
  add_anchor(it, out, true);
  it.file.write(out);
  it.writer = start_writer();
  return base::Done{};
}

// A child of a fork has one thread and none of ours: it starts afresh with its first record.
void recorder_before_fork() {
  state_recorder().mutex.lock();
  state_recorder().names_mutex.lock();
}
void recorder_after_fork_in_parent() {
  state_recorder().names_mutex.unlock();
  state_recorder().mutex.unlock();
}
void recorder_after_fork_in_child() {
  RecorderState& it = state_recorder();
  detail::own_ring = nullptr;
  // The parent's: its thread object must not be joined, its rings are another process's.
  if (it.writer.joinable()) (void)new std::thread(std::move(it.writer));
  if (detail::generation.load() != 0) {
    it.forked = true;
    detail::generation.store(++it.last_generation);
    for (std::unique_ptr<Ring>& ring : it.rings) it.retired.push_back(std::move(ring));
    it.rings.clear();
  }
  // Locked by this thread before the fork, so they may be unlocked; threads that waited for them
  // are gone.
  it.names_mutex.unlock();
  it.mutex.unlock();
  new (&it.wake) std::condition_variable;
  new (&it.written) std::condition_variable;
}

void recorder_prepare_process() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(recorder_before_fork, recorder_after_fork_in_parent,
                   recorder_after_fork_in_child);
    std::atexit(stop);
  });
}

std::atomic<const char* (*)()> thread_namer = nullptr;

std::string own_thread_name() {
  if (const auto ask = thread_namer.load()) {
    if (const char* const given = ask(); given != nullptr && *given != '\0') return given;
  }
  char name[32] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

}  // namespace

void name_threads(const char* (*name)()) { thread_namer.store(name); }

Ring* detail::make_ring() {
  RecorderState& it = state_recorder();
  // Before the lock: an interpreter that is asked may run other threads meanwhile.
  const std::string thread_name = own_thread_name();
  const std::lock_guard lock(it.mutex);
  if (it.forked) {
    const std::string name = "worker-" + std::to_string(getpid()) + ".scope";
    if (!begin_recording(it, name)) {
      generation.store(0);
      return nullptr;
    }
  }
  const std::uint32_t running = generation.load();
  if (running == 0) return nullptr;
  (void)ring_owner;  // constructed by being named: its destructor runs when the thread ends
  if (own_ring != nullptr) own_ring->abandoned.store(true);
  auto ring = std::make_unique<Ring>(running, it.next_thread++);
  wire::put_thread(it.pending, ring->thread(), system_thread_id(), thread_name);
  own_ring = ring.get();
  it.rings.push_back(std::move(ring));
  return own_ring;
}

// Without the lock, which the writer holds while it collects: a thread that records never waits. A
// wake that comes just before the writer sleeps is missed, and the writer late by one turn.
void detail::wake_writer() {
  if (!wake_wanted.exchange(true)) state_recorder().wake.notify_one();
}

base::Status start(const RecordOptions& options) {
  recorder_prepare_process();
  RecorderState& it = state_recorder();
  const std::lock_guard lock(it.mutex);
  if (detail::generation.load() != 0 && !it.forked) {
    return base::fail(base::Code::kInvalidArgument,
                      "this process is recording already, to " + it.file.path());
  }
  // An empty one would be the root of the file system.
  if (options.folder.empty()) {
    return base::fail(base::Code::kInvalidArgument, "no folder was given to record to");
  }
  it.options = options;
  SCOPE_TRY(begin_recording(it, options.file));
  current_step.store(-1);
  detail::generation.store(++it.last_generation);
  return base::Done{};
}

void stop() {
  RecorderState& it = state_recorder();
  std::thread writer;
  {
    const std::lock_guard lock(it.mutex);
    if (detail::generation.exchange(0) == 0 || it.forked) {
      it.forked = false;
      return;
    }
    it.stopping = true;
    writer = std::move(it.writer);
  }
  it.wake.notify_one();
  if (writer.joinable()) writer.join();
  const std::lock_guard lock(it.mutex);
  it.file.close();
  // Threads may be in the middle of a last push: their rings stay, of no use to anybody.
  for (std::unique_ptr<Ring>& ring : it.rings) it.retired.push_back(std::move(ring));
  it.rings.clear();
}

void flush() {
  RecorderState& it = state_recorder();
  std::unique_lock lock(it.mutex);
  if (detail::generation.load() == 0 || it.forked) return;
  // A round that has begun may have passed by what was recorded just now.
  const std::uint64_t enough = it.rounds + 2;
  while (it.rounds < enough && !it.stopping) {
    it.rounds_wanted = it.rounds + 1;
    it.wake.notify_one();
    it.written.wait_for(lock, kRecorderBetweenWrites);
  }
}

bool is_recording() { return detail::generation.load() != 0; }

std::string path() {
  RecorderState& it = state_recorder();
  const std::lock_guard lock(it.mutex);
  return detail::generation.load() == 0 || it.forked ? std::string() : it.file.path();
}

wire::Cost cost() {
  RecorderState& it = state_recorder();
  const std::lock_guard lock(it.mutex);
  return it.cost;
}

std::string write_error() {
  RecorderState& it = state_recorder();
  const std::lock_guard lock(it.mutex);
  return it.file.lost() > 0 ? it.file.first_error() : std::string();
}

wire::NameId name_id(std::string_view name) {
  name = kept_name(name);
  RecorderState& it = state_recorder();
  const std::lock_guard lock(it.names_mutex);
  const bool is_full = it.names.size() >= kMostNames || it.name_bytes >= kMostNameBytes;
  if (is_full && !it.name_ids.contains(std::string(name))) name = kFurtherNames;
  const auto [found, is_new] =
      it.name_ids.try_emplace(std::string(name), static_cast<wire::NameId>(it.names.size()));
  if (is_new) {
    it.names.push_back(&found->first);
    it.name_bytes += name.size();
  }
  return found->second;
}

bool is_name(wire::NameId id, std::string_view name) {
  RecorderState& it = state_recorder();
  const std::lock_guard lock(it.names_mutex);
  return id < it.names.size() && *it.names[id] == kept_name(name);
}

void instant(wire::NameId name, std::uint64_t lane) {
  Ring* const ring = detail::ring();
  if (ring == nullptr) return;
  if (detail::change_lane(*ring, lane, Ring::kForEnds)) {
    ring->push({ticks(), wire::Record::pack(wire::RecordKind::kInstant, name)}, Ring::kForEnds);
  }
  detail::wake_if_filling(*ring);
}

namespace {

void mark_step(std::int64_t number, bool begins) {
  Ring* const ring = detail::ring();
  if (ring == nullptr) return;
  current_step.store(begins ? number : number + 1, std::memory_order_relaxed);
  const int mark =
      (begins ? wire::kStepBegins : 0) | (ring->step_marks_lost ? wire::kMarksLost : 0);
  ring->step_marks_lost = !ring->push(
      {ticks(), wire::Record::pack(wire::RecordKind::kStep, static_cast<std::uint64_t>(mark))},
      {0, static_cast<std::uint64_t>(number)}, 0);
}

}  // namespace

void step(std::int64_t number) { mark_step(number, false); }

void begin_step(std::int64_t number) { mark_step(number, true); }

void counter(wire::NameId name, double value) {
  Ring* const ring = detail::ring();
  if (ring == nullptr) return;
  ring->push({ticks(), wire::Record::pack(wire::RecordKind::kCounter, name)},
             {0, std::bit_cast<std::uint64_t>(value)}, Ring::kForEnds);
  detail::wake_if_filling(*ring);
}

namespace {

// What the file holds of a line, which says itself that it was cut.
std::string kept_of(std::string_view text) {
  if (text.size() <= wire::kLongestText) return std::string(text);
  const std::string cut = " … (cut: the line has " + std::to_string(text.size()) + " bytes)";
  std::size_t kept = wire::kLongestText - cut.size();
  // Not within a character of UTF-8.
  while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xc0U) == 0x80U) --kept;
  return std::string(text.substr(0, kept)) + cut;
}

}  // namespace

void log(std::int32_t level, std::string_view logger, std::string_view whole, std::uint64_t lane) {
  const std::uint64_t at = ticks();
  Ring* const ring = detail::ring();
  if (ring == nullptr) return;
  std::string text = kept_of(whole);
  RecorderState& it = state_recorder();
  const std::lock_guard lock(it.mutex);
  if (it.log_bytes + text.size() > kMostLogBytes) {
    ++it.dropped_logs;
    return;
  }
  it.log_bytes += text.size() + sizeof(wire::LogLine);
  it.logs.push_back({at, ring->thread(), lane, current_step.load(std::memory_order_relaxed), level,
                     std::string(logger), std::move(text)});
}

}  // namespace stepscope::capture
