#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace stepscope::base {
namespace {

// The first exception of a few threads: memory that ran out in one of them is for the caller to
// know, and would otherwise end the process.
class FirstException {
 public:
  explicit FirstException(const std::function<void()>& on_failure) : on_failure_(on_failure) {}

  template <class Work>
  void around(const Work& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (first_) return;
      first_ = std::current_exception();
      if (on_failure_) on_failure_();
    }
  }
  void pass_on() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  const std::function<void()>& on_failure_;
  std::mutex mutex_;
  std::exception_ptr first_;
};

// One more thread, if the system gives it.
bool start(std::vector<std::thread>& threads, const std::function<void()>& body) {
  try {
    threads.emplace_back(body);
  } catch (const std::exception&) {  // no thread, or no memory for one
    return false;
  }
  return true;
}

// The pieces that are left of a stretch. Its owner takes them from the front, others from behind.
class Stretch {
 public:
  Stretch(std::size_t begin, std::size_t end) : begin_(begin), end_(end) {}

  std::optional<std::size_t> first() {
    const std::lock_guard lock(mutex_);
    return begin_ < end_ ? std::optional(begin_++) : std::nullopt;
  }
  std::optional<std::size_t> last() {
    const std::lock_guard lock(mutex_);
    return begin_ < end_ ? std::optional(--end_) : std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::size_t begin_, end_;
};

}  // namespace

void on_threads(std::size_t threads, const std::function<void(std::size_t)>& body,
                const std::function<void()>& on_failure) {
  FirstException failed(on_failure);
  std::vector<std::thread> others;
  others.reserve(threads);
  for (std::size_t t = 1; t < threads; ++t) {
    if (!start(others, [&, t] { failed.around([&] { body(t); }); })) break;
  }
  failed.around([&] { body(0); });
  for (std::thread& other : others) other.join();
  failed.pass_on();
}

void parallel_for(std::size_t pieces, unsigned threads,
                  const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  on_threads(std::min<std::size_t>(threads, pieces), [&](std::size_t) {
    for (std::size_t i = next++; i < pieces; i = next++) work(i);
  });
}

void parallel_stretches(std::size_t pieces, unsigned threads,
                        const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t count = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(pieces, 1));
  std::deque<Stretch> stretches;
  for (std::size_t t = 0; t < count; ++t) {
    stretches.emplace_back(t * pieces / count, (t + 1) * pieces / count);
  }
  on_threads(count, [&](std::size_t own) {
    while (const auto piece = stretches[own].first()) work(*piece, own);
    for (std::size_t other = own + 1; other < own + count; ++other) {
      while (const auto piece = stretches[other % count].last()) work(*piece, own);
    }
  });
}

}  // namespace stepscope::base
