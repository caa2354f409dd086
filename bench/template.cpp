#include "template.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "json_cursor.h"

namespace stepscope::bench {
namespace {

struct Key {
  std::string_view name;
  Field field;
  bool zero_is_none;
};

constexpr Key kArguments[] = {
    {"External id", Field::kOperation, true},
    {"external id", Field::kOperation, true},
    {"external ts", Field::kTime, true},
    {"Ev Idx", Field::kEvent, false},
    {"Profiler Event Index", Field::kEvent, false},
    {"correlation", Field::kCorrelation, true},
    {"wait_on_cuda_event_record_corr_id", Field::kCorrelation, true},
    {"Sequence number", Field::kSequence, false},
    {"Python id", Field::kPython, false},
    {"Python parent id", Field::kPython, false},
    {"Record function id", Field::kRecordFunction, true},
    {"Seq", Field::kCollective, false},
};

constexpr std::string_view kStepPrefix = "ProfilerStep#";

struct Event {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Slot> slots;  // positions in the template
  std::optional<Slot> time;
  std::optional<Slot> duration;
  bool once = false;
};

// The whole part of a number, which may stand in quotes. Fractions are never shifted: all shifts
// are whole, so the digits after the point stay as they are.
std::optional<Slot> slot_at(const std::string& text, std::string_view value, Field field) {
  std::size_t begin = static_cast<std::size_t>(value.data() - text.data());
  if (value.front() == '"') ++begin;
  std::uint64_t number = 0;
  const char* const first = text.data() + begin;
  const auto [last, error] = std::from_chars(first, text.data() + text.size(), number);
  if (error != std::errc{} || last == first) return std::nullopt;
  return Slot{begin, begin + static_cast<std::size_t>(last - first), number, field};
}

bool is_launch_flow(std::string_view category) {
  return category == "ac2g" || category.starts_with("async_");
}

class EventReader {
 public:
  explicit EventReader(const std::string& text) : text_(text) {}

  Event read(JsonCursor& cursor) {
    Event event;
    std::string_view phase, category, name;
    std::optional<Slot> flow;
    event.begin = cursor.at();
    cursor.object([&](std::string_view key) {
      if (key == "args" && cursor.peek() == '{') {
        read_arguments(cursor, event);
        return;
      }
      const std::string_view value = cursor.value();
      if (key == "ph") phase = unquoted(value);
      if (key == "cat") category = unquoted(value);
      if (key == "name") name = unquoted(value);
      if (key == "id") flow = slot_at(text_, value, Field::kFlow);
      if (key == "ts") event.time = slot_at(text_, value, Field::kTime);
      if (key == "dur") event.duration = slot_at(text_, value, Field::kTime);
    });
    event.end = cursor.at();
    if (flow && is_launch_flow(category)) flow->field = Field::kCorrelation;
    if (flow) event.slots.push_back(*flow);
    if (event.time) event.slots.push_back(*event.time);
    if (name.starts_with(kStepPrefix)) add_step(event, name);
    const bool span = category == "Trace";
    const bool window_end = name == "Record Window End";
    event.once = phase == "M" || span || window_end || name.starts_with("Iteration Start:");
    if (event.once) {
      // Of what is written once, only the end of the recording moves with the number of copies.
      event.slots.clear();
      if (span && event.duration) event.slots.push_back(*event.duration);
      if (window_end && event.time) event.slots.push_back(*event.time);
    }
    std::sort(event.slots.begin(), event.slots.end(),
              [](const Slot& a, const Slot& b) { return a.begin < b.begin; });
    return event;
  }

 private:
  static std::string_view unquoted(std::string_view value) {
    return value.size() < 2 || value.front() != '"' ? value : value.substr(1, value.size() - 2);
  }

  void read_arguments(JsonCursor& cursor, Event& event) {
    cursor.object([&](std::string_view key) {
      const std::string_view value = cursor.value();
      for (const Key& known : kArguments) {
        if (key != known.name) continue;
        const std::optional<Slot> slot = slot_at(text_, value, known.field);
        if (slot && !(known.zero_is_none && slot->value == 0)) event.slots.push_back(*slot);
      }
    });
  }

  void add_step(Event& event, std::string_view name) {
    name.remove_prefix(kStepPrefix.size());
    if (name.empty()) return;
    if (const auto slot = slot_at(text_, name, Field::kStep)) event.slots.push_back(*slot);
  }

  const std::string& text_;
};

void find_events(JsonCursor& cursor) {
  if (cursor.take('[')) return;
  cursor.expect('{');
  for (;;) {
    const bool found = cursor.string() == "traceEvents";
    cursor.expect(':');
    if (found) {
      cursor.expect('[');
      return;
    }
    cursor.value();
    cursor.expect(',');
  }
}

void append(Block& block, const std::string& text, const Event& event) {
  const std::size_t moved = block.text.size();
  block.text.append(text, event.begin, event.end - event.begin);
  for (Slot slot : event.slots) {
    slot.begin = slot.begin - event.begin + moved;
    slot.end = slot.end - event.begin + moved;
    block.slots.push_back(slot);
  }
}

// One more than the distance from the smallest to the largest number: the next copy follows on.
class Ranges {
 public:
  void include(const Event& event) {
    for (const Slot& slot : event.slots) include(slot.field, slot.value);
    if (event.time && event.duration) {
      include(Field::kTime, event.time->value + event.duration->value + 1);
    }
  }

  std::array<std::uint64_t, kFieldCount> shifts() const {
    std::array<std::uint64_t, kFieldCount> shift{};
    for (std::size_t i = 0; i < kFieldCount; ++i) {
      if (low_[i] <= high_[i]) shift[i] = high_[i] - low_[i] + 1;
    }
    return shift;
  }

 private:
  void include(Field field, std::uint64_t value) {
    const auto i = static_cast<std::size_t>(field);
    low_[i] = std::min(low_[i], value);
    high_[i] = std::max(high_[i], value);
  }

  std::array<std::uint64_t, kFieldCount> low_ = filled(~std::uint64_t{0});
  std::array<std::uint64_t, kFieldCount> high_{};

  static std::array<std::uint64_t, kFieldCount> filled(std::uint64_t value) {
    std::array<std::uint64_t, kFieldCount> all{};
    all.fill(value);
    return all;
  }
};

}  // namespace

Template cut_template(const std::string& text) {
  JsonCursor cursor(text, 0);
  find_events(cursor);

  Template result;
  Ranges ranges;
  EventReader reader(text);
  std::size_t last_end = 0;  // where the last event ended
  while (cursor.peek() != ']') {
    const Event event = reader.read(cursor);
    const std::string gap = text.substr(last_end, event.begin - last_end);
    if (result.join.empty() && last_end > 0) result.join = gap;
    if (last_end == 0) result.header = gap;
    last_end = event.end;
    cursor.take(',');
    if (event.once) {
      ++result.other_events;
      if (result.body_events == 0) {
        // Nothing in the header is shifted; the end of a recording does not stand there.
        result.header.append(text, event.begin, event.end - event.begin);
        result.header += ",\n  ";
      } else {
        result.footer.text += gap;
        append(result.footer, text, event);
      }
      continue;
    }
    if (result.body_events > 0) result.body.text += gap;
    append(result.body, text, event);
    ranges.include(event);
    ++result.body_events;
  }
  if (result.body_events == 0) throw std::runtime_error("the template has no events to repeat");
  if (result.join.empty()) result.join = ",\n  ";
  result.footer.text.append(text, last_end);
  result.shift = ranges.shifts();
  return result;
}

}  // namespace stepscope::bench
