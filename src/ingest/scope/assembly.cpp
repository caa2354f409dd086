// Assembles blocks of a recording: clock, names, threads, ranges, steps, counters.
#include "ingest/scope/assembly.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "base/json_string.h"
#include "base/number_text.h"
#include "ingest/scope/model_file.h"
#include "trace/model_summary.h"
#include "trace/step_names.h"

namespace stepscope::ingest::scope {
namespace {

using base::Note;
using trace::RawPhase;

constexpr std::string_view kStepTrack = "steps";
// The year 2116: whatever is added to it still fits, and so does what lies between two such times.
constexpr std::int64_t kEdgeOfTime = (std::int64_t{1} << 62) - 1;
// Damage may put the end of a recording anywhere; no training takes longer.
constexpr base::Nanos kLongestOpen = trace::kAbsurdDuration;
// Ranges that are open at once and end in any order: more would take time that grows with their
// square.
constexpr std::size_t kDeepestSearch = 1024;
// A name is a column: a log line's first line, not its traceback.
constexpr std::size_t kLongestLogName = 200;

std::int64_t plausible(std::int64_t ns) { return std::clamp(ns, -kEdgeOfTime, kEdgeOfTime); }

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), kLongestLogName));
}

// Processes of a rank beside the one that trains name their files so.
bool is_worker_file(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with("worker-");
}

}  // namespace

void Assembly::take(const wire::BlockView& block) {
  switch (block.kind) {
    case wire::BlockKind::kProcess:
      if (auto fields = wire::read_process(block.payload)) {
        process_ = std::move(*fields);
        for (const auto& [key, value] : process_) {
          if (key == "pid") pid_ = value;
        }
        return;
      }
      break;
    case wire::BlockKind::kAnchor:
      if (const auto anchor = wire::read_anchor(block.payload)) {
        if (!first_anchor_) {
          first_anchor_ = anchor;
          base_ns_ = plausible(anchor->wall_ns);
        }
        last_anchor_ = anchor;
        clock_.add(*anchor);
        return;
      }
      break;
    case wire::BlockKind::kNames:
      return take_names(block);
    case wire::BlockKind::kThread:
      return take_thread(block);
    case wire::BlockKind::kEvents:
      return take_events(block);
    case wire::BlockKind::kLogs:
      return take_logs(block);
    case wire::BlockKind::kDropped:
      if (const auto dropped = wire::read_dropped(block.payload)) {
        log_.add(Note::kRecordsDropped, block.offset, {}, dropped->count);
        about_->dropped += dropped->count;
        // The recorder itself says of a thread whether marks of steps are among them.
        if (dropped->thread == wire::kAllThreads) lose_marks();
        return;
      }
      break;
    case wire::BlockKind::kEnd:
      if (const auto cost = wire::read_end(block.payload)) {
        about_->cost = {cost->records, cost->dropped,    cost->log_lines,
                        cost->bytes,   cost->lost_bytes, cost->writer_ns};
        return;
      }
      break;
    case wire::BlockKind::kSeries:  // of a node's file (ingest/system)
    case wire::BlockKind::kSamples:
      break;
  }
  unreadable(block);
}

void Assembly::unreadable(const wire::BlockView& block) {
  log_.add(Note::kUnreadableEvent, block.offset,
           fmt::format("a block of kind {}", static_cast<std::uint32_t>(block.kind)));
}

void Assembly::take_names(const wire::BlockView& block) {
  const auto run = wire::read_names(block.payload);
  // More names than bytes read so far would only be made to fill memory.
  if (!run || run->first > block.offset) return unreadable(block);
  names_.resize(std::max<std::size_t>(names_.size(), run->first + run->names.size()));
  name_ids_.resize(names_.size(), base::kNoString);
  for (std::size_t i = 0; i < run->names.size(); ++i) {
    names_[run->first + i] = run->names[i];
    name_ids_[run->first + i] = base::kNoString;
  }
}

void Assembly::take_thread(const wire::BlockView& block) {
  const auto info = wire::read_thread(block.payload);
  if (!info) return unreadable(block);
  Thread& thread = threads_[info->thread];
  thread.name = info->name;
  thread.system_id = std::to_string(info->system_id);
}

inline base::StringId Assembly::name_id(wire::NameId name) {
  constexpr std::string_view kLost = "(name lost)";
  if (name >= names_.size()) return rows_.intern(kLost);
  base::StringId& id = name_ids_[name];
  if (id == base::kNoString) id = rows_.intern(names_[name].empty() ? kLost : names_[name]);
  return id;
}

inline void Assembly::begin_range(Place& place, wire::NameId name, base::Nanos now) {
  const RowPlace row = rows_.add(
      {.name = name_id(name), .track = place.track, .start = now, .flags = trace::kUnclosed});
  place.open.push_back({name, row, now});
}

inline void Assembly::end_range(Place& place, wire::NameId name, base::Nanos now) {
  // The innermost of that name: generators may end out of order.
  const auto deepest = std::min(place.open.size(), kDeepestSearch);
  const auto last = place.open.rbegin() + static_cast<std::ptrdiff_t>(deepest);
  const auto open = std::find_if(place.open.rbegin(), last,
                                 [&](const OpenRange& range) { return range.name == name; });
  if (open == last) {
    rows_.note(Note::kEndWithoutBegin);
    return;
  }
  const base::Nanos length = now - open->start;
  const RowPlace row = open->row;
  place.open.erase(std::next(open).base());
  ++about_->ranges;
  rows_.at(row).flags = 0;
  if (length >= 0 && length <= trace::kAbsurdDuration) {
    rows_.set_duration(row, length);
    return;
  }
  rows_.note(length < 0 ? Note::kNegativeDuration : Note::kAbsurdDuration);
  rows_.at(row).flags = trace::kBadDuration;
}

void Assembly::take_events(const wire::BlockView& block) {
  rows_.begin_block(block.offset);
  Thread* thread = nullptr;  // a block is of one
  const auto read = wire::read_events(
      block.payload, [&](wire::ThreadId id, const wire::Record& one, std::uint64_t value) {
        if (thread == nullptr) thread = &threads_[id];
        // Nearly all are begins and ends.
        if (one.kind() == wire::RecordKind::kBegin && thread->place != nullptr) {
          begin_range(*thread->place, static_cast<wire::NameId>(one.what()),
                      clock_.elapsed_ns(one.ticks));
        } else if (one.kind() == wire::RecordKind::kEnd && thread->place != nullptr) {
          end_range(*thread->place, static_cast<wire::NameId>(one.what()),
                    clock_.elapsed_ns(one.ticks));
        } else {
          record(id, *thread, one, value);
        }
        rows_.count_record();
      });
  if (!read) unreadable(block);
}

void Assembly::record(wire::ThreadId id, Thread& thread, const wire::Record& record,
                      std::uint64_t value) {
  if (record.kind() == wire::RecordKind::kLane) {
    if (record.what() != thread.lane) thread.place = nullptr;
    thread.lane = record.what();
    return;
  }
  if (thread.place == nullptr) thread.place = &place_of(id, thread.lane);
  Place& place = *thread.place;
  const auto name = static_cast<wire::NameId>(record.what());
  const base::Nanos now = clock_.elapsed_ns(record.ticks);
  switch (record.kind()) {
    case wire::RecordKind::kBegin:
      begin_range(place, name, now);
      break;
    case wire::RecordKind::kEnd:
      end_range(place, name, now);
      break;
    case wire::RecordKind::kInstant:
      ++about_->instants;
      rows_.add(
          {.name = name_id(name), .track = place.track, .start = now, .phase = RawPhase::kInstant});
      break;
    case wire::RecordKind::kStep:
      note_thread_of_step(thread, record.what());
      mark_step(record.what(), static_cast<std::int64_t>(value), now);
      break;
    case wire::RecordKind::kCounter:
      counter(place, name, std::bit_cast<double>(value), now);
      break;
    case wire::RecordKind::kLane:
      break;
  }
}

Assembly::Place& Assembly::place_of(wire::ThreadId thread, std::uint64_t lane) {
  const auto key = lane == 0 ? std::pair(thread, std::uint64_t{0}) : std::pair(0U, lane);
  const auto [found, is_new] = places_.try_emplace(key);
  if (!is_new) return found->second;
  const std::string tid = lane == 0 ? threads_[thread].system_id : fmt::format("task {}", lane);
  found->second.track = rows_.track(pid_, tid, lane == 0 ? threads_[thread].name : tid);
  return found->second;
}

void Assembly::lose_marks() {
  last_step_.reset();
  marks_lost_ = true;
}

// A loader's thread may say where one begins.
void Assembly::note_thread_of_step(const Thread& thread, std::uint64_t mark) {
  if ((mark & wire::kStepBegins) != 0) return;
  if (std::ranges::find(about_->step_threads, thread.system_id) == about_->step_threads.end()) {
    about_->step_threads.push_back(thread.system_id);
  }
}

void Assembly::mark_step(std::uint64_t mark, std::int64_t number, base::Nanos now) {
  if ((mark & wire::kMarksLost) != 0) lose_marks();
  if ((mark & wire::kStepBegins) == 0) {
    step(number, now);
    // A step whose mark is missing, or whose beginning is, has no length: it is counted.
    if (marks_lost_ && last_number_ && number > *last_number_) {
      about_->lost_steps +=
          static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(*last_number_) - 1;
    }
    if (marks_lost_ && !last_step_) ++about_->lost_steps;
    last_number_ = number;
    marks_lost_ = false;
  }
  last_step_ = now;
}

// A step lasts from the mark before it. A range may begin in one and end in the next, so steps
// have a track of their own and do not take part in the nesting.
void Assembly::step(std::int64_t number, base::Nanos now) {
  if (last_step_ && now >= *last_step_) {
    if (!step_track_) step_track_ = rows_.track(pid_, kStepTrack, kStepTrack);
    ++about_->steps;
    rows_.add({.name = rows_.intern(trace::step_name(number)),
               .track = *step_track_,
               .start = *last_step_,
               .duration = now - *last_step_});
  }
}

void Assembly::counter(Place& place, wire::NameId name, double value, base::Nanos now) {
  ++about_->counter_values;
  const RowPlace row = rows_.add({.name = name_id(name),
                                  .track = place.track,
                                  .start = now,
                                  .category = RowCategory::kCounter,
                                  .phase = RawPhase::kCounter});
  rows_.add_counter(row, "value", value);
}

void Assembly::take_logs(const wire::BlockView& block) {
  const auto lines = wire::read_logs(block.payload);
  if (!lines) return unreadable(block);
  rows_.begin_block(block.offset);
  texts_->add_block(block.offset, about_->log.size(), lines->size());
  for (const wire::LogLine& line : *lines) {
    const std::uint32_t track = place_of(line.thread, line.lane).track;
    const base::Nanos now = clock_.elapsed_ns(line.ticks);
    about_->log.push_back(
        {.time = now,
         .step = line.step,
         .level = line.level,
         .logger = line.logger,
         .thread = threads_[line.thread].name,
         .text = line.text,
         .thread_id =
             base::parse_number<std::int64_t>(threads_[line.thread].system_id).value_or(-1)});
    rows_.add({.name = rows_.intern(first_line(line.text)),
               .track = track,
               .start = now,
               .category = RowCategory::kLog,
               .phase = RawPhase::kInstant});
    rows_.count_record();
  }
}

void Assembly::finish() {
  if (!about_->cost) log_.add(Note::kNotFinished);
  if (const base::Nanos set = clock_.largest_set(); set > 1'000'000) {
    about_->clock_set = set;
    log_.add(Note::kClockWasSet, base::ImportLog::kNowhere,
             fmt::format("by {} ms", set / 1'000'000));
  }
  if (first_anchor_) {
    about_->length = plausible(last_anchor_->monotonic_ns) - plausible(first_anchor_->monotonic_ns);
  }
  // The process was alive when it last looked at the clocks.
  const base::Nanos end =
      std::max(rows_.last_end(), last_anchor_ ? clock_.elapsed_ns(last_anchor_->ticks) : 0);
  for (const auto& [key, place] : places_) {
    for (const OpenRange& range : place.open) {
      ++about_->ranges;
      ++about_->open_ranges;
      const base::Nanos length = std::clamp<base::Nanos>(end - range.start, 0, kLongestOpen);
      rows_.set_duration(range.row, length);
      log_.add(Note::kUnclosedBegin, rows_.position(range.row));
    }
  }
  rows_.finish();
}

void Assembly::add_model(std::string_view text) {
  auto model = parse_model(text);
  if (model) {
    about_->model = std::make_shared<trace::ModelSummary>(*std::move(model));
  } else {
    log_.add(Note::kUnknownValue, base::ImportLog::kNowhere, "model.json " + model.error().message);
  }
}

trace::BuildInput Assembly::build_input(std::string_view file_name) {
  trace::BuildInput input;
  trace::Header& header = input.header;
  header.base_time_ns = base_ns_;
  for (const auto& [key, value] : process_) {
    if (key == "host") header.host = value;
    if (key == "pid") about_->pid = base::parse_number<std::int64_t>(value);
    if (key == "parent_pid") about_->parent_pid = base::parse_number<std::int64_t>(value);
    if (key == "rank") {
      if (const auto rank = base::parse_number<std::int64_t>(value))
        header.distributed.emplace().rank = rank;
    }
    header.metadata.emplace_back(key, base::json_string(value));
  }
  about_->is_worker = is_worker_file(file_name);
  header.process_record = about_;
  if (const auto& cost = about_->cost) {
    header.metadata.emplace_back(
        "recorder", fmt::format(R"({{"records":{},"dropped":{},"log_lines":{},"bytes":{},)"
                                R"("lost_bytes":{},"writer_cpu_ns":{}}})",
                                cost->records, cost->dropped, cost->log_lines, cost->bytes,
                                cost->lost_bytes, cost->writer_ns));
  }
  rows_.give_to(input);
  input.log = std::move(log_);
  input.source = texts_;
  input.decode = [](std::string_view raw) { return std::string(raw); };
  input.normalize = input.decode;
  return input;
}

}  // namespace stepscope::ingest::scope
