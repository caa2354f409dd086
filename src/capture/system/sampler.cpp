// The sampler of a node: one process takes the lock and writes system.scope at a fixed interval.
#include "capture/system/sampler.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "capture/scope_file.h"
#include "capture/system/nvidia.h"
#include "capture/system/sampling.h"
#include "capture/system/text_file.h"
#include "capture/ticks.h"

namespace stepscope::capture {

namespace {

// Which process of a node samples: the one that holds this lock. It is the kernel's, so it is free
// the moment its holder dies, and a forked child does not have it.

enum class LockResult : std::uint8_t {
  kTaken,        // by this process, now
  kHeld,         // by another process
  kUnsupported,  // the file system has no locks
  kFailed,       // the file cannot be made
};

class NodeLock {
 public:
  explicit NodeLock(const std::string& folder) : path_(folder + "/sampler.lock") {}
  NodeLock(const NodeLock&) = delete;
  NodeLock& operator=(const NodeLock&) = delete;
  ~NodeLock() { release(); }

  LockResult take();
  void release();

 private:
  std::string path_;
  int descriptor_ = -1;
};

LockResult NodeLock::take() {
  if (descriptor_ < 0) descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return LockResult::kFailed;
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor_, F_SETLK, &whole) == 0) return LockResult::kTaken;
  return errno == EACCES || errno == EAGAIN ? LockResult::kHeld : LockResult::kUnsupported;
}

void NodeLock::release() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenTries = std::chrono::seconds(2);  // for the lock
constexpr auto kSamplerBetweenWrites = std::chrono::milliseconds(500);
constexpr double kMostHz = 100;
constexpr int kMostFiles = 1000;

// Never destroyed: the thread may run while the process exits.
struct SamplerState {
  std::mutex mutex;  // of everything below
  std::condition_variable wake;
  std::thread thread;
  bool running = false, stopping = false;
  SystemOptions options;
  SystemState shown;
};

SamplerState& state_sampler() {
  static SamplerState& it = *new SamplerState;
  return it;
}

// False: it was stopped meanwhile.
bool wait_until(Clock::time_point when) {
  SamplerState& it = state_sampler();
  std::unique_lock lock(it.mutex);
  return !it.wake.wait_until(lock, when, [&] { return it.stopping; });
}

wire::Fields about_node(const SystemOptions& options) {
  wire::Fields fields = options.about;
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  std::string boot = text_of(options.place.proc + "/sys/kernel/random/boot_id").value_or("");
  fields.emplace_back("role", "node");
  fields.emplace_back("host", host);
  fields.emplace_back("pid", std::to_string(getpid()));
  fields.emplace_back("rank", std::to_string(options.rank));
  fields.emplace_back("interval_ns", std::to_string(static_cast<std::int64_t>(1e9 / options.hz)));
  fields.emplace_back("boot", boot.substr(0, boot.find('\n')));
  fields.emplace_back("ticks", kSteadyCounter ? "processor" : "monotonic");
  return fields;
}

// system.scope, or system-2.scope after a process that sampled before.
std::optional<ScopeFile> new_file(const std::string& folder, bool only_the_first) {
  for (int number = 1; number <= kMostFiles; ++number) {
    const std::string name = number == 1 ? "/system" : "/system-" + std::to_string(number);
    base::Result<ScopeFile> file = ScopeFile::create(folder + name + ".scope");
    if (file) return *std::move(file);
    // Exists already: of another.
    if (file.error().code != base::Code::kInvalidArgument || only_the_first) return std::nullopt;
  }
  return std::nullopt;
}

// All that samples this node, and the file it goes to.
class NodeSampler {
 public:
  NodeSampler(ScopeFile file, const SystemOptions& options, std::chrono::nanoseconds interval)
      : file_(std::move(file)),
        sampling_(options.place, options.folder, interval.count(), book_),
        gpus_(options.place, sampling_.job().board(), interval, book_) {
    wire::put_file_header(out_);
    wire::put_process(out_, about_node(options));
    wire::put_anchor(out_, now());
    write();
    sampling_.prepare();
  }

  void moment() {
    sampling_.moment(false, gpus_.later_cpu_ns());
    if (sampling_.moments() == 1) gpus_.start();  // it is known by now which are the job's
    gpus_.look_after(sampling_.is_overdrawn());
  }

  void flush() {
    wire::put_anchor(out_, now());
    take();
    write();
    show();
  }

  // What other threads saw since, where the next moment is far.
  void flush_rest() {
    if (gpus_.has_more()) flush();
  }

  void finish() {
    sampling_.moment(true);  // running totals count up to the end
    gpus_.finish();
    wire::put_anchor(out_, now());
    take();
    wire::put_end(out_, {.records = values(),
                         .bytes = file_.written() + out_.size(),
                         .lost_bytes = file_.lost(),
                         .writer_ns = cpu_ns()});
    write();
    show();
  }

 private:
  void take() {
    sampling_.take(out_);
    gpus_.take(out_);
  }
  void write() {
    file_.write(out_);
    out_.clear();
  }
  void show() const {
    SamplerState& it = state_sampler();
    const std::lock_guard lock(it.mutex);
    it.shown = {.running = true,
                .path = file_.path(),
                .cpu_ns = cpu_ns(),
                .moments = sampling_.moments(),
                .values = values(),
                .write_error = file_.lost() > 0 ? file_.first_error() : ""};
  }
  std::uint64_t values() const { return sampling_.values() + gpus_.values(); }
  std::int64_t cpu_ns() const { return clock_ns(CLOCK_THREAD_CPUTIME_ID) + gpus_.cpu_ns(); }

  ScopeFile file_;
  std::string out_;
  std::shared_ptr<SampleBook> book_ = std::make_shared<SampleBook>();
  Sampling sampling_;
  NvidiaGpus gpus_;
};

void sample_until_stopped(ScopeFile file, const SystemOptions& options) {
  const auto interval = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / options.hz));
  NodeSampler sampler(std::move(file), options, interval);
  Clock::time_point next = Clock::now();
  Clock::time_point written = next;
  // What a process has not written is lost when it is killed: nothing waits for much longer than
  // kSamplerBetweenWrites.
  do {
    sampler.moment();
    // Held up for long, such as by a sleeping laptop: what was missed is not made up for.
    next = std::max(next + interval, Clock::now());
    if (next >= written + kSamplerBetweenWrites) {
      sampler.flush();
      written = Clock::now();
    }
    if (next <= written + kSamplerBetweenWrites) continue;
    if (!wait_until(written + kSamplerBetweenWrites)) break;
    sampler.flush_rest();
  } while (wait_until(next));
  sampler.finish();
}

// The lock first: a process that does not get it waits for its turn.
void take_part() {
  pthread_setname_np(pthread_self(), "stepscope-sys");
  const SystemOptions options = [] {
    const std::lock_guard lock(state_sampler().mutex);
    return state_sampler().options;
  }();
  NodeLock lock(options.folder);
  while (true) {
    const LockResult result = lock.take();
    if (result == LockResult::kFailed) return;
    if (result != LockResult::kHeld) {
      auto file = new_file(options.folder, result == LockResult::kUnsupported);
      if (file) sample_until_stopped(*std::move(file), options);
      return;
    }
    if (!wait_until(Clock::now() + kBetweenTries)) return;
  }
}

// Signals are the training's.
std::thread start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(take_part);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

// A forked child has none of this: its parent samples it.
void sampler_before_fork() { state_sampler().mutex.lock(); }
void sampler_after_fork_in_parent() { state_sampler().mutex.unlock(); }
void sampler_after_fork_in_child() {
  SamplerState& it = state_sampler();
  if (it.running) (void)new std::thread(std::move(it.thread));  // the parent's: not to be joined
  it.running = it.stopping = false;
  it.shown = {};
  it.mutex.unlock();
  new (&it.wake) std::condition_variable;
}

void sampler_prepare_process() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(sampler_before_fork, sampler_after_fork_in_parent, sampler_after_fork_in_child);
    std::atexit(stop_system);
  });
}

}  // namespace

base::Status start_system(const SystemOptions& options) {
  sampler_prepare_process();
  SamplerState& it = state_sampler();
  const std::lock_guard lock(it.mutex);
  if (it.running) {
    return base::fail(base::Code::kInvalidArgument,
                      "this process samples already, in " + it.options.folder);
  }
  if (!(options.hz >= 0 && options.hz <= kMostHz)) {
    return base::fail(base::Code::kInvalidArgument, "samples are taken 0 to 100 times a second");
  }
  if (options.folder.empty()) {
    return base::fail(base::Code::kInvalidArgument, "no folder was given to sample to");
  }
  SCOPE_TRY(Job(options.place, options.folder)
                .announce(options.rank, options.local_rank, device_variables()));
  it.options = options;
  it.shown = {};
  it.stopping = false;
  if (options.hz > 0) it.thread = start_thread();
  it.running = true;
  return base::Done{};
}

void stop_system() {
  SamplerState& it = state_sampler();
  std::thread thread;
  SystemOptions options;
  {
    const std::lock_guard lock(it.mutex);
    if (!it.running || it.stopping) return;
    it.stopping = true;
    thread = std::move(it.thread);
    options = it.options;
  }
  it.wake.notify_all();
  if (thread.joinable()) thread.join();
  Job(options.place, options.folder).withdraw();
  const std::lock_guard lock(it.mutex);
  it.running = it.stopping = false;
  it.shown.running = false;
}

SystemState system_state() {
  SamplerState& it = state_sampler();
  const std::lock_guard lock(it.mutex);
  SystemState shown = it.shown;
  shown.running = it.running;
  return shown;
}

}  // namespace stepscope::capture
