#include "capture/system/sampling.h"

#include <algorithm>

#include "capture/ticks.h"

namespace stepscope::capture {
namespace {

// A source rests this many times as long as it took: none takes more than half a percent of a core.
constexpr std::int64_t kRest = 200;
// Looking through all processes of the machine takes longest, and they seldom change.
constexpr std::int64_t kBetweenJobNs = 1'000'000'000;
constexpr std::int64_t kJobRest = 1000;
// Ranks begin one after the other, and what they do before they are seen counts as somebody else's:
// meanwhile their folder is looked at each time. It may be on a file system of many machines.
constexpr std::int64_t kGatheringNs = 10'000'000'000;
// What costs less is always done, and nothing is put off for longer.
constexpr std::int64_t kCheapNs = 50'000;
constexpr std::int64_t kMostLateNs = 5'000'000'000;
// The first ones open files and wake the driver, once.
constexpr std::uint64_t kFirstMoments = 3;

std::optional<std::int64_t> cpu_ns_of(int pid) {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

SystemPlace with_clock(SystemPlace place) {
  if (!place.process_cpu_ns) place.process_cpu_ns = cpu_ns_of;
  return place;
}

}  // namespace

std::vector<std::unique_ptr<Source>> all_sources(const SystemPlace& place, const Job& job) {
  // Devices first: their power and counters of energy want to be near the moment's time.
  std::vector<std::unique_ptr<Source>> sources = nvidia_sources(place, job);
  sources.push_back(amd_source(place, job));
  sources.push_back(rapl_source(place));
  sources.push_back(process_source(place, job));
  sources.push_back(processor_source(place));
  sources.push_back(memory_source(place));
  sources.push_back(cgroup_source(place));
  sources.push_back(disk_source(place));
  sources.push_back(network_source(place));
  sources.push_back(shared_memory_source(place, job));
  return sources;
}

Sampling::Sampling(const SystemPlace& place, const std::string& folder, std::int64_t interval_ns)
    : interval_ns_(interval_ns), job_(with_clock(place), folder), allowance_(interval_ns) {
  for (std::unique_ptr<Source>& source : all_sources(with_clock(place), job_)) {
    turns_.push_back({std::move(source)});
  }
}

void Sampling::prepare() {
  for (const Turn& turn : turns_) turn.source->prepare(samples_);
}

// Wakes come a little early or late: half an interval is the same turn.
bool Sampling::is_due(std::int64_t next_ns, std::int64_t now) const {
  return next_ns <= now + interval_ns_ / 2;
}

bool Sampling::is_put_off(std::int64_t next_ns, std::int64_t took_ns, std::int64_t now) const {
  return allowance_.is_overdrawn() && took_ns > kCheapNs && now < next_ns + kMostLateNs;
}

void Sampling::moment(bool last) {
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  std::int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (moments_ >= kFirstMoments) allowance_.pass(now, before);
  if (moments_ == 0) gathered_ns_ = now + kGatheringNs;
  const bool has_grown = now < gathered_ns_ && job_.has_newcomers();
  const bool changed = job_.has_changed() && now >= job_at_ns_ + job_took_ns_ * kRest;
  const bool is_wanted = changed || is_due(next_job_ns_, now);
  if (has_grown || (is_wanted && !is_put_off(next_job_ns_, job_took_ns_, now))) {
    job_at_ns_ = now;
    job_.refresh();
    const std::int64_t after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    job_took_ns_ = after - before;
    next_job_ns_ = now + std::max(kBetweenJobNs, job_took_ns_ * kJobRest);
    before = after;
  }
  samples_.begin_moment(ticks());
  ++moments_;
  for (Turn& turn : turns_) {
    if (last && turn.source->sample_last(samples_)) continue;
    // Running totals count up to the end.
    const bool is_total = last && turn.source->least_interval_ns() == 0;
    if (!is_total && !is_due(turn.next_ns, now)) continue;
    if (!last && is_put_off(turn.next_ns, turn.took_ns, now)) continue;
    turn.source->sample(samples_);
    const std::int64_t after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    turn.took_ns = after - before;
    turn.next_ns =
        now + std::max({interval_ns_, turn.source->least_interval_ns(), turn.took_ns * kRest});
    before = after;
  }
}

}  // namespace stepscope::capture
