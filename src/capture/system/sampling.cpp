// One turn of the sampler: every source is asked, and what it says becomes a block.
#include "capture/system/sampling.h"

#include <algorithm>

#include "capture/ticks.h"

namespace stepscope::capture {
namespace {

// Looking through all processes of the machine takes longest, and they seldom change.
constexpr std::int64_t kBetweenJobNs = 1'000'000'000;
constexpr std::int64_t kJobRest = 1000;
// Ranks begin one after the other, and what they do before they are seen counts as another job's:
// meanwhile their folder is looked at each time. It may be on a file system of many machines.
constexpr std::int64_t kGatheringNs = 10'000'000'000;
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
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(amd_source(place, job));
  sources.push_back(rapl_source(place));
  sources.push_back(process_source(place, job));
  sources.push_back(processor_source(place));
  sources.push_back(memory_source(place));
  sources.push_back(cgroup_source(place));
  sources.push_back(disk_source(place));
  sources.push_back(file_system_source(place));
  sources.push_back(network_source(place));
  sources.push_back(shared_memory_source(place, job));
  return sources;
}

Sampling::Sampling(const SystemPlace& place, const std::string& folder, std::int64_t interval_ns,
                   std::shared_ptr<SampleBook> book)
    : interval_ns_(interval_ns),
      job_(with_clock(place), folder),
      allowance_(interval_ns),
      samples_(std::move(book)) {
  for (std::unique_ptr<Source>& source : all_sources(with_clock(place), job_)) {
    turns_.push_back({.source = std::move(source), .pace = {}});
  }
}

void Sampling::prepare() {
  for (const Turn& turn : turns_) turn.source->prepare(samples_);
}

void Sampling::look_at_job(std::int64_t now, std::int64_t& before) {
  if (moments_ == 0) gathered_ns_ = now + kGatheringNs;
  const bool has_grown = now < gathered_ns_ && job_.has_newcomers();
  const bool changed = job_.has_changed() && now >= job_at_ns_ + job_pace_.took_ns() * Pace::kRest;
  const bool is_wanted = changed || job_pace_.is_due(now, interval_ns_);
  if (!has_grown && (!is_wanted || job_pace_.is_put_off(now, is_overdrawn()))) return;
  job_at_ns_ = now;
  job_.refresh();
  const std::int64_t after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  job_pace_.looked(now, after - before, kBetweenJobNs, kJobRest);
  before = after;
}

void Sampling::moment(bool last, std::int64_t elsewhere_ns) {
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  std::int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (moments_ >= kFirstMoments) allowance_.pass(now, before + elsewhere_ns);
  look_at_job(now, before);
  samples_.begin_moment(ticks());
  ++moments_;
  for (Turn& turn : turns_) {
    if (last && turn.source->sample_last(samples_)) continue;
    // Running totals count up to the end.
    const bool is_total = last && turn.source->least_interval_ns() == 0;
    if (!is_total && !turn.pace.is_due(now, interval_ns_)) continue;
    if (!last && turn.pace.is_put_off(now, is_overdrawn())) continue;
    turn.source->sample(samples_);
    const std::int64_t after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    turn.pace.looked(now, after - before, std::max(interval_ns_, turn.source->least_interval_ns()));
    before = after;
  }
}

}  // namespace stepscope::capture
