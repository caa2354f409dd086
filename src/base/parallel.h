// Runs independent pieces of work on a few threads, in any order and on any of them: results are
// the same at any thread count. What a piece throws is thrown again here, once all threads are
// done.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace stepscope::base {

class ThreadPool;

// Calls body(thread) for every thread in [0, threads), each on one of its own, this one being 0;
// for fewer where the system gives no more. As soon as one throws, on_failure is called there: it
// wakes those that wait for it, and must not throw itself.
void on_threads(std::size_t threads, const std::function<void(std::size_t)>& body,
                const std::function<void()>& on_failure = {});

// As long as one of these lives, what the calling thread shares is done by the same threads, which
// wait for the next piece of work. For work in many short pieces: else each begins with new ones.
class KeepThreads {
 public:
  KeepThreads();
  ~KeepThreads();
  KeepThreads(const KeepThreads&) = delete;
  KeepThreads& operator=(const KeepThreads&) = delete;

 private:
  std::unique_ptr<ThreadPool> pool_;
};

// Calls work(i) for every i in [0, pieces), on at most `threads` threads, this one included.
// They are taken in ascending order by whoever is free.
void parallel_for(std::size_t pieces, unsigned threads,
                  const std::function<void(std::size_t)>& work);

// The same for pieces of which neighbours write to neighbouring memory: each thread goes through a
// stretch of its own, and then takes the last pieces of the others. Threads that touch a fresh huge
// page at the same time would each zero one, and all but one of these are thrown away.
// Calls work(piece, thread), threads being counted from 0.
void parallel_stretches(std::size_t pieces, unsigned threads,
                        const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace stepscope::base
