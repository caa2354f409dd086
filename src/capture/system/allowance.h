// How much of a core sampling may take: what a machine makes dear is looked at less often, so that
// the whole stays within it. A bucket that fills with time and that processor time empties.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stepscope::capture {

class Allowance {
 public:
  // For one sample a second, in millionths of a core; more samples may take as much more.
  static constexpr std::int64_t kShare = 1'500;
  // What was saved or spent long ago does not count.
  static constexpr std::int64_t kMostNs = 10'000'000;

  explicit Allowance(std::int64_t interval_ns)
      : share_(kShare * std::max<std::int64_t>(1, 1'000'000'000 / interval_ns)) {}

  // At this time so much processor time had been used in all.
  void pass(std::int64_t now_ns, std::int64_t used_ns) {
    if (has_begun_) {
      const std::int64_t earned = (now_ns - now_ns_) / 1'000'000 * share_;
      const std::int64_t spent = used_ns - used_ns_;
      credit_ns_ = std::clamp(credit_ns_ + earned - spent, -kMostNs, kMostNs);
    }
    has_begun_ = true;
    now_ns_ = now_ns;
    used_ns_ = used_ns;
  }

  bool is_overdrawn() const { return credit_ns_ < 0; }

 private:
  std::int64_t share_;
  std::int64_t now_ns_ = 0, used_ns_ = 0, credit_ns_ = 0;
  bool has_begun_ = false;
};

}  // namespace stepscope::capture
