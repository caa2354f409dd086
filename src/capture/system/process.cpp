// The job's processes: processor time, resident memory, bytes read and written; of each process
// that announced itself, and of all that it started together.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/system/job.h"
#include "capture/system/source.h"
#include "capture/system/text_file.h"
#include "capture/ticks.h"

namespace stepscope::capture {
namespace {

// Running totals of a process, in the order of their series.
enum Total : std::uint8_t { kCpu, kWaited, kRead, kWritten, kDiskRead, kDiskWritten, kTotals };
constexpr std::array<std::string_view, kTotals> kTotalNames = {
    "process.cpu",     "process.waited",    "process.read",
    "process.written", "process.disk_read", "process.disk_written"};
using Values = std::array<std::optional<std::int64_t>, kTotals>;
using Amounts = std::array<std::int64_t, kTotals>;

// When a process waits for a child that has ended, the kernel adds what that read and wrote to the
// process' own. It has counted among the children, and is taken away again.
struct OneProcess {
  TextFile statm, io, schedstat;
  int parent = 0;
  Values last = {}, before = {};      // of this look and the one before
  std::vector<Amounts> awaited = {};  // of children that ended, not seen in its own yet
  Amounts inherited = {};             // of those that were
  bool io_refused = false;

  std::int64_t own_use(std::size_t which) const {
    return last[which].value_or(0) - inherited[which];
  }

  // It may never wait for some: those are not kept for ever.
  void await(const Amounts& child) {
    constexpr std::size_t kMost = 1000;
    if (awaited.size() == kMost) awaited.erase(awaited.begin());
    awaited.push_back(child);
  }

  void inherit() {
    Amounts risen = {};
    for (std::size_t i = kRead; i < kTotals; ++i) {
      if (last[i] && before[i]) risen[i] = *last[i] - *before[i];
    }
    std::erase_if(awaited, [&](const Amounts& child) {
      for (std::size_t i = kRead; i < kTotals; ++i) {
        if (child[i] > risen[i]) return false;
      }
      for (std::size_t i = kRead; i < kTotals; ++i) {
        risen[i] -= child[i];
        inherited[i] += child[i];
      }
      return true;
    });
  }
};

struct EndedProcess {
  int parent;
  std::vector<Amounts> amounts;  // its own, and those that it had not waited for
};

std::optional<std::int64_t> resident_bytes(TextFile& statm) {
  static const std::int64_t kPageBytes = ::sysconf(_SC_PAGESIZE);
  auto text = statm.read();
  if (!text) return std::nullopt;
  next_word(*text);
  const auto pages = whole_number(next_word(*text));
  return pages ? std::optional(*pages * kPageBytes) : std::nullopt;
}

void read_io(OneProcess& process, Values& values) {
  const auto text = process.io.read();
  process.io_refused = !text && process.io.error() != ESRCH && process.io.error() != ENOENT;
  if (!text) return;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view line = next_line(rest);
    const std::string_view name = next_word(line);
    const auto value = whole_number(next_word(line));
    if (name == "rchar:") values[kRead] = value;
    if (name == "wchar:") values[kWritten] = value;
    if (name == "read_bytes:") values[kDiskRead] = value;
    if (name == "write_bytes:") values[kDiskWritten] = value;
  }
}

// How long the first thread was ready to run while no processor was free for it.
std::optional<std::int64_t> waited_ns(TextFile& schedstat) {
  auto text = schedstat.read();
  if (!text) return std::nullopt;
  next_word(*text);  // time it ran
  return whole_number(next_word(*text));
}

// Processor time of the children that a process has waited for, and of theirs; in whole ticks.
std::optional<std::int64_t> reaped_ns(TextFile& stat) {
  static const std::int64_t kTickNs = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  const auto text = stat.read();
  const std::size_t name_end = text ? text->rfind(')') : std::string_view::npos;
  if (name_end == std::string_view::npos) return std::nullopt;
  std::string_view rest = text->substr(name_end + 1);
  // Fields are counted from 1, the state is the third.
  for (int field = 3; field < 16; ++field) next_word(rest);
  const auto user = whole_number(next_word(rest));
  const auto system = whole_number(next_word(rest));
  return user && system ? std::optional((*user + *system) * kTickNs) : std::nullopt;
}

// Processors that a process may run on, as the kernel lists them ("0-7,16-23"); empty: not known.
std::string allowed_processors(const SystemPlace& place, int pid) {
  TextFile status(place.proc + "/" + std::to_string(pid) + "/status");
  const auto text = status.read();
  std::string_view rest = text.value_or(std::string_view());
  while (!rest.empty()) {
    std::string_view line = next_line(rest);
    if (next_word(line) == "Cpus_allowed_list:") return std::string(next_word(line));
  }
  return {};
}

// Processes that are counted together. What ended stays in the totals; children begin with 0, so
// that all a later one used counts, also before it was first seen.
class Group {
 public:
  Group(Samples& samples, const JobProcess& of, bool children) : children_(children) {
    const wire::Fields about = {{"rank", std::to_string(of.rank)},
                                {"process", std::to_string(of.pid)},
                                {"of", children ? "children" : "process"}};
    for (std::size_t i = 0; i < kTotals; ++i) {
      series_[i] = samples.define({.name = kTotalNames[i],
                                   .unit = i == kCpu || i == kWaited ? "ns" : "bytes",
                                   .kind = SeriesKind::kCounter,
                                   .about = about});
    }
    resident_ = samples.define({.name = "process.rss", .unit = "bytes", .about = about});
    count_ = samples.define({.name = "process.count", .unit = "count", .about = about});
  }

  // `reaped`: processor time of children that ended, as the kernel reported it to their parent.
  // Whether one of the processes is there. What ended is added to `ended`.
  bool look(Samples& samples, const SystemPlace& place, const Job& job,
            const std::vector<int>& pids, std::vector<EndedProcess>& ended,
            std::int64_t reaped = 0) {
    reaped_ = std::max(reaped_, reaped);
    forget_ended(pids, ended);
    resident_bytes_ = 0;
    alive_ = 0;
    for (const int pid : pids) {
      OneProcess& process = known(place, job, pid);
      const auto bytes = resident_bytes(process.statm);
      const auto cpu_ns = place.process_cpu_ns(pid);
      // It is gone. Its parent may have all it used: it must not count twice.
      if (!bytes || (children_ && !cpu_ns)) {
        end(live_.find(pid), ended);
        continue;
      }
      ++alive_;
      resident_bytes_ += *bytes;
      Values values = {};
      values[kCpu] = cpu_ns;
      values[kWaited] = waited_ns(process.schedstat);
      read_io(process, values);
      process.before = process.last;
      for (std::size_t i = 0; i < kTotals; ++i) {
        if (values[i]) process.last[i] = values[i];
      }
      if (process.io_refused) {
        samples.add_notice("processes",
                           "Bytes read and written by some of the job's processes are not "
                           "known: /proc/PID/io may not be read.");
      }
    }
    return alive_ > 0;
  }

  OneProcess* find(int pid) {
    const auto found = live_.find(pid);
    return found == live_.end() ? nullptr : &found->second;
  }

  // What the last look saw.
  void put(Samples& samples) {
    for (auto& [pid, process] : live_) process.inherit();
    if (children_) samples.put_if_new(count_, alive_);
    if (alive_ == 0 && !children_) return;  // it is gone: its memory is not 0
    had_any_ |= alive_ > 0;
    if (had_any_) samples.put(resident_, resident_bytes_);
    for (std::size_t i = 0; i < kTotals; ++i) put_total(samples, i);
  }

 private:
  OneProcess& known(const SystemPlace& place, const Job& job, int pid) {
    const auto found = live_.find(pid);
    if (found != live_.end()) return found->second;
    const std::string folder = place.proc + "/" + std::to_string(pid);
    return live_
        .emplace(pid, OneProcess{TextFile(folder + "/statm"), TextFile(folder + "/io"),
                                 TextFile(folder + "/schedstat"), job.parent_of(pid)})
        .first->second;
  }

  void forget_ended(const std::vector<int>& pids, std::vector<EndedProcess>& ended) {
    for (auto one = live_.begin(); one != live_.end();) {
      one = std::ranges::binary_search(pids, one->first) ? std::next(one) : end(one, ended);
    }
  }

  std::map<int, OneProcess>::iterator end(std::map<int, OneProcess>::iterator one,
                                          std::vector<EndedProcess>& ended) {
    OneProcess& process = one->second;
    Amounts amounts = {};
    for (std::size_t i = 0; i < kTotals; ++i) {
      amounts[i] = process.last[i].value_or(0);
      ended_[i] += process.own_use(i);
    }
    process.awaited.push_back(amounts);
    ended.push_back({process.parent, std::move(process.awaited)});
    return live_.erase(one);
  }

  // What was seen of processes that ended lacks what they did after the last look, and those that
  // came and went between two. A child that is not waited for is not in the kernel's sum.
  void put_total(Samples& samples, std::size_t which) {
    std::int64_t total = which == kCpu ? std::max(ended_[which], reaped_) : ended_[which];
    bool known = children_ && live_.empty();
    for (const auto& [pid, process] : live_) {
      known |= process.last[which].has_value();
      total += process.own_use(which);
    }
    put_[which] = std::max(put_[which], total);
    if (known || total > 0) samples.put(series_[which], put_[which]);
  }

  bool children_, had_any_ = false;
  std::int64_t reaped_ = 0, resident_bytes_ = 0, alive_ = 0;
  Amounts put_{};  // a total does not fall
  std::array<wire::SeriesId, kTotals> series_{};
  wire::SeriesId resident_ = 0, count_ = 0;
  std::map<int, OneProcess> live_;
  Amounts ended_{};
};

class Processes final : public Source {
 public:
  Processes(const SystemPlace& place, const Job& job) : place_(place), job_(job) {}

  void sample(Samples& samples) override {
    std::vector<EndedProcess> ended;
    std::vector<Group*> seen;
    for (const JobProcess& process : job_.processes()) {
      auto found = groups_.find(process.pid);
      if (found == groups_.end()) {
        found = groups_
                    .emplace(process.pid,
                             Pair{Group(samples, process, false), Group(samples, process, true),
                                  TextFile(joined(
                                      {place_.proc, "/", std::to_string(process.pid), "/stat"}))})
                    .first;
        note_processors(samples, process);
      }
      Pair& pair = found->second;
      // Before the children are looked at: one that ends meanwhile must not count twice.
      if (!pair.own.look(samples, place_, job_, {process.pid}, ended)) continue;
      const std::int64_t reaped = reaped_ns(pair.stat).value_or(0);
      if (!pair.reaped_before) pair.reaped_before = reaped;
      pair.children.look(samples, place_, job_, process.children, ended,
                         reaped - *pair.reaped_before);
      seen.push_back(&pair.own);
      seen.push_back(&pair.children);
    }
    for (const EndedProcess& process : ended) hand_on(process);
    for (Group* const group : seen) group->put(samples);
    for (const std::int64_t rank : job_.lost()) {
      samples.add_notice("processes",
                         "The process of rank " + std::to_string(rank) +
                             " ended without taking leave: it was killed, or crashed.");
    }
    if (job_.is_hidden()) {
      samples.add_notice("processes",
                         "Processor time, memory and bytes of the job's processes are not known: " +
                             place_.proc + " does not show them.");
    }
  }

 private:
  void hand_on(const EndedProcess& process) {
    for (auto& [pid, pair] : groups_) {
      OneProcess* parent = pair.own.find(process.parent);
      if (parent == nullptr) parent = pair.children.find(process.parent);
      if (parent == nullptr) continue;
      for (const Amounts& amounts : process.amounts) parent->await(amounts);
      return;
    }
  }

  // Once, as the scheduler gave them: libraries bind threads to fewer later.
  void note_processors(Samples& samples, const JobProcess& process) const {
    const std::string list = allowed_processors(place_, process.pid);
    if (list.empty()) return;
    const wire::SeriesId series =
        samples.define({.name = "process.processors",
                        .unit = "count",
                        .about = {{"rank", std::to_string(process.rank)},
                                  {"process", std::to_string(process.pid)},
                                  {"list", list}}});
    samples.put(series, 1);
  }

  struct Pair {
    Group own, children;
    TextFile stat;
    std::optional<std::int64_t> reaped_before = {};  // when it was first looked at
  };
  const SystemPlace place_;
  const Job& job_;
  std::map<int, Pair> groups_;
};

// Memory of a process with what it shares counted in parts: slow to ask for, so asked seldom; more
// often at first, while a program grows, and at the end.
class SharedMemory final : public Source {
 public:
  SharedMemory(const SystemPlace& place, const Job& job) : place_(place), job_(job) {}

  void sample(Samples& samples) override {
    const std::int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    look(samples);
    took_ns_ = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    interval_ns_ = std::min(interval_ns_ * 2, kMostIntervalNs);
  }

  // A program that ends does not wait for long.
  bool sample_last(Samples& samples) override {
    if (took_ns_ < kMostAtEndNs) look(samples);
    return true;
  }

  std::int64_t least_interval_ns() const override { return interval_ns_; }

 private:
  static constexpr std::int64_t kMostIntervalNs = 10'000'000'000;
  static constexpr std::int64_t kMostAtEndNs = 50'000'000;

  void look(Samples& samples) {
    for (const JobProcess& process : job_.processes()) {
      const auto own = proportional_bytes(samples, process.pid);
      if (!own) continue;
      std::int64_t all = *own;
      for (const int child : process.children)
        all += proportional_bytes(samples, child).value_or(0);
      auto found = series_.find(process.pid);
      if (found == series_.end()) {
        const wire::SeriesId made =
            samples.define({.name = "process.pss",
                            .unit = "bytes",
                            .about = {{"rank", std::to_string(process.rank)},
                                      {"process", std::to_string(process.pid)},
                                      {"of", "all"}}});
        found = series_.emplace(process.pid, made).first;
      }
      samples.put(found->second, all);
    }
  }

  std::optional<std::int64_t> proportional_bytes(Samples& samples, int pid) const {
    TextFile file(place_.proc + "/" + std::to_string(pid) + "/smaps_rollup");
    const auto text = file.read();
    std::string_view rest = text.value_or(std::string_view());
    while (!rest.empty()) {
      std::string_view line = next_line(rest);
      if (next_word(line) != "Pss:") continue;
      const auto kib = whole_number(next_word(line));
      return kib ? std::optional(*kib * 1024) : std::nullopt;
    }
    if (!text && file.error() == EACCES) {
      samples.add_notice("processes",
                         "Memory that processes share is not known: /proc/PID/smaps_rollup "
                         "may not be read.");
    }
    return std::nullopt;
  }

  const SystemPlace place_;
  const Job& job_;
  std::map<int, wire::SeriesId> series_;
  std::int64_t interval_ns_ = 500'000'000, took_ns_ = 0;
};

}  // namespace

std::unique_ptr<Source> process_source(const SystemPlace& place, const Job& job) {
  return std::make_unique<Processes>(place, job);
}

std::unique_ptr<Source> shared_memory_source(const SystemPlace& place, const Job& job) {
  return std::make_unique<SharedMemory>(place, job);
}

}  // namespace stepscope::capture
