// The shapes and sums of the idle-time analysis: what its tables hold and how they are filled.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/idle/idle_gaps.h"

namespace stepscope::analysis {

// Idle time by cause; the causes add up to it, and it and the busy time to what was measured.
struct IdleParts {
  base::Nanos measured = 0;
  std::array<base::Nanos, kCauses> causes = {};

  base::Nanos& of(Cause cause) { return causes[static_cast<std::size_t>(cause)]; }
  base::Nanos idle() const;
  void merge(const IdleParts& other);
};

// Idle time by what the host was in meanwhile.
class HostShares {
 public:
  // Range and its kind, and the call the host waited in before; empty where there is none.
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  struct Share {
    std::uint64_t gaps = 0;
    base::Nanos idle = 0, longest = 0;
  };

  Share& of(const Key& key) { return shares_[key]; }
  void merge(const HostShares& other);
  const std::map<Key, Share>& shares() const { return shares_; }

 private:
  std::map<Key, Share> shares_;
};

// Adds the idle stretches of one trace, by number: there are as many as pieces of work.
class HostShareCounter {
 public:
  HostShareCounter(const trace::Trace& trace, HostShares& shares)
      : trace_(trace), shares_(shares) {}
  void add(const HostPart& host, base::Nanos idle);

 private:
  const trace::Trace& trace_;
  HostShares& shares_;
  PairNumbers doing_;                      // name and kind
  PairNumbers pairs_;                      // those, and the name of what was waited in
  std::vector<HostShares::Share*> known_;  // by pair
};

Answer idle_time(const RunView& view, const Options& options);

struct IdleTables {
  base::Table devices, streams, steps, hosts, gaps;

  IdleTables();
  void add_device(std::int32_t rank, std::int32_t device, const IdleParts& parts);
  void add_stream(std::int32_t rank, std::int32_t device, std::int64_t stream,
                  const IdleParts& parts);
  void add_step(std::int32_t rank, std::uint32_t window, std::int64_t step, std::int32_t device,
                const IdleParts& parts);
  // The `top` ranges that cost most of this rank's idle time; 0: all.
  void add_hosts(std::int32_t rank, const HostShares& hosts, base::Nanos idle, std::size_t top);
  Answer take();
};

}  // namespace stepscope::analysis
