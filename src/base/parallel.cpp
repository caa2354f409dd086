#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace stepscope::base {

void parallel_for(std::size_t pieces, unsigned threads,
                  const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto drain = [&] {
    for (std::size_t i = next++; i < pieces; i = next++) work(i);
  };
  std::vector<std::thread> others;
  const std::size_t wanted = std::min<std::size_t>(threads, pieces);
  for (std::size_t t = 1; t < wanted; ++t) others.emplace_back(drain);
  drain();
  for (std::thread& other : others) other.join();
}

}  // namespace stepscope::base
