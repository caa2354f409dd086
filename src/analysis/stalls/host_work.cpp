// Makes episodes of what threads do on the CPU: which task an operator, a copy or a pause is part
// of.
#include "analysis/stalls/host_work.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/name_sign.h"
#include "analysis/prepared.h"
#include "analysis/stalls/host_marks.h"
#include "analysis/stalls/host_work_items.h"

namespace stepscope::analysis {
namespace {

using base::Bytes;
using base::Nanos;
using trace::Row;

constexpr std::array<std::string_view, kHostTasks> kHostTaskNames = {
    "compile", "update", "data", "inspect", "operators", "debug"};

// Between two items of an episode no more than this is launched: a conversion beside a copy.
constexpr std::int64_t kFewEpisodeLaunches = 2;
// Operators of an episode take at least so long together; a pause is at least so long.
constexpr Nanos kLeastEpisodeWork = 300'000;
constexpr Nanos kLeastEpisodePause = 2'000'000;
// Less is a value, and no batch, weights or gradients.
constexpr Bytes kLeastEpisodeBytes = std::int64_t{1} << 20;
constexpr std::size_t kSeveralEpisodeCopies = 8;
// Of what an episode lasts beside its copies, operators are so much of it; else Python is.
constexpr double kLeastEpisodeShare = 0.2;

struct EpisodeSum {
  Nanos operators = 0, optimizer = 0;
  std::size_t down = 0, up = 0;
  Bytes down_bytes = 0, up_bytes = 0, pageable_bytes = 0;
};

EpisodeSum sum_of_items(std::span<const HostItem> items) {
  EpisodeSum out;
  for (const HostItem& item : items) {
    if (item.sort == HostItem::Sort::kOperator) {
      out.operators += item.time.length();
      if (item.in_optimizer) out.optimizer += item.time.length();
    } else if (item.sort == HostItem::Sort::kDown) {
      ++out.down;
      out.down_bytes += item.bytes;
    } else {
      ++out.up;
      out.up_bytes += item.bytes;
      out.pageable_bytes += item.pageable ? item.bytes : 0;
    }
  }
  return out;
}

class HostEpisodes {
 public:
  HostEpisodes(const WindowView& window, HostItems items)
      : window_(&window),
        items_(std::move(items)),
        recorded_(items_.recorded),
        loading_(items_.loading),
        saving_(*window.trace) {
    out_.copies.assign(items_.list.empty() ? 0 : window.work.size(), 0);
  }

  HostWork run() {
    for (const HostItem& one : items_.compiling) add_stretch(one, HostTask::kCompile);
    for (const HostItem& one : items_.checks) add_stretch(one, HostTask::kDebug);
    const std::span<const HostItem> list(items_.list);
    for (std::size_t first = 0; first < list.size();) {
      std::size_t last = first + 1;
      while (last < list.size() && continues(list[last - 1], list[last])) ++last;
      judge(list.subspan(first, last - first));
      first = last;
    }
    add_signs();
    number_operators();
    return std::move(out_);
  }

 private:
  bool continues(const HostItem& a, const HostItem& b) const {
    const auto first = std::ranges::lower_bound(items_.launches, a.time.start);
    const auto last = std::ranges::lower_bound(items_.launches, b.time.start);
    return last - first <= kFewEpisodeLaunches;
  }

  Nanos quiet(Interval time) { return std::max<Nanos>(0, time.length()) - recorded_.covered(time); }

  // Pauses before an item, back to the last launch of something that computes: from the first one
  // on, how long they are in all.
  struct Pauses {
    Nanos start = 0, length = 0;
  };
  Pauses pauses_before(const HostItem& item) const {
    const trace::Trace& trace = *window_->trace;
    Nanos start = item.time.start;
    // Of a copy: the operator that asks for it.
    for (Row row = item.row; row != trace::kNoRow; row = trace.parent()[row]) {
      if (trace.kind()[row] == trace::Kind::kCpuOp) start = trace.start()[row];
    }
    const auto launch = std::ranges::lower_bound(items_.launches, start);
    Nanos reach = launch != items_.launches.begin() ? *std::prev(launch)
                  : window_->steps.empty()          ? start
                                                    : window_->steps.front().host.start;
    Pauses out{.start = start};
    auto next = std::ranges::lower_bound(items_.recorded, reach, {}, &Interval::end);
    while (reach < start) {
      const bool is_last = next == items_.recorded.end() || next->start >= start;
      const Nanos until = is_last ? start : next->start;
      if (until - reach >= kLeastEpisodePause) {
        if (out.length == 0) out.start = reach;
        out.length += until - reach;
      }
      if (is_last) break;
      reach = std::max(reach, next->end);
      ++next;
    }
    return out;
  }

  void judge(std::span<const HostItem> items) {
    const EpisodeSum all = sum_of_items(items);
    if (all.optimizer >= kLeastEpisodeWork && all.up_bytes >= kLeastEpisodeBytes)
      return add_update(items);
    // What follows the last copy to the host is made for the device, but for statistics.
    std::size_t split = items.size();
    while (split > 0 && items[split - 1].sort != HostItem::Sort::kDown) --split;
    while (split > 0 && split < items.size() && items[split].sort == HostItem::Sort::kOperator &&
           items[split].purpose == Purpose::kStatistics) {
      ++split;
    }
    inspect(items.first(split));
    prepare(items.subspan(split));
  }

  // Gradients to the host, an optimizer there, weights to the device.
  void add_update(std::span<const HostItem> items) {
    std::size_t work = items.size() - 1;  // the last operator of the optimizer
    while (work > 0 && !(items[work].sort == HostItem::Sort::kOperator && items[work].in_optimizer))
      --work;
    const std::int32_t step = step_at(window_->steps, items[work].time.start);
    // What the next step copies is its batch.
    const auto is_weight = [&](const HostItem& item) {
      return item.sort == HostItem::Sort::kUp && step_at(window_->steps, item.time.start) == step;
    };
    std::size_t last = items.size();
    while (last > work + 1 && !is_weight(items[last - 1])) --last;
    std::size_t first = 0;
    while (items[first].sort == HostItem::Sort::kUp) ++first;  // of the batch
    add(items.subspan(first, last - first), HostTask::kUpdate);
  }

  // Copies to the host, and what is done with them.
  void inspect(std::span<const HostItem> items) {
    std::size_t first = 0;
    while (first < items.size() && items[first].sort != HostItem::Sort::kDown) ++first;
    prepare(items.first(first));
    items = items.subspan(first);
    const EpisodeSum sum = sum_of_items(items);
    if (sum.down_bytes < kLeastEpisodeBytes && sum.down < kSeveralEpisodeCopies) return;
    const Interval time{items.front().time.start, items.back().time.end};
    const auto work = static_cast<double>(sum.operators);
    const auto pauses = static_cast<double>(quiet(time));
    const bool is_saved = std::ranges::any_of(items, [&](const HostItem& item) {
      return item.sort == HostItem::Sort::kDown &&
             saving_.asked(*window_->trace, item.row, sum.down);
    });
    if (sum.operators >= kLeastEpisodeWork && work >= kLeastEpisodeShare * (work + pauses)) {
      add(items, HostTask::kInspect);
    } else if (!is_saved && sum.down >= kSeveralEpisodeCopies &&
               sum.down_bytes >= kLeastEpisodeBytes && pauses >= kLeastEpisodePause &&
               pauses > static_cast<double>(pause_after(time.end))) {
      // Python looks at each as it comes; who writes them all does so at the end.
      add(items, HostTask::kInspect);
    }
  }

  // Until the next operator or call.
  Nanos pause_after(Nanos time) const {
    const auto next = std::ranges::lower_bound(items_.recorded, time, {}, &Interval::start);
    return next == items_.recorded.end() ? 0 : next->start - time;
  }

  // Operators, and a copy to the device of what they make.
  void prepare(std::span<const HostItem> items) {
    std::size_t last = items.size();
    while (last > 0 && items[last - 1].sort != HostItem::Sort::kUp) --last;
    if (!make(items.first(last))) last = 0;
    const std::span<const HostItem> rest = items.subspan(last);
    Nanos operators = 0;
    for (const HostItem& item : rest) {
      if (item.sort == HostItem::Sort::kOperator && !item.in_optimizer)
        operators += item.time.length();
    }
    if (operators >= kLeastEpisodeWork) add(rest, HostTask::kOperators);
  }

  bool make(std::span<const HostItem> items) {
    if (items.empty()) return false;
    const EpisodeSum sum = sum_of_items(items);
    if (sum.up_bytes < kLeastEpisodeBytes) return false;
    const HostItem& first_item = items.front();
    const Pauses pauses = pauses_before(first_item);
    const bool by_python = sum.pageable_bytes >= kLeastEpisodeBytes &&
                           pauses.length >= kLeastEpisodePause && pauses.length >= sum.operators &&
                           loading_.covered({pauses.start, first_item.time.start}) == 0;
    if (sum.operators < kLeastEpisodeWork && !by_python) return false;
    std::size_t first = 0;
    if (!by_python) {
      while (items[first].sort != HostItem::Sort::kOperator) ++first;
    }
    add(items.subspan(first), HostTask::kData);
    if (by_python) out_.episodes.back().time.start = pauses.start;
    if (by_python) out_.episodes.back().quiet += pauses.length;
    return true;
  }

  void add(std::span<const HostItem> items, HostTask task) {
    if (items.empty()) return;
    HostEpisode episode{.time = {items.front().time.start, items.front().time.end}, .task = task};
    for (const HostItem& item : items) {
      episode.time.end = std::max(episode.time.end, item.time.end);
      if (item.sort != HostItem::Sort::kOperator) {
        out_.copies[item.piece] = static_cast<std::uint8_t>(1 + static_cast<int>(task));
      }
    }
    const EpisodeSum sum = sum_of_items(items);
    episode.operators = sum.operators;
    episode.quiet = quiet(episode.time);
    episode.down = static_cast<std::int64_t>(sum.down);
    episode.up = static_cast<std::int64_t>(sum.up);
    episode.down_bytes = sum.down_bytes;
    episode.up_bytes = sum.up_bytes;
    episode.pageable_bytes = sum.pageable_bytes;
    Nanos longest = -1;
    for (const HostItem& item : items) {
      if (item.sort != HostItem::Sort::kOperator) continue;
      out_.operators.push_back({item.row, static_cast<std::uint32_t>(out_.episodes.size())});
      if (item.time.length() > longest) episode.row = item.row;
      longest = std::max(longest, item.time.length());
    }
    out_.episodes.push_back(episode);
  }

  void add_stretch(const HostItem& item, HostTask task) {
    out_.episodes.push_back({.time = item.time, .task = task, .row = item.row});
  }

  // By start; operators name their episode by its place.
  void number_operators() {
    std::vector<std::uint32_t> order(out_.episodes.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    sort_runs(order, [&](std::uint32_t a, std::uint32_t b) {
      return out_.episodes[a].time.start < out_.episodes[b].time.start;
    });
    std::vector<HostEpisode> sorted;
    std::vector<std::uint32_t> place(order.size());
    sorted.reserve(order.size());
    for (const std::uint32_t i : order) {
      place[i] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(out_.episodes[i]);
    }
    out_.episodes = std::move(sorted);
    for (CpuOperator& one : out_.operators) one.episode = place[one.episode];
  }

  void add_signs() {
    HostSigns& signs = out_.signs;
    signs.backward_nodes = items_.backward_nodes;
    signs.checked_nodes = items_.checked_nodes;
    add_check_work(signs);
    add_launches(signs);
    add_compiled(signs);
  }

  void add_check_work(HostSigns& signs) const {
    if (items_.checks.empty()) return;
    for (const Work& piece : window_->work) {
      if (piece.launch == trace::kNoRow || !window_->counts(piece)) continue;
      const Nanos start = window_->trace->start()[piece.launch];
      const auto next = std::ranges::upper_bound(
          items_.checks, start, {}, [](const HostItem& one) { return one.time.start; });
      if (next != items_.checks.begin() && start < std::prev(next)->time.end) {
        signs.check_work += piece.length();
      }
    }
  }

  // CUDA_LAUNCH_BLOCKING: a call that launches a kernel returns when the kernel has ended.
  void add_launches(HostSigns& signs) const {
    constexpr Nanos kLong = 10'000;  // shorter kernels may end before the call by themselves
    const trace::Trace& trace = *window_->trace;
    for (const Work& piece : window_->work) {
      if (piece.work_class != WorkClass::kCompute || piece.launch == trace::kNoRow) continue;
      if (piece.length() < kLong || !window_->counts(piece)) continue;
      ++signs.long_launches;
      signs.held_launches += trace.end(piece.launch) >= piece.end ? 1 : 0;
    }
  }

  // "Torch-Compiled Region: FRAME/VERSION".
  void add_compiled(HostSigns& signs) const {
    const trace::Trace& trace = *window_->trace;
    const auto is_region = [](std::string_view name) {
      return name.starts_with("Torch-Compiled Region: ");
    };
    // Names are few, events many, and most traces have no such region.
    const auto names_region = [&](std::size_t id) {
      return is_region(trace.text(static_cast<base::StringId>(id)));
    };
    if (std::ranges::none_of(std::views::iota(std::size_t{0}, trace.strings().size()),
                             names_region)) {
      return;
    }
    NameSign regions(trace, is_region);
    std::set<std::int64_t> frames;
    for (const trace::Track& track : trace.tracks()) {
      if (track.is_device) continue;
      Nanos reach = std::numeric_limits<Nanos>::min();
      for (Row row = track.begin; row < track.end; ++row) {
        if (trace.kind()[row] != trace::Kind::kCpuOp || !regions.matches_row(row)) continue;
        const Nanos start = trace.start()[row];
        if (!window_->counts_at(start) || step_at(window_->steps, start) < 0) continue;
        std::string_view name = trace.name_text(row);
        name.remove_prefix(name.find(": ") + 2);
        std::int64_t frame = 0;
        std::int64_t version = 0;
        const auto [slash, error] = std::from_chars(name.data(), name.data() + name.size(), frame);
        if (error != std::errc() || slash == name.data() + name.size()) continue;
        std::from_chars(slash + 1, name.data() + name.size(), version);
        frames.insert(frame);
        signs.most_versions = std::max(signs.most_versions, version + 1);
        if (start >= reach) ++signs.compiled_calls;
        reach = std::max(reach, trace.end(row));
      }
    }
    signs.compiled_frames = static_cast<std::int64_t>(frames.size());
  }

  const WindowView* window_;
  HostItems items_;
  CoverageWalk recorded_, loading_;
  SavingSigns saving_;
  HostWork out_;
};

}  // namespace

std::string_view name_of(HostTask task) { return kHostTaskNames[static_cast<std::size_t>(task)]; }

const HostWork& host_work(const WindowView& window) {
  return window.prepared->host_work.get(
      [&] { return HostEpisodes(window, host_items(window)).run(); });
}

}  // namespace stepscope::analysis
