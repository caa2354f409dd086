#include "base/apart.h"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace stepscope::base {
namespace {

constexpr std::chrono::milliseconds kLongestPause{64};

// Where the calling thread may run; nothing where it has no choice, or where there are more
// processors than a set of the system's own size has room for.
std::optional<cpu_set_t> where_it_may_run() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) < 2) return std::nullopt;
  return cpus;
}

// What a new thread is given. Once it has begun, it may run wherever its starter may.
struct Start {
  std::function<void()> body;
  std::optional<cpu_set_t> cpus;
};

void* begin(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  if (start->cpus) sched_setaffinity(0, sizeof *start->cpus, &*start->cpus);
  start->body();
  return nullptr;
}

class Attributes {
 public:
  Attributes() { pthread_attr_init(&attributes_); }
  ~Attributes() { pthread_attr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  void begin_on(const cpu_set_t& cpus) {
    pthread_attr_setaffinity_np(&attributes_, sizeof cpus, &cpus);
  }
  const pthread_attr_t* get() const { return &attributes_; }

 private:
  pthread_attr_t attributes_{};
};

}  // namespace

std::optional<ApartThread> ApartThread::start(std::function<void()> body) {
  auto given = std::make_unique<Start>(std::move(body), where_it_may_run());
  Attributes attributes;
  if (const int here = sched_getcpu(); given->cpus && here >= 0) {
    cpu_set_t others = *given->cpus;
    CPU_CLR(static_cast<std::size_t>(here), &others);
    attributes.begin_on(others);
  }
  pthread_t thread{};
  // Where a process may run can change at any moment: then it begins anywhere.
  if (pthread_create(&thread, attributes.get(), begin, given.get()) != 0 &&
      pthread_create(&thread, nullptr, begin, given.get()) != 0) {
    return std::nullopt;
  }
  (void)given.release();  // the thread has it now
  return ApartThread(thread);
}

ApartThread::ApartThread(ApartThread&& other) noexcept
    : thread_(std::exchange(other.thread_, std::nullopt)) {}

ApartThread::~ApartThread() {
  if (thread_) pthread_join(*thread_, nullptr);
}

void Processors::keep_apart(std::size_t thread) {
  const int here = sched_getcpu();
  threads_[thread].runs_on.store(here, std::memory_order_relaxed);
  if (here >= 0 && is_shared(here, thread)) move(thread);
}

bool Processors::is_shared(int cpu, std::size_t thread) const {
  for (std::size_t other = 0; other < threads_.size(); ++other) {
    if (other != thread && threads_[other].runs_on.load(std::memory_order_relaxed) == cpu) {
      return true;
    }
  }
  return false;
}

void Processors::move(std::size_t thread) {
  Thread& own = threads_[thread];
  const auto now = std::chrono::steady_clock::now();
  if (now < own.next_move) return;
  own.next_move = now + own.pause;
  own.pause = std::min(2 * own.pause, kLongestPause);
  const std::optional<cpu_set_t> cpus = where_it_may_run();
  if (!cpus) return;
  cpu_set_t free = *cpus;
  for (const Thread& other : threads_) {
    const int cpu = other.runs_on.load(std::memory_order_relaxed);
    if (cpu != kNone) CPU_CLR(static_cast<std::size_t>(cpu), &free);
  }
  if (CPU_COUNT(&free) == 0 || sched_setaffinity(0, sizeof free, &free) != 0) return;
  sched_setaffinity(0, sizeof *cpus, &*cpus);
  own.runs_on.store(sched_getcpu(), std::memory_order_relaxed);
}

}  // namespace stepscope::base
