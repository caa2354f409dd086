// A piece of work that is done when it is first asked for.
#pragma once

#include <memory>
#include <mutex>

namespace stepscope::analysis {

// What several analyses need and others do not: made by the first that asks, kept for the rest.
template <class T>
class OnDemand {
 public:
  // All callers pass the same `make`; it runs once, whoever else waits for it.
  template <class Make>
  std::shared_ptr<const T> shared(Make make) {
    std::call_once(once_, [&] { value_ = std::make_shared<const T>(make()); });
    return value_;
  }
  template <class Make>
  const T& get(Make make) {
    return *shared(make);
  }

 private:
  std::once_flag once_;
  std::shared_ptr<const T> value_;
};

}  // namespace stepscope::analysis
