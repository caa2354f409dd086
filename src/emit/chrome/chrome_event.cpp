// One event, its arguments and the header of a trace in Chrome's format.
#include "emit/chrome/chrome_event.h"

#include <algorithm>
#include <string>

#include "base/json_string.h"
#include "emit/json/json_copier.h"
#include "emit/json/json_text.h"
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

namespace {

constexpr std::uint32_t kChromeArgsNone = base::RowSet::kNone;
constexpr std::int64_t kChromeArgsAbsent = -1;
constexpr std::uint64_t kChromeArgsNoCommsId = ~std::uint64_t{0};

// Kineto writes large ids as numbers too, so these are not quoted from 2^53 on.
void id(Members& args, std::string_view key, std::int64_t value) {
  if (value != kChromeArgsAbsent) append_integer(args.key(key), value);
}

void string_chrome_args(Members& args, const Texts& texts, std::string_view key,
                        base::StringId value) {
  if (value != base::kNoString) args.text(key, texts.name(value));
}

template <class Int>
void triple_chrome_args(Members& args, std::string_view key, Int x, Int y, Int z) {
  if (x == 0 && y == 0 && z == 0) return;
  Elements elements(args.key(key));
  for (const Int value : {x, y, z}) append_integer(elements.next(), std::uint64_t{value});
  elements.close();
}

// The column holds JSON.
void json(Members& args, const Texts& texts, std::string_view key, base::StringId value) {
  if (value == base::kNoString) return;
  std::string copy;
  const bool is_whole =
      JsonCopier(copy, nullptr).copy(texts.name(value), 0, key) != JsonCopier::kBeyondRepair;
  if (is_whole) args.key(key) += copy;
}

void op(Members& args, const trace::Trace& trace, const Texts& texts, std::uint32_t at) {
  const trace::OpTable& ops = trace.ops();
  id(args, "External id", ops.external_id[at]);
  id(args, "Sequence number", ops.sequence[at]);
  id(args, "Fwd thread id", ops.forward_thread[at]);
  if (ops.signature[at] == trace::kNoSignature) return;
  const trace::Signature& inputs = trace.signatures()[ops.signature[at]];
  json(args, texts, "Input Dims", inputs.dims);
  json(args, texts, "Input type", inputs.types);
  json(args, texts, "Input Strides", inputs.strides);
  json(args, texts, "Concrete Inputs", inputs.concrete);
}

void stack(Members& args, const Texts& texts, const trace::StackTable& stacks, std::uint32_t at) {
  string_chrome_args(args, texts, "Call stack", stacks.call_stack[at]);
  string_chrome_args(args, texts, "Module Hierarchy", stacks.module_hierarchy[at]);
}

void launch(Members& args, const trace::LaunchTable& launches, std::uint32_t at) {
  id(args, "External id", launches.external_id[at]);
  id(args, "correlation", launches.correlation[at]);
}

void device_chrome_args(Members& args, const trace::DeviceTable& table, std::uint32_t at) {
  id(args, "External id", table.external_id[at]);
  id(args, "device", table.device[at]);
  id(args, "context", table.context[at]);
  id(args, "stream", table.stream[at]);
  id(args, "correlation", table.correlation[at]);
}

void kernel_chrome_args(Members& args, const trace::KernelTable& kernels, std::uint32_t at) {
  if (kernels.registers[at] != 0) id(args, "registers per thread", kernels.registers[at]);
  id(args, "shared memory", kernels.shared_memory[at]);
  args.number("blocks per SM", kernels.blocks_per_sm[at]);
  args.number("warps per SM", kernels.warps_per_sm[at]);
  triple_chrome_args(args, "grid", kernels.grid_x[at], kernels.grid_y[at], kernels.grid_z[at]);
  triple_chrome_args(args, "block", kernels.block_x[at], kernels.block_y[at], kernels.block_z[at]);
  args.number("est. achieved occupancy %", kernels.occupancy_percent[at]);
  id(args, "graph id", kernels.graph_id[at]);
  id(args, "graph node id", kernels.graph_node[at]);
}

void copy(Members& args, const trace::CopyTable& copies, std::uint32_t at) {
  id(args, "bytes", copies.bytes[at]);
  args.number("memory bandwidth (GB/s)", copies.bandwidth_gbps[at]);
}

void sync_chrome_args(Members& args, const Texts& texts, const trace::SyncTable& syncs,
                      std::uint32_t at) {
  string_chrome_args(args, texts, "cuda_sync_kind", syncs.what[at]);
  id(args, "wait_on_stream", syncs.wait_on_stream[at]);
  id(args, "wait_on_cuda_event_record_corr_id", syncs.wait_on_record[at]);
  id(args, "wait_on_cuda_event_id", syncs.event_id[at]);
}

void memory_chrome_args(Members& args, const trace::MemoryTable& events, std::uint32_t at) {
  append_integer(args.key("Addr"), events.address[at]);
  append_integer(args.key("Bytes"), events.bytes[at]);
  id(args, "Total Allocated", events.total_allocated[at]);
  id(args, "Total Reserved", events.total_reserved[at]);
  id(args, "Device Type", events.device_type[at]);
  id(args, "Device Id", events.device_id[at]);
}

void collective_chrome_args(Members& args, const Texts& texts, const trace::CollectiveTable& table,
                            std::uint32_t at) {
  string_chrome_args(args, texts, "Collective name", table.name[at]);
  string_chrome_args(args, texts, "dtype", table.dtype[at]);
  id(args, "In msg nelems", table.in_elements[at]);
  id(args, "Out msg nelems", table.out_elements[at]);
  id(args, "Group size", table.group_size[at]);
  string_chrome_args(args, texts, "Process Group Name", table.group_name[at]);
  string_chrome_args(args, texts, "Process Group Description", table.group_description[at]);
  string_chrome_args(args, texts, "Process Group Ranks", table.group_ranks[at]);
  string_chrome_args(args, texts, "In split size", table.in_split[at]);
  string_chrome_args(args, texts, "Out split size", table.out_split[at]);
  id(args, "Rank", table.rank[at]);
  id(args, "Seq", table.sequence[at]);
  if (table.comms_id[at] != kChromeArgsNoCommsId)
    append_integer(args.key("Comms Id"), table.comms_id[at]);
  id(args, "Src Rank", table.source_rank[at]);
  id(args, "Dst Rank", table.destination_rank[at]);
  if (table.asynchronous[at] >= 0) {
    args.key("Is asynchronized op") += table.asynchronous[at] != 0 ? "true" : "false";
  }
}

void counters(Members& args, const trace::Trace& trace, const Texts& texts, trace::Row row) {
  const auto rows = trace.counters().row.span();
  const auto [first, last] = std::equal_range(rows.begin(), rows.end(), row);
  for (auto at = first; at != last; ++at) {
    const auto i = static_cast<std::size_t>(at - rows.begin());
    append_string(args.next(), texts.name(trace.counters().series[i]));
    args.value() += ':';
    append_float(args.value(), trace.counters().value[i]);
  }
}

}  // namespace

void append_args(Members& event, const trace::Trace& trace, const Texts& texts, trace::Row row) {
  std::string text;
  Members args(text);
  const auto each = [&](const base::RowSet& rows, auto write) {
    if (const std::uint32_t at = rows.find(row); at != kChromeArgsNone) write(at);
  };
  each(trace.ops().rows, [&](auto at) { op(args, trace, texts, at); });
  each(trace.flops().rows, [&](auto at) { id(args, "flops", trace.flops().flops[at]); });
  each(trace.stacks().rows, [&](auto at) { stack(args, texts, trace.stacks(), at); });
  each(trace.python().rows,
       [&](auto at) { id(args, "Python module id", trace.python().module_id[at]); });
  each(trace.launches().rows, [&](auto at) { launch(args, trace.launches(), at); });
  each(trace.device().rows, [&](auto at) { device_chrome_args(args, trace.device(), at); });
  each(trace.kernels().rows, [&](auto at) { kernel_chrome_args(args, trace.kernels(), at); });
  each(trace.copies().rows, [&](auto at) { copy(args, trace.copies(), at); });
  each(trace.syncs().rows, [&](auto at) { sync_chrome_args(args, texts, trace.syncs(), at); });
  each(trace.memory_events().rows,
       [&](auto at) { memory_chrome_args(args, trace.memory_events(), at); });
  each(trace.collectives().rows,
       [&](auto at) { collective_chrome_args(args, texts, trace.collectives(), at); });
  if (trace.phase()[row] == trace::Phase::kCounter ||
      trace.kind()[row] == trace::Kind::kProfilerRange) {
    counters(args, trace, texts, row);
  }
  args.close();
  if (text.size() > 2) event.key("args") += text;
}

namespace {

// Free text of the profiler and of the user's environment: not worth the risk.
bool is_log(std::string_view key) { return key == "INFO" || key == "WARNING" || key == "ERROR"; }
bool is_setting(std::string_view key) { return key.starts_with("PT_PROFILER_"); }

bool is_left_out(std::string_view key, std::string_view json, const Redactor& redactor) {
  if (!is_setting(key)) return false;
  const std::string text = base::decode_json(json);
  return redactor.value(key, text) != text;
}

void append_value(std::string& out, std::string_view key, std::string_view json,
                  const Redactor* redactor) {
  if (redactor != nullptr && is_log(key)) {
    out += "[]";
    return;
  }
  const std::size_t value_at = out.size();
  JsonCopier copier(out, redactor);
  if (copier.copy(json, 0, key) != JsonCopier::kBeyondRepair) return;
  // Text that is no JSON at all: kept as a string, so that the file stays readable.
  out.resize(value_at);
  append_string(out, redactor == nullptr ? std::string(json) : redactor->value(key, json));
}

}  // namespace

void append_chrome_header(std::string& out, const trace::Header& header, const Redactor* redactor) {
  if (header.bare_array) {
    out += '[';
    return;
  }
  out += '{';
  for (const auto& [key, json] : header.metadata) {
    if (redactor != nullptr && is_left_out(key, json, *redactor)) continue;
    out += '\n';
    append_string(out, redactor == nullptr ? key : redactor->text(key));
    out += ": ";
    append_value(out, key, json, redactor);
    out += ',';
  }
  out += "\n\"traceEvents\": [";
}

}  // namespace stepscope::emit
