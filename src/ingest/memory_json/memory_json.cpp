// Reads memory timelines and dumped memory_stats.
#include "ingest/memory_json/memory_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ingest/damage.h"

namespace stepscope::ingest::memory_json {
namespace {

using base::Code;
using base::Note;
using memory::kTimelineCategories;
using memory::TimelinePoint;
using Json = nlohmann::json;

std::string without_space(std::string_view text) {
  std::string dense;
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') dense += c;
  }
  return dense;
}

base::Result<std::string> all_text(bytes::ByteSource& source, const ReadOptions& options,
                                   base::ImportLog& log) {
  std::string text;
  while (true) {
    if (options.stop != nullptr && options.stop->load()) {
      return base::fail(Code::kCancelled, "stopped");
    }
    const std::size_t before = text.size();
    // Numbers take a few bytes of text each and eight in memory.
    if (before > options.max_memory_bytes / 4) {
      return base::fail(
          Code::kLimit,
          source.name() + ": needs more memory than --max-memory allows; raise it to go on");
    }
    text.resize(before + (1u << 20));
    SCOPE_TRY(const std::size_t got, source.read(std::span(text).subspan(before)));
    text.resize(before + got);
    if (got == 0) break;
    if (options.progress) options.progress(source.file_position());
  }
  note_damage(source, log);
  return text;
}

memory::Source facts_of(const bytes::ByteSource& source, std::string format) {
  constexpr std::string_view kNames[] = {"plain", "gzip", "zstd"};
  return {.path = source.name(),
          .encoding = std::string(kNames[static_cast<std::size_t>(source.encoding())]),
          .format = std::move(format),
          .file_bytes = source.file_size().value_or(source.file_position()),
          .data_bytes = source.text_position()};
}

// Nested lists of numbers, without the tree: each innermost list is handed over when it closes.
class Lists : public nlohmann::json_sax<Json> {
 public:
  virtual bool row(const std::vector<std::int64_t>& numbers, int depth) = 0;

  bool null() override { return add(0); }
  bool boolean(bool value) override { return add(value ? 1 : 0); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    if (!(std::abs(value) < 9e18)) return false;
    return add(static_cast<std::int64_t>(std::llround(value)));
  }
  bool string(string_t& /*text*/) override { return false; }
  bool binary(binary_t& /*bytes*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return false; }
  bool key(string_t& /*key*/) override { return false; }
  bool end_object() override { return false; }
  bool start_array(std::size_t /*size*/) override {
    ++depth_;
    numbers_.clear();
    fresh_ = true;
    return depth_ <= 3;
  }
  bool end_array() override {
    const bool innermost = std::exchange(fresh_, false);
    const bool fine = !innermost || row(numbers_, depth_);
    numbers_.clear();
    --depth_;
    return fine;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    cut_at = position;
    return false;
  }

  std::size_t cut_at = 0;  // of the text, where it is no JSON any more

 private:
  bool add(std::int64_t value) {
    numbers_.push_back(value);
    return true;
  }
  std::vector<std::int64_t> numbers_;
  int depth_ = 0;
  bool fresh_ = false;
};

// [times, rows], a row being 0 and the bytes of the eight categories; or raw: a list of
// [time, action, change in bytes, category].
class TimelineLists final : public Lists {
 public:
  bool row(const std::vector<std::int64_t>& numbers, int depth) override {
    if (depth == 3) {
      if (numbers.size() != kTimelineCategories + 1) return false;
      TimelinePoint point;
      std::copy(numbers.begin() + 1, numbers.end(), point.alive.begin());
      points.push_back(point);
      return true;
    }
    if (depth != 2) return numbers.empty();
    if (numbers.size() == 4 && times.empty() && points.empty() && !is_curve) {
      changes.push_back({numbers[0], numbers[2], numbers[3]});
      return true;
    }
    is_curve = true;
    if (!times.empty()) return numbers.empty();
    times = numbers;
    return true;
  }

  struct Change {
    std::int64_t time, bytes, category;
  };
  std::vector<std::int64_t> times;
  std::vector<TimelinePoint> points;
  std::vector<Change> changes;
  bool is_curve = false;
};

// What was alive before the recording has the time -1.
void add_changes(const std::vector<TimelineLists::Change>& changes, memory::Timeline& timeline) {
  std::vector<TimelineLists::Change> sorted = changes;
  std::ranges::stable_sort(sorted, {}, &TimelineLists::Change::time);
  base::Nanos first = 0;
  for (const auto& change : sorted) {
    if (change.time < 0) continue;
    first = change.time;
    break;
  }
  TimelinePoint point;
  for (const auto& change : sorted) {
    const bool known =
        change.category >= 0 && std::cmp_less(change.category, kTimelineCategories - 1);
    const auto category =
        known ? static_cast<std::size_t>(change.category) : kTimelineCategories - 1;
    point.alive[category] += change.bytes;
    point.time = change.time < 0 ? first : change.time;
    if (!timeline.points.empty() && timeline.points.back().time == point.time) {
      timeline.points.back() = point;
    } else {
      timeline.points.push_back(point);
    }
  }
}

void flatten(const Json& value, const std::string& name, int depth, memory::Stats& stats) {
  constexpr int kDeepest = 8;
  if (value.is_number_integer()) {
    stats.values.emplace_back(name, value.get<std::int64_t>());
  } else if (value.is_number_float()) {
    const double real = value.get<double>();
    if (std::abs(real) < 9e18) {
      stats.values.emplace_back(name, static_cast<std::int64_t>(std::llround(real)));
    }
  } else if (value.is_object() && depth < kDeepest) {
    for (const auto& [key, member] : value.items()) {
      std::string path = name;
      if (!path.empty()) path += '.';
      path += key;
      flatten(member, path, depth + 1, stats);
    }
  }
}

}  // namespace

int sniff_timeline(std::string_view first_bytes) {
  const std::string dense = without_space(first_bytes.substr(0, 256));
  if (!dense.starts_with("[[") || dense.size() < 3) return 0;
  const char first = dense[2];
  const bool is_empty_list = dense.substr(2, 2) == "],";  // "[[]]" is a list of odd events
  return (first >= '0' && first <= '9') || first == '-' || is_empty_list ? 80 : 0;
}

base::Result<memory::Timeline> read_timeline(std::unique_ptr<bytes::ByteSource> source,
                                             const ReadOptions& options) {
  memory::Timeline timeline;
  SCOPE_TRY(const std::string text, all_text(*source, options, timeline.log));
  TimelineLists lists;
  const bool whole = Json::sax_parse(text, &lists);
  // Raw changes up to a cut are what happened up to then; a curve without all its rows is nothing.
  if (!whole && (lists.cut_at == 0 || lists.changes.empty())) {
    return base::fail(
        Code::kFormat,
        source->name() +
            ": looks like a memory timeline, but is none: expected [times, rows of nine "
            "numbers] or rows of [time, action, bytes, category]");
  }
  if (!whole) timeline.log.add(Note::kTruncated, lists.cut_at);
  if (lists.is_curve) {
    if (lists.times.size() != lists.points.size()) {
      return base::fail(Code::kFormat,
                        fmt::format("{}: a memory timeline with {} times for {} rows",
                                    source->name(), lists.times.size(), lists.points.size()));
    }
    timeline.points = std::move(lists.points);
    for (std::size_t i = 0; i < timeline.points.size(); ++i) {
      timeline.points[i].time = lists.times[i] * 1000;  // microseconds
    }
    std::ranges::stable_sort(timeline.points, {}, &TimelinePoint::time);
  } else {
    add_changes(lists.changes, timeline);
  }
  timeline.source =
      facts_of(*source, lists.is_curve ? "memory timeline" : "memory timeline, raw changes");
  return timeline;
}

int sniff_stats(std::string_view first_bytes) {
  const std::string dense = without_space(first_bytes);
  if (!dense.starts_with("{\"")) return 0;
  if (dense.find("\"traceEvents\"") != std::string::npos) return 0;
  const bool flat = dense.find("\"allocated_bytes.") != std::string::npos ||
                    dense.find("\"active_bytes.") != std::string::npos;
  const bool nested = dense.find("\"active_bytes\":{\"all\":{") != std::string::npos ||
                      dense.find("\"allocated_bytes\":{\"all\":{") != std::string::npos ||
                      dense.find("\"active\":{\"all\":{") != std::string::npos;
  return flat || nested ? 80 : 0;
}

base::Result<memory::Stats> read_stats(std::unique_ptr<bytes::ByteSource> source,
                                       const ReadOptions& options) {
  memory::Stats stats;
  SCOPE_TRY(const std::string text, all_text(*source, options, stats.log));
  constexpr std::size_t kLargest = std::size_t{16} << 20;  // real ones have a few KiB
  const Json json =
      text.size() > kLargest ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return base::fail(Code::kFormat,
                      source->name() + ": looks like torch.cuda.memory_stats, but is not JSON");
  }
  flatten(json.contains("memory_stats") ? json["memory_stats"] : json, "", 0, stats);
  stats.source = facts_of(*source, "torch.cuda.memory_stats");
  return stats;
}

}  // namespace stepscope::ingest::memory_json
