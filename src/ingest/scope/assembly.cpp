#include "ingest/scope/assembly.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/json_string.h"

namespace stepscope::ingest::scope {
namespace {

using base::Note;
using trace::RawPhase;

constexpr std::string_view kRange = "user_annotation";
constexpr std::string_view kLog = "log";
constexpr std::string_view kCounterCategory = "counter";
// A name is a column: a log line's first line, not its traceback.
constexpr std::size_t kLongestLogName = 200;

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), kLongestLogName));
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Assembly::Assembly() : lane_(std::make_unique<trace::Lane>(0)) {}

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
          base_ns_ = anchor->wall_ns;
        }
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
        return;
      }
      break;
    case wire::BlockKind::kEnd:
      cost_ = wire::read_end(block.payload);
      if (cost_) return;
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
  if (!run || run->first > names_.size() + block.offset) return unreadable(block);
  names_.resize(std::max<std::size_t>(names_.size(), run->first + run->names.size()));
  for (std::size_t i = 0; i < run->names.size(); ++i) names_[run->first + i] = run->names[i];
}

void Assembly::take_thread(const wire::BlockView& block) {
  const auto info = wire::read_thread(block.payload);
  if (!info) return unreadable(block);
  Thread& thread = threads_[info->thread];
  thread.name = info->name;
  thread.system_id = std::to_string(info->system_id);
}

void Assembly::begin_batch(std::uint64_t offset) {
  lane_->begin(offset);
  in_batch_ = 0;
}

void Assembly::end_batch() { batches_.push_back(lane_->finish()); }

void Assembly::take_events(const wire::BlockView& block) {
  begin_batch(block.offset);
  const auto thread = wire::read_events(
      block.payload, [&](wire::ThreadId id, const wire::Record& one, std::uint64_t value) {
        record(id, one, value);
        ++in_batch_;
      });
  if (!thread) unreadable(block);
  end_batch();
}

void Assembly::record(wire::ThreadId id, const wire::Record& record, std::uint64_t value) {
  Thread& thread = threads_[id];
  if (record.kind() == wire::RecordKind::kLane) {
    thread.lane = record.what();
    return;
  }
  const auto name = static_cast<wire::NameId>(record.what());
  const base::Nanos now = local(record.ticks);
  Place& place = place_of(id, thread.lane);
  switch (record.kind()) {
    case wire::RecordKind::kBegin:
      place.open.push_back({name, now});
      break;
    case wire::RecordKind::kEnd:
      end_range(place, name, now);
      break;
    case wire::RecordKind::kInstant:
      add_row(name_of(name), lane_->category(kRange, 0), place.track, now, 0, RawPhase::kInstant);
      break;
    case wire::RecordKind::kStep:
      if (record.what() == 0) step(place, static_cast<std::int64_t>(value), now);
      last_step_ = now;
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
  const std::string name = lane == 0 ? threads_[thread].name : tid;
  found->second.track = lane_->track(pid_, tid, in_batch_);
  lane_->labels.push_back(
      {found->second.track, trace::LabelRow::What::kThreadName, lane_->intern(name, in_batch_), 0});
  return found->second;
}

std::string_view Assembly::name_of(wire::NameId name) const {
  return name < names_.size() && !names_[name].empty() ? std::string_view(names_[name])
                                                       : std::string_view("(name lost)");
}

trace::EventRow& Assembly::add_row(std::string_view name, std::uint32_t category,
                                   std::uint32_t track, base::Nanos start, base::Nanos duration,
                                   RawPhase phase) {
  trace::EventRow row;
  row.start = start;
  row.duration = duration;
  row.name = lane_->intern(name, in_batch_);
  row.track = track;
  row.category = category;
  row.entry = lane_->entries();
  row.text_at = in_batch_;
  row.kind = lane_->category_kind(category);
  row.phase = phase;
  lane_->add_entry();
  lane_->events.push_back(row);
  return lane_->events.back();
}

void Assembly::end_range(Place& place, wire::NameId name, base::Nanos now) {
  // The innermost of that name: generators may end out of order.
  const auto open = std::find_if(place.open.rbegin(), place.open.rend(),
                                 [&](const OpenRange& range) { return range.name == name; });
  if (open == place.open.rend()) {
    lane_->note(Note::kEndWithoutBegin, in_batch_);
    return;
  }
  const base::Nanos start = open->start;
  place.open.erase(std::next(open).base());
  add_row(name_of(name), lane_->category(kRange, 0), place.track, start, now - start,
          RawPhase::kSpan);
}

// A step lasts from the mark before it.
void Assembly::step(Place& place, std::int64_t number, base::Nanos now) {
  if (last_step_) {
    add_row(fmt::format("ProfilerStep#{}", number), lane_->category(kRange, 0), place.track,
            *last_step_, now - *last_step_, RawPhase::kSpan);
  }
}

void Assembly::counter(Place& place, wire::NameId name, double value, base::Nanos now) {
  const std::uint32_t event = lane_->next_event();
  trace::EventRow& row = add_row(name_of(name), lane_->category(kCounterCategory, 0), place.track,
                                 now, 0, RawPhase::kCounter);
  row.kind = trace::Kind::kCounter;
  lane_->counters.push_back({event, lane_->intern("value", in_batch_), value});
}

void Assembly::take_logs(const wire::BlockView& block) {
  const auto lines = wire::read_logs(block.payload);
  if (!lines) return unreadable(block);
  begin_batch(block.offset);
  for (const wire::LogLine& line : *lines) {
    const std::uint32_t track = place_of(line.thread, line.lane).track;
    texts_->add(block.offset + in_batch_, line);
    add_row(first_line(line.text), lane_->category(kLog, 0), track, local(line.ticks), 0,
            RawPhase::kInstant);
    ++in_batch_;
  }
  end_batch();
}

void Assembly::finish() {
  if (!cost_) log_.add(Note::kNotFinished);
  if (const base::Nanos set = clock_.largest_set(); set > 1'000'000) {
    log_.add(Note::kClockWasSet, base::ImportLog::kNowhere,
             fmt::format("by {} ms", set / 1'000'000));
  }
  begin_batch(batches_.empty() ? 0 : batches_.back().text_offset + (1U << 20));
  for (const auto& [key, place] : places_) {
    for (const OpenRange& range : place.open) {
      add_row(name_of(range.name), lane_->category(kRange, 0), place.track, range.start, 0,
              RawPhase::kBegin);
      ++in_batch_;
    }
  }
  end_batch();
}

trace::BuildInput Assembly::build_input() {
  trace::BuildInput input;
  trace::Header& header = input.header;
  header.base_time_ns = base_ns_;
  for (const auto& [key, value] : process_) {
    if (key == "host") header.host = value;
    if (key == "rank") {
      if (const auto rank = number_in(value)) header.distributed.emplace().rank = rank;
    }
    header.metadata.emplace_back(key, base::json_string(value));
  }
  if (cost_) {
    header.metadata.emplace_back(
        "recorder", fmt::format(R"({{"records":{},"dropped":{},"log_lines":{},"bytes":{},)"
                                R"("lost_bytes":{},"writer_cpu_ns":{}}})",
                                cost_->records, cost_->dropped, cost_->log_lines, cost_->bytes,
                                cost_->lost_bytes, cost_->writer_ns));
  }
  input.lanes.push_back(std::move(lane_));
  input.batches = std::move(batches_);
  input.log = std::move(log_);
  input.source = texts_;
  input.decode = [](std::string_view raw) { return std::string(raw); };
  input.normalize = input.decode;
  return input;
}

}  // namespace stepscope::ingest::scope
