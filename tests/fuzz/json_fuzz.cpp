// Any bytes give a trace or an Error: no crash, no hang, no memory beyond a multiple of the input.
// Text in which the reference reader understands every event means the same to the fast one,
// whatever the size of blocks. Where it gives an event up, the fast reader may do better, but has
// every whole event that the reference one has (docs/design/0002).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bytes/source.h"
#include "bytes/streamed_for_tests.h"
#include "ingest/kineto/kineto.h"
#include "trace/trace.h"

namespace {

using namespace stepscope;
using base::Note;

// A running hash of everything a trace holds; differs where two traces differ, but for bad luck.
class Digest {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash_ = (hash_ ^ bytes.size()) * 0x100000001b3;
  }
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T value) {
    add(std::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
  }
  template <class Column>
  void column(const Column& values) {
    add(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) add(values[i]);
  }
  // Strings by what they say: their numbers depend on what else was read.
  template <class... Column>
  void texts(const trace::Trace& trace, const Column&... ids) {
    const auto add_texts = [&](const auto& column) {
      for (std::size_t i = 0; i < column.size(); ++i) {
        add(column[i] == base::kNoString);
        add(trace.text(column[i]));
      }
    };
    (add_texts(ids), ...);
  }
  template <class... Column>
  void columns(const base::RowSet& rows, const Column&... values) {
    rows.for_each([this](std::uint32_t row, std::uint32_t) { add(row); });
    (column(values), ...);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

void add_events(Digest& digest, const trace::Trace& trace) {
  digest.add(trace.entries());
  for (trace::Row row = 0; row < trace.size(); ++row) {
    digest.add(trace.name_text(row));
    digest.add(trace.category_text(row));
    digest.add(trace.text_offset(row));
  }
  digest.column(trace.start());
  digest.column(trace.duration());
  digest.column(trace.kind());
  digest.column(trace.phase());
  digest.column(trace.flags());
  digest.column(trace.track());
  digest.column(trace.parent());
  digest.column(trace.ordinal());
  for (const trace::Track& track : trace.tracks()) {
    for (const std::string& text : {track.process, track.thread, track.process_name,
                                    track.process_labels, track.thread_name}) {
      digest.add(std::string_view(text));
    }
    digest.add(track.device);
    digest.add(track.stream);
    digest.add(track.end);
  }
}

void add_tables(Digest& digest, const trace::Trace& trace) {
  const auto& ops = trace.ops();
  digest.columns(ops.rows, ops.external_id, ops.sequence, ops.forward_thread);
  const auto& launches = trace.launches();
  digest.columns(launches.rows, launches.correlation, launches.external_id, launches.op,
                 launches.first, launches.work);
  const auto& device = trace.device();
  digest.columns(device.rows, device.device, device.stream, device.context, device.correlation,
                 device.external_id, device.launch);
  const auto& kernels = trace.kernels();
  digest.columns(kernels.rows, kernels.grid_x, kernels.grid_y, kernels.grid_z, kernels.block_x,
                 kernels.block_y, kernels.block_z, kernels.registers, kernels.shared_memory,
                 kernels.blocks_per_sm, kernels.warps_per_sm, kernels.occupancy_percent,
                 kernels.graph_id, kernels.graph_node);
  digest.columns(trace.copies().rows, trace.copies().bytes, trace.copies().bandwidth_gbps);
  const auto& syncs = trace.syncs();
  digest.columns(syncs.rows, syncs.wait_on_stream, syncs.wait_on_record, syncs.event_id);
  digest.texts(trace, syncs.what);
  const auto& memory = trace.memory_events();
  digest.columns(memory.rows, memory.address, memory.bytes, memory.total_allocated,
                 memory.total_reserved, memory.device_type, memory.device_id);
  const auto& comms = trace.collectives();
  digest.columns(comms.rows, comms.in_elements, comms.out_elements, comms.sequence, comms.comms_id,
                 comms.group_size, comms.rank, comms.source_rank, comms.destination_rank,
                 comms.asynchronous);
  digest.texts(trace, comms.name, comms.dtype, comms.group_name, comms.group_description,
               comms.group_ranks, comms.in_split, comms.out_split);
  digest.column(trace.counters().row);
  digest.texts(trace, trace.counters().series);
  digest.column(trace.counters().value);
  const auto& flows = trace.flows();
  digest.column(flows.id);
  digest.column(flows.time);
  digest.column(flows.track);
  digest.column(flows.ordinal);
  digest.column(flows.phase);
  digest.texts(trace, flows.category, flows.name);
  digest.columns(trace.backward().rows, trace.backward().forward);
}

void add_rest(Digest& digest, const trace::Trace& trace) {
  digest.add(trace.steps().source);
  for (const trace::Step& step : trace.steps().list) {
    digest.add(step.number);
    digest.add(step.start);
    digest.add(step.end);
  }
  digest.add(trace.span().start);
  digest.add(trace.span().end);
  for (const auto& [key, value] : trace.header().metadata) {
    digest.add(std::string_view(key));
    digest.add(std::string_view(value));
  }
}

using Part = void (*)(Digest&, const trace::Trace&);

std::uint64_t digest_of(const trace::Trace& trace, Part part) {
  Digest digest;
  part(digest, trace);
  return digest.value();
}

base::Result<trace::Trace> read(const std::string& bytes, bool reference_reader,
                                std::size_t block_bytes) {
  ingest::ReadOptions options;
  options.reference_only = reference_reader;
  options.block_bytes = block_bytes;
  // The two ways to come by blocks are held to each other, too.
  return ingest::kineto::read(options.reference_only ? bytes::streamed_source("fuzz.json", bytes)
                                                     : bytes::memory_source("fuzz.json", bytes),
                              options);
}

[[noreturn]] void differ(std::string_view what) {
  std::fprintf(stderr, "the fast and the reference reader differ: %.*s\n",
               static_cast<int>(what.size()), what.data());
  std::abort();
}

void compare_notes(const base::ImportLog& reference, const base::ImportLog& fast) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Note::kCount); ++i) {
    const auto& wanted = reference[static_cast<Note>(i)];
    const auto& found = fast[static_cast<Note>(i)];
    if (wanted.count == found.count && wanted.offset == found.offset &&
        wanted.detail == found.detail) {
      continue;
    }
    std::fprintf(stderr, "%s: reference %zu, first at %zd (%s); fast %zu, first at %zd (%s)\n",
                 base::info_of(static_cast<Note>(i)).id.data(), std::size_t{wanted.count},
                 static_cast<std::ptrdiff_t>(wanted.offset), wanted.detail.c_str(),
                 std::size_t{found.count}, static_cast<std::ptrdiff_t>(found.offset),
                 found.detail.c_str());
    differ("notes");
  }
}

// Whether the characters of numbers stand together somewhere as no number does: +5, .5 or e5.
bool has_odd_number(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kOfNumbers = "0123456789+-.eE";
  for (std::size_t at = 0; (at = bytes.find_first_of(kOfNumbers, at)) != bytes.npos;) {
    const std::size_t first = at + (bytes[at] == '-' ? 1 : 0);
    if (first == bytes.size() || kDigits.find(bytes[first]) == kDigits.npos) return true;
    at = bytes.find_first_not_of(kOfNumbers, at);
  }
  return false;
}

// Whether the text is damaged in a way for which nothing is promised: an event was given up, a
// member without a colon reads to the reference one like a name with quotes inside, or an almost
// number was not noticed where it is not read.
bool is_beyond_promise(std::string_view bytes, const base::ImportLog& reference,
                       const base::ImportLog& fast) {
  const auto missed = [&](Note note) { return reference.count(note) > fast.count(note); };
  return reference.count(Note::kUnreadableEvent) != 0 || missed(Note::kUnescapedQuote) ||
         (missed(Note::kBareWord) && has_odd_number(bytes));
}

// Whether the text at `at` begins with an object that is JSON, and a span by itself.
bool is_whole_span(std::string_view bytes, std::uint64_t at) {
  std::istringstream text{std::string(bytes.substr(at))};
  // Keeps one value and stops after it, unlike parse() on a string.
  nlohmann::json event;
  nlohmann::detail::json_sax_dom_parser<nlohmann::json> keeper(event, false);
  if (!nlohmann::json::sax_parse(text, &keeper, nlohmann::json::input_format_t::json, false)) {
    return false;
  }
  return event.is_object() && event.value("ph", nlohmann::json()) == "X";
}

// After its last event the fast one may have met a bracket that the reference one passed over.
void compare_whole_events(std::string_view bytes, const trace::Trace& reference,
                          const trace::Trace& fast) {
  std::set<std::uint64_t> kept;
  for (trace::Row row = 0; row < fast.size(); ++row) kept.insert(fast.text_offset(row));
  for (trace::Row row = 0; row < reference.size(); ++row) {
    const std::uint64_t at = reference.text_offset(row);
    const bool is_between = !kept.empty() && at < *kept.rbegin();
    if (is_between && !kept.contains(at) && is_whole_span(bytes, at)) {
      differ("the fast one lost an event");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const base::Result<trace::Trace> reference = read(bytes, true, std::size_t{1} << 16);
  const base::Result<trace::Trace> fast = read(bytes, false, 64 + size % 193);
  if (!reference) {
    // Nothing could be read. Of damaged text the fast reader may have got something.
    if (fast && nlohmann::json::accept(bytes)) differ("only the reference one fails");
    return 0;
  }
  if (!fast) {
    const bool is_damaged = reference->log().count(Note::kUnreadableEvent) != 0;
    if (!is_damaged || nlohmann::json::accept(bytes)) differ("only the fast one fails");
    return 0;
  }
  if (is_beyond_promise(bytes, reference->log(), fast->log()) && !nlohmann::json::accept(bytes)) {
    compare_whole_events(bytes, *reference, *fast);
    return 0;
  }
  compare_notes(reference->log(), fast->log());
  for (const auto& [name, part] : {std::pair<const char*, Part>{"events", add_events},
                                   {"tables", add_tables},
                                   {"header and steps", add_rest}}) {
    if (digest_of(*reference, part) != digest_of(*fast, part)) differ(name);
  }
  return 0;
}
