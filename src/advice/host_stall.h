// What the rules about a waiting GPU have in common: which rank is worst, what a step would gain,
// where in the program it is.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "advice/facts.h"
#include "advice/finding.h"
#include "advice/rule.h"

namespace stepscope::advice {

// A wait of its own costs up to so many times itself in lead that the host has lost: the device has
// run dry and is fed piece by piece until the host is ahead again.
inline constexpr double kLostLead = 2;
// Step times of two recordings of one program differ by so much at least.
inline constexpr double kNoise = 0.005;
// Nothing is ever hidden completely.
inline constexpr double kHidden = 0.9;

struct Weighed {
  const RankSteps* rank = nullptr;
  double share = 0;  // of the step
};
// Ranks by what `weigh` says, in ns per step, the worst first; only those at the rule's notice or
// above.
std::vector<Weighed> worst_ranks(const Facts& facts, std::string_view rule,
                                 const std::function<double(const RankSteps&)>& weigh);

// Whether waits for launches are worth a notice of launch-bound without recording.
bool waits_for_launches(const Facts& facts, const RankSteps& rank);

// What a wait of `own` ns may cost beyond itself: of all launching, or of the part given.
double lost_lead(const Facts& facts, const RankSteps& rank, double own);
double lost_lead(const Facts& facts, const RankSteps& rank, double own, double launching_ns);

// Waits for calls of a sort: what a step surely gains without them, and what recording may be of
// them. Where the recording does not tell, by a share of the host's time outside of those calls,
// which recording does not make longer.
struct Sure {
  double gain_ns = 0, recording_ns = 0;
  bool played = false;  // the steps were played again without recording
  double worst_ns = 0;  // left where recording costs more than in any other: no fault if nothing is

  Sure& operator+=(const Sure& other);
};
Sure sure_of(const Facts& facts, const RankSteps& rank, const StallPerStep& waits);
// Says in the finding what recording may be of it.
void say_tracing(Finding& finding, const RankSteps& rank, const Sure& sure);
void say_tracing(Finding& finding, const RankSteps& rank, double cost);

// The mean over the recorded steps may be too large by so much where steps differ in it, and are
// themselves as different: a lower bound leaves that out.
double spread_of_idle_ns(const Facts& facts, const RankSteps& rank, std::string_view sort);

// A finding with its rule, level, measure, ranks, gain and confidence; texts are to follow.
Finding begin_finding(const Facts& facts, const Rule& rule, const std::vector<Weighed>& ranks,
                      double low_ns, double high_ns);

// What happens now and then: how often, a recording of few steps can only guess.
void doubt_how_often(Finding& finding, const RankSteps& rank);

// The worst places of this sort, as `stalls` tells them.
void add_places(Finding& finding, const Facts& facts, const RankSteps& rank, std::string_view sort,
                std::size_t most = kMostEvidence);

// What happens in some of the steps only: how often a training does it, as far as a recording of a
// few steps can tell, and what follows for the gain.

// Of all steps of the training, in how many it is.
struct Rate {
  double least = 0, most = 1;
  bool regular = true;     // as far as the recording shows, every so many steps
  std::int64_t every = 0;  // that many; 0: not known
};

// It was in `hit` of the recorded steps, given as places among `steps` of them that follow each
// other, window by window. Three times at the same distance is a program that counts steps, and the
// rate is known. What else seems to come every so many steps falls once more or once less into each
// window; what comes without order is bounded at 95 % (Wilson).
struct Window {
  std::int64_t steps = 0;
  std::vector<std::int64_t> hit;  // ascending
};
Rate rate_of(const std::vector<Window>& windows);

// Makes the gain hold for the training, where the stall was in some of the recorded steps only: it
// was for these steps. Says so.
void widen_by_rate(Finding& finding, const Facts& facts, const RankSteps& rank,
                   std::string_view sort);

}  // namespace stepscope::advice
