#include "emit/chrome/chrome_event.h"

#include "base/json_string.h"
#include "emit/chrome/chrome_args.h"
#include "emit/json/json_text.h"
#include "emit/json/json_value.h"
#include "emit/json/plain_run.h"
#include "emit/redaction/redact.h"

namespace stepscope::emit {
namespace {

constexpr base::Nanos kAbsurd = base::Nanos{31} * 86'400 * 1'000'000'000;

// The letter of a phase when the text does not say.
std::string_view letter_of(trace::Phase phase) {
  switch (phase) {
    case trace::Phase::kSpan:
      return "\"X\"";
    case trace::Phase::kInstant:
      return "\"i\"";
    case trace::Phase::kCounter:
      return "\"C\"";
    case trace::Phase::kAsyncSpan:
      return "\"b\"";
    case trace::Phase::kAsyncInstant:
      return "\"n\"";
  }
  return "\"i\"";
}

bool is_async(trace::Phase phase) {
  return phase == trace::Phase::kAsyncSpan || phase == trace::Phase::kAsyncInstant;
}

}  // namespace

void append_place(std::string& out, const Texts& texts, const std::string& text, bool is_number) {
  if (is_number && is_json_word(text)) {
    out += text;
  } else {
    append_string(out, texts.plain(text));
  }
}

void append_track(std::string& out, const Texts& texts, const trace::Track& track) {
  out += "\"pid\":";
  append_place(out, texts, track.process, track.pid.has_value());
  out += ",\"tid\":";
  append_place(out, texts, track.thread, track.tid.has_value());
}

bool ChromeEvents::append_event(std::string& out, trace::Row row) {
  scratch_.clear();
  identity_ = {};
  const base::Result<std::string> text = trace_.event_text(row);
  const bool is_whole = text.has_value() && rewrite(*text, row);
  if (!is_whole) make_from_columns(row);
  out += scratch_;
  return is_whole;
}

bool ChromeEvents::rewrite(std::string_view text, trace::Row row) {
  std::size_t at = skip_blanks(text, 0);
  if (at >= text.size() || text[at] != '{') return false;
  ++at;
  scratch_ += '{';
  first_member_ = true;
  Seen seen;
  while (true) {
    at = skip_blanks(text, at);
    if (at >= text.size()) return false;
    if (text[at] == '}') break;
    if (text[at] == ',') {
      ++at;
      continue;
    }
    at = member(text, at, row, seen);
    if (at == JsonCopier::kBeyondRepair) return false;
  }
  append_missing(row, seen);
  scratch_ += '}';
  return true;
}

// Copies the member whose key is at `at` and returns where it ends.
std::size_t ChromeEvents::member(std::string_view text, std::size_t at, trace::Row row,
                                 Seen& seen) {
  if (text[at] != '"') return JsonCopier::kBeyondRepair;
  const std::size_t key_end = string_end(text, at + 1, Place::kKey);
  const std::string_view raw = text.substr(at + 1, key_end - at - 1);
  const bool is_plain = plain_run(raw, 0) == raw.size();
  const std::string decoded = is_plain ? std::string() : base::decode_string(raw);
  const std::string_view key = is_plain ? raw : decoded;
  at = skip_blanks(text, key_end + 1);
  if (at >= text.size() || text[at] != ':') return JsonCopier::kBeyondRepair;
  at = skip_blanks(text, at + 1);
  if (at >= text.size()) return JsonCopier::kBeyondRepair;
  if (text[at] == ',' || text[at] == '}') return at;  // a name without a value says nothing

  if (!first_member_) scratch_ += ',';
  first_member_ = false;
  append_string(scratch_, redactor_ == nullptr ? key : redactor_->text(key));
  scratch_ += ':';
  const std::size_t value_at = scratch_.size();
  at = copier_.copy(text, at, key);
  if (at != JsonCopier::kBeyondRepair) settle_value(key, value_at, row, seen);
  return at;
}

// The value just copied may have to give way to what the columns say.
void ChromeEvents::settle_value(std::string_view key, std::size_t value_at, trace::Row row,
                                Seen& seen) {
  if (key == "args") return;
  const trace::Phase phase = trace_.phase()[row];
  if (key == "ts") {
    seen.time = true;
    scratch_.resize(value_at);
    append_micros(scratch_, trace_.start()[row]);
  } else if (key == "dur" && phase == trace::Phase::kSpan) {
    seen.duration = true;
    const std::string original = scratch_.substr(value_at);
    scratch_.resize(value_at);
    append_duration(row, original);
  } else if (key == "ph") {
    seen.phase = true;
    const std::string original = scratch_.substr(value_at);
    scratch_.resize(value_at);
    append_phase(row, original);
  } else if (copier_.repaired() || redactor_ != nullptr) {
    from_column(key, value_at, row);
  }
  if (is_async(phase)) remember(key, std::string_view(scratch_).substr(value_at));
}

// Names that had to be mended: the reader's idea of them is what counts.
void ChromeEvents::from_column(std::string_view key, std::size_t value_at, trace::Row row) {
  const trace::Track& track = trace_.tracks()[trace_.track()[row]];
  if (key == "name") {
    scratch_.resize(value_at);
    if (trace_.name()[row] == base::kNoString) {
      scratch_ += "null";
    } else {
      append_string(scratch_, texts_.name(trace_.name()[row]));
    }
  } else if (key == "cat") {
    scratch_.resize(value_at);
    append_string(scratch_, texts_.category(trace_.category()[row]));
  } else if (key == "pid" || key == "tid") {
    const bool is_pid = key == "pid";
    scratch_.resize(value_at);
    append_place(scratch_, texts_, is_pid ? track.process : track.thread,
                 is_pid ? track.pid.has_value() : track.tid.has_value());
  }
}

void ChromeEvents::remember(std::string_view key, std::string_view json) {
  if (key == "cat") identity_.category = json;
  if (key == "name") identity_.name = json;
  if (key == "pid") identity_.pid = json;
  if (key == "tid") identity_.tid = json;
  if (key == "id") identity_.id = json;
  if (key == "id2") identity_.id2 = json;
  if (key == "scope") identity_.scope = json;
}

void ChromeEvents::append_missing(trace::Row row, const Seen& seen) {
  const auto start = [&](std::string_view key) {
    if (!first_member_) scratch_ += ',';
    first_member_ = false;
    scratch_ += key;
  };
  if (!seen.phase) {
    start("\"ph\":");
    append_phase(row, letter_of(trace_.phase()[row]));
  }
  if (!seen.time) {
    start("\"ts\":");
    append_micros(scratch_, trace_.start()[row]);
  }
  if (!seen.duration && trace_.phase()[row] == trace::Phase::kSpan && !is_open_span(row)) {
    start("\"dur\":");
    append_duration(row, {});
  }
}

// A begin that was joined with its end goes out complete; one that never ended stays open.
void ChromeEvents::append_phase(trace::Row row, std::string_view original) {
  if (trace_.phase()[row] == trace::Phase::kSpan) {
    scratch_ += is_open_span(row) ? "\"B\"" : "\"X\"";
  } else {
    scratch_ += original;
  }
}

// A duration that cannot be true stays as it was, so that whoever reads the file again sees it too.
void ChromeEvents::append_duration(trace::Row row, std::string_view original) {
  if ((trace_.flags()[row] & trace::kBadDuration) == 0) {
    append_micros(scratch_, trace_.duration()[row]);
  } else if (original.empty() || original == "null") {
    scratch_ += "-0.001";
  } else {
    scratch_ += original;
  }
}

void ChromeEvents::append_async_end(std::string& out, trace::Row row, const Identity& identity,
                                    const trace::Track* elsewhere) const {
  out += "{\"ph\":\"e\"";
  const auto member = [&](std::string_view key, const std::string& json) {
    if (json.empty()) return;
    out += key;
    out += json;
  };
  member(",\"cat\":", identity.category);
  member(",\"name\":", identity.name);
  if (elsewhere != nullptr) {
    out += ',';
    append_track(out, texts_, *elsewhere);
  } else {
    member(",\"pid\":", identity.pid);
    member(",\"tid\":", identity.tid);
  }
  member(",\"id\":", identity.id);
  member(",\"id2\":", identity.id2);
  member(",\"scope\":", identity.scope);
  out += ",\"ts\":";
  const bool is_bad = (trace_.flags()[row] & trace::kBadDuration) != 0;
  append_micros(out, trace_.start()[row] + (is_bad ? kAbsurd : trace_.duration()[row]));
  out += '}';
}

void ChromeEvents::append_flow(std::string& out, std::uint32_t index) const {
  const trace::FlowTable& flows = trace_.flows();
  const char phase = flows.phase[index];
  Members members(out);
  members.text("ph", std::string_view(&phase, 1));
  append_integer(members.key("id"), texts_.flow_id(flows.id[index]));
  append_track(members.next(), texts_, trace_.tracks()[flows.track[index]]);
  append_micros(members.key("ts"), flows.time[index]);
  const std::string category = texts_.category_text(flows.category[index]);
  if (!category.empty()) members.text("cat", category);
  if (flows.name[index] != base::kNoString) members.text("name", texts_.name(flows.name[index]));
  // The arrow ends at the slice around its point; without this, at the next slice.
  if (phase == 'f') members.text("bp", "e");
  members.close();
}

void ChromeEvents::make_from_columns(trace::Row row) {
  scratch_.clear();
  const trace::Phase phase = trace_.phase()[row];
  Members members(scratch_);
  members.key("ph");
  append_phase(row, letter_of(phase));
  members.text("cat", texts_.category(trace_.category()[row]));
  if (trace_.name()[row] != base::kNoString) {
    members.text("name", texts_.name(trace_.name()[row]));
  }
  append_track(members.next(), texts_, trace_.tracks()[trace_.track()[row]]);
  append_micros(members.key("ts"), trace_.start()[row]);
  if (phase == trace::Phase::kSpan && !is_open_span(row)) {
    members.key("dur");
    append_duration(row, {});
  }
  if (phase == trace::Phase::kInstant) members.text("s", "t");
  if (is_async(phase)) {
    // Which events belonged together is known only to the text: each gets an id of its own.
    append_integer(members.key("id"), std::uint64_t{trace_.ordinal()[row]});
    const trace::Track& track = trace_.tracks()[trace_.track()[row]];
    append_string(identity_.category, texts_.category(trace_.category()[row]));
    append_place(identity_.pid, texts_, track.process, track.pid.has_value());
    append_place(identity_.tid, texts_, track.thread, track.tid.has_value());
    append_integer(identity_.id, std::uint64_t{trace_.ordinal()[row]});
  }
  append_args(members, trace_, texts_, row);
  members.close();
}

}  // namespace stepscope::emit
