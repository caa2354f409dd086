// A thread that asks the driver, so that a driver that hangs does not stop the sampler.
#include "capture/system/asking.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "capture/ticks.h"

namespace stepscope::capture {
namespace {

using Clock = std::chrono::steady_clock;

// Where all of a driver hangs, each of them would hang in turn.
constexpr std::size_t kMostWorkers = 16;

}  // namespace

// One thread. Lives on while it waits for an answer, whoever is gone meanwhile.
struct Asking::Worker {
  explicit Worker(std::shared_ptr<SampleBook> book) : samples(std::move(book)) {}

  Samples samples;
  std::atomic<std::int64_t> cpu_ns = 0;
  std::atomic<std::int64_t> first_cpu_ns = -1;   // when all was asked once; -1: not yet
  std::atomic<std::int64_t> waits_since_ns = 0;  // for an answer; 0: it does not
  bool is_done = false;                          // with the mutex of the questions
  std::thread thread;                            // of whoever made it
};

class Questions {
 public:
  explicit Questions(const char* thread_name, std::chrono::nanoseconds between)
      : name(thread_name), interval(between) {}

  struct Place {
    std::shared_ptr<Question> question;
    Asking::Worker* by = nullptr;  // asks it now
    bool is_over = false;
  };
  bool has_any() const {
    return std::ranges::any_of(places, [](const Place& place) { return !place.is_over; });
  }

  const char* const name;
  const std::chrono::nanoseconds interval;
  std::atomic<bool> is_overdrawn = false;
  std::mutex mutex;  // of all below
  std::condition_variable wake, done;
  std::vector<Place> places;
  bool has_new = false, is_last = false;
  Asking::Worker* current = nullptr;  // that asks; others leave when they have their answer
};

void add_question(Questions& questions, std::shared_ptr<Question> question) {
  const std::lock_guard lock(questions.mutex);
  questions.places.push_back({.question = std::move(question), .by = nullptr, .is_over = false});
  questions.has_new = true;
  questions.wake.notify_all();
}

Asking::Asking(const char* name, std::chrono::nanoseconds interval,
               std::shared_ptr<SampleBook> book)
    : book_(std::move(book)),
      questions_(std::make_shared<Questions>(name, interval)),
      notices_(book_) {}

Asking::~Asking() {
  const std::lock_guard lock(questions_->mutex);
  questions_->current = nullptr;
  questions_->wake.notify_all();
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.detach();
  }
}

void Asking::start() {
  const auto own = std::make_shared<Worker>(book_);
  const std::lock_guard lock(questions_->mutex);
  try {
    own->thread = std::thread([all = questions_, own] { work(*all, *own); });
  } catch (const std::system_error&) {  // no more threads: the training needs them more
    notices_.add_notice("sampler", "No thread could be had to ask the driver of the GPUs.");
    return;
  }
  questions_->current = own.get();
  workers_.push_back(own);
}

// False: another one asks by now.
bool Asking::ask_all(Questions& all, Worker& own, bool is_last) {
  const AskedAt at{.now_ns = clock_ns(CLOCK_MONOTONIC),
                   .interval_ns = all.interval.count(),
                   .is_overdrawn = all.is_overdrawn.load(),
                   .is_last = is_last};
  std::unique_lock lock(all.mutex);
  for (std::size_t i = 0; all.current == &own; ++i) {
    if (i == all.places.size()) {
      all.has_new = false;
      return true;
    }
    // Another one may be waiting for its answer.
    if (all.places[i].by != nullptr || all.places[i].is_over) continue;
    all.places[i].by = &own;
    const std::shared_ptr<Question> question = all.places[i].question;
    lock.unlock();
    own.waits_since_ns.store(clock_ns(CLOCK_MONOTONIC));
    own.samples.begin_moment(ticks());
    const bool is_over = !question->ask(own.samples, at);
    own.waits_since_ns.store(0);
    own.cpu_ns.store(clock_ns(CLOCK_THREAD_CPUTIME_ID));
    lock.lock();
    all.places[i].by = nullptr;
    all.places[i].is_over = is_over;
  }
  return false;
}

void Asking::work(Questions& all, Worker& own) {
  pthread_setname_np(pthread_self(), all.name);
  Clock::time_point next = Clock::now();
  bool is_last = false, is_first = true;
  while (ask_all(all, own, is_last)) {
    if (std::exchange(is_first, false)) own.first_cpu_ns.store(own.cpu_ns.load());
    std::unique_lock lock(all.mutex);
    if (is_last) break;
    // Held up for long: what was missed is not made up for.
    if (Clock::now() >= next) next = std::max(next + all.interval, Clock::now());
    const auto is_wanted = [&] { return all.is_last || all.has_new || all.current != &own; };
    if (all.has_any()) {
      all.wake.wait_until(lock, next, is_wanted);
    } else {
      all.wake.wait(lock, is_wanted);
    }
    is_last = all.is_last;
  }
  const std::lock_guard lock(all.mutex);
  own.is_done = true;
  all.done.notify_all();
}

void Asking::look_after(bool is_overdrawn) {
  questions_->is_overdrawn.store(is_overdrawn);
  if (workers_.empty() || workers_.size() == kMostWorkers) return;
  Worker& current = *workers_.back();
  const std::int64_t since = current.waits_since_ns.load();
  const std::int64_t patience = std::chrono::nanoseconds(kPatience).count();
  if (since == 0 || clock_ns(CLOCK_MONOTONIC) - since < patience) return;
  std::string asked;
  {
    const std::lock_guard lock(questions_->mutex);
    const auto place = std::ranges::find(questions_->places, &current, &Questions::Place::by);
    if (place == questions_->places.end()) return;  // it has its answer
    asked = place->question->asked();
  }
  notices_.begin_moment(ticks());
  notices_.add_notice("nvml",
                      asked + " does not answer: as long as it does not, nothing is known of it.");
  start();
}

void Asking::finish(Clock::time_point since) {
  if (workers_.empty()) return;
  Worker& current = *workers_.back();
  std::unique_lock lock(questions_->mutex);
  questions_->is_last = true;
  questions_->wake.notify_all();
  // One that has been waiting for long already will not be back in time.
  const std::int64_t waits_since = current.waits_since_ns.load();
  const std::chrono::nanoseconds waited(clock_ns(CLOCK_MONOTONIC) - waits_since);
  if (waits_since == 0 || waited < kPatience) {
    questions_->done.wait_until(lock, since + kPatience, [&] { return current.is_done; });
  }
  for (const auto& worker : workers_) {
    if (!worker->is_done) continue;
    lock.unlock();
    worker->thread.join();
    lock.lock();
  }
}

bool Asking::has_more() const {
  return std::ranges::any_of(workers_, [](const auto& one) { return one->samples.has_more(); });
}

void Asking::take(std::string& out) {
  for (const auto& worker : workers_) worker->samples.take(out);
  notices_.take(out);
}

std::uint64_t Asking::values() const {
  std::uint64_t sum = 0;
  for (const auto& worker : workers_) sum += worker->samples.values();
  return sum;
}

std::int64_t Asking::cpu_ns() const {
  std::int64_t sum = 0;
  for (const auto& worker : workers_) sum += worker->cpu_ns.load();
  return sum;
}

std::int64_t Asking::later_cpu_ns() const {
  if (workers_.empty()) return 0;
  const std::int64_t first = workers_.front()->first_cpu_ns.load();
  return first < 0 ? 0 : cpu_ns() - first;
}

}  // namespace stepscope::capture
