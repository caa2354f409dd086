#include "base/processors.h"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <tuple>
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

// What a thread does, and where it may run once it has its place.
struct Beginning {
  std::function<void()> body;
  std::optional<cpu_set_t> cpus;
};

void* begin(void* given) {
  const std::unique_ptr<Beginning> own(static_cast<Beginning*>(given));
  // It may leave its place from here on: others may keep it waiting there.
  if (own->cpus) sched_setaffinity(0, sizeof *own->cpus, &*own->cpus);
  own->body();
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
  auto given = std::make_unique<Beginning>(Beginning{std::move(body), where_it_may_run()});
  Attributes attributes;
  if (const int here = sched_getcpu(); given->cpus && here >= 0) {
    cpu_set_t others = *given->cpus;
    CPU_CLR(static_cast<std::size_t>(here), &others);
    attributes.begin_on(others);
  }
  pthread_t thread{};
  int failed = pthread_create(&thread, attributes.get(), begin, given.get());
  // Where a process may run can change at any moment, and the system may forbid to say where.
  if (failed != 0) {
    failed = pthread_create(&thread, nullptr, begin, given.get());
  }
  if (failed != 0) return std::nullopt;
  std::ignore = given.release();  // the thread has it now
  return ApartThread(thread);
}

bool are_processors_for(std::size_t threads) {
  const std::optional<cpu_set_t> cpus = where_it_may_run();
  return threads <= (cpus ? static_cast<std::size_t>(CPU_COUNT(&*cpus)) : 1);
}

ApartThread::ApartThread(ApartThread&& other) noexcept
    : thread_(std::exchange(other.thread_, std::nullopt)) {}

ApartThread::~ApartThread() {
  if (thread_) pthread_join(*thread_, nullptr);
}

void Processors::keep_apart(std::size_t thread) {
  const int here = sched_getcpu();
  std::atomic<int>& seen_on = threads_[thread].seen_on;
  // Others look at it all the time: it is written only where it changes.
  if (seen_on.load(std::memory_order_relaxed) != here) {
    seen_on.store(here, std::memory_order_relaxed);
  }
  if (thread != 0 && here >= 0 && is_shared(here, thread)) move(thread);
}

bool Processors::is_shared(int cpu, std::size_t thread) const {
  for (std::size_t other = 0; other < threads_.size(); ++other) {
    if (other != thread && threads_[other].seen_on.load(std::memory_order_relaxed) == cpu) {
      return true;
    }
  }
  return false;
}

void Processors::move(std::size_t thread) {
  Thread& own = threads_[thread];
  const auto now = std::chrono::steady_clock::now();
  if (now < own.next_try) return;
  own.next_try = now + own.pause;
  own.pause = std::min(2 * own.pause, kLongestPause);
  const std::optional<cpu_set_t> cpus = where_it_may_run();
  if (!cpus) return;
  cpu_set_t free = *cpus;
  for (const Thread& other : threads_) {
    const int cpu = other.seen_on.load(std::memory_order_relaxed);
    if (cpu != kNone) CPU_CLR(static_cast<std::size_t>(cpu), &free);
  }
  if (CPU_COUNT(&free) == 0 || sched_setaffinity(0, sizeof free, &free) != 0) return;
  sched_setaffinity(0, sizeof *cpus, &*cpus);
  own.seen_on.store(sched_getcpu(), std::memory_order_relaxed);
}

}  // namespace stepscope::base
