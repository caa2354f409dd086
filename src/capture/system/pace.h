// How often one thing is looked at: what takes long rests long, and what is not cheap waits while
// too much was taken already.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stepscope::capture {

class Pace {
 public:
  // It rests this many times as long as it took: nothing takes more than half a percent of a core.
  static constexpr std::int64_t kRest = 200;

  // Wakes come a little early or late: half an interval is the same turn.
  bool is_due(std::int64_t now_ns, std::int64_t interval_ns) const {
    return next_ns_ <= now_ns + interval_ns / 2;
  }
  // Whether something that is due waits for another moment.
  bool is_put_off(std::int64_t now_ns, bool is_overdrawn) const {
    return is_overdrawn && took_ns_ > kCheapNs && now_ns < next_ns_ + kMostLateNs;
  }
  // It was looked at, and that took so much processor time.
  void looked(std::int64_t now_ns, std::int64_t took_ns, std::int64_t least_interval_ns,
              std::int64_t rest = kRest) {
    took_ns_ = took_ns;
    next_ns_ = now_ns + std::max(least_interval_ns, took_ns * rest);
  }
  std::int64_t took_ns() const { return took_ns_; }

 private:
  // What costs less is always done, and nothing is put off for longer.
  static constexpr std::int64_t kCheapNs = 50'000;
  static constexpr std::int64_t kMostLateNs = 5'000'000'000;

  std::int64_t next_ns_ = 0;
  std::int64_t took_ns_ = 0;  // of processor time, the last time
};

// How much of a core sampling may take: what a machine makes dear is looked at less often, so that
// the whole stays within it. A bucket that fills with time and that processor time empties.

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
