// The header line and the lines of events of the full dump.
#include "emit/jsonl/jsonl_event.h"

#include <algorithm>
#include <array>

#include "emit/json/json_text.h"

namespace stepscope::emit {

namespace {

void text_if_given(Members& members, std::string_view key, const std::string& text) {
  if (!text.empty()) members.text(key, text);
}

void append_device(std::string& out, const trace::DeviceProperties& device) {
  Members members(out);
  members.integer("id", device.id);
  members.text("name", device.name);
  members.integer("memory_bytes", device.memory_bytes);
  members.integer("compute_major", device.compute_major);
  members.integer("compute_minor", device.compute_minor);
  members.integer("multiprocessors", device.multiprocessors);
  members.integer("warp_size", device.warp_size);
  members.integer("max_threads_per_multiprocessor", device.max_threads_per_multiprocessor);
  members.integer("registers_per_multiprocessor", device.registers_per_multiprocessor);
  members.integer("shared_memory_per_multiprocessor", device.shared_memory_per_multiprocessor);
  members.close();
}

void append_group(std::string& out, const trace::ProcessGroup& group, const Texts& texts) {
  Members members(out);
  members.text("name", texts.plain(group.name));
  members.text("description", texts.plain(group.description));
  members.text("backend", texts.plain(group.backend));
  members.integer("size", group.size);
  Elements ranks(members.key("ranks"));
  for (const std::int64_t rank : group.ranks) append_exact(ranks.next(), rank);
  ranks.close();
  members.close();
}

void append_distributed(std::string& out, const trace::Distributed& distributed,
                        const Texts& texts) {
  Members members(out);
  members.text("backend", texts.plain(distributed.backend));
  if (distributed.rank) members.integer("rank", *distributed.rank);
  if (distributed.world_size) members.integer("world_size", *distributed.world_size);
  text_if_given(members, "nccl_version", distributed.nccl_version);
  Elements groups(members.key("groups"));
  for (const trace::ProcessGroup& group : distributed.groups) {
    append_group(groups.next(), group, texts);
  }
  groups.close();
  members.close();
}

void append_steps(std::string& out, const trace::Steps& steps) {
  Members members(out);
  members.text("source", trace::name_of(steps.source));
  Elements list(members.key("list"));
  for (const trace::Step& step : steps.list) {
    Elements element(list.next());
    append_exact(element.next(), step.number);
    append_exact(element.next(), step.start);
    append_exact(element.next(), step.end);
    element.close();
  }
  list.close();
  members.close();
}

void append_track(std::string& out, const trace::Track& track, const Texts& texts) {
  Members members(out);
  members.text("process", texts.plain(track.process));
  members.text("thread", texts.plain(track.thread));
  text_if_given(members, "process_name", texts.plain(track.process_name));
  text_if_given(members, "process_labels", texts.plain(track.process_labels));
  text_if_given(members, "thread_name", texts.plain(track.thread_name));
  if (track.process_sort_index) members.integer("process_sort_index", *track.process_sort_index);
  if (track.thread_sort_index) members.integer("thread_sort_index", *track.thread_sort_index);
  members.key("is_device") += track.is_device ? "true" : "false";
  members.id("device", track.device);
  members.id("stream", track.stream);
  members.close();
}

}  // namespace

void append_header(std::string& out, const trace::Trace& trace, WindowName name,
                   const Texts& texts) {
  const trace::Header& header = trace.header();
  Members line(out);
  line.integer("rank", name.rank);
  line.integer("window", name.window);
  Members members(line.key("header"));
  if (header.base_time_ns) members.integer("base_time_ns", *header.base_time_ns);
  if (header.schema_version) members.integer("schema_version", *header.schema_version);
  Elements devices(members.key("devices"));
  for (const trace::DeviceProperties& device : header.devices) {
    append_device(devices.next(), device);
  }
  devices.close();
  if (header.distributed) {
    append_distributed(members.key("distributed"), *header.distributed, texts);
  }
  text_if_given(members, "host", texts.host(header.host));
  text_if_given(members, "trace_name", texts.plain(header.trace_name));
  append_steps(members.key("steps"), trace.steps());
  Elements tracks(members.key("tracks"));
  for (const trace::Track& track : trace.tracks()) append_track(tracks.next(), track, texts);
  tracks.close();
  members.integer("entries", trace.entries());
  Elements span(members.key("span"));
  append_exact(span.next(), trace.span().start);
  append_exact(span.next(), trace.span().end);
  span.close();
  members.close();
  line.close();
}

namespace {

constexpr std::uint32_t kJsonlEventNone = base::RowSet::kNone;
constexpr std::int64_t kJsonlEventAbsent = -1;
constexpr std::uint64_t kJsonlEventNoCommsId = ~std::uint64_t{0};

constexpr std::array<std::string_view, 5> kPhases = {"span", "instant", "counter", "async_span",
                                                     "async_instant"};

bool has_length(trace::Phase phase) {
  return phase == trace::Phase::kSpan || phase == trace::Phase::kAsyncSpan;
}

template <class Int>
void triple_jsonl_event(Members& members, std::string_view key, Int x, Int y, Int z) {
  if (x == 0 && y == 0 && z == 0) return;  // not given
  Elements elements(members.key(key));
  for (const Int value : {x, y, z}) append_integer(elements.next(), std::uint64_t{value});
  elements.close();
}

}  // namespace

void JsonlEvents::append_event(std::string& out, trace::Row row) const {
  const trace::Phase phase = trace_.phase()[row];
  Members members(out);
  head(members, trace_.ordinal()[row], kPhases[static_cast<std::size_t>(phase)]);
  if (const auto text = texts_.category(trace_.category()[row]); !text.empty()) {
    members.text("cat", text);
  }
  members.text("kind", trace::name_of(trace_.kind()[row]));
  string(members, "name", trace_.name()[row]);
  position(members, trace_.track()[row], trace_.start()[row]);
  if (has_length(phase)) members.integer("dur_ns", trace_.duration()[row]);
  flags(members, row);
  reference(members, "parent", trace_.parent()[row]);
  calls(members, row);
  origin(members, row);
  kernel(members, row);
  copy(members, row);
  sync(members, row);
  memory(members, row);
  collective(members, row);
  counters(members, row);
  forward(members, row);
  members.close();
}

void JsonlEvents::append_flow(std::string& out, std::uint32_t index) const {
  const trace::FlowTable& flows = trace_.flows();
  Members members(out);
  head(members, flows.ordinal[index], "flow");
  if (const auto text = texts_.category_text(flows.category[index]); !text.empty()) {
    members.text("cat", text);
  }
  string(members, "name", flows.name[index]);
  position(members, flows.track[index], flows.time[index]);
  members.integer("id", texts_.flow_id(flows.id[index]));
  members.text("flow", std::string_view(&flows.phase[index], 1));
  members.close();
}

void JsonlEvents::head(Members& members, std::uint32_t ordinal, std::string_view phase) const {
  members.integer("rank", name_.rank);
  members.integer("window", name_.window);
  members.integer("ordinal", ordinal);
  members.text("ph", phase);
}

void JsonlEvents::position(Members& members, std::uint32_t track, base::Nanos start) const {
  const trace::Track& where = trace_.tracks()[track];
  members.text("pid", texts_.plain(where.process));
  members.text("tid", texts_.plain(where.thread));
  members.integer("start_ns", start);
}

void JsonlEvents::flags(Members& members, trace::Row row) const {
  const std::uint8_t flags = trace_.flags()[row];
  if (flags == 0) return;
  Elements names(members.key("flags"));
  for (const auto& [flag, name] : {std::pair{trace::kBadDuration, "bad_duration"},
                                   {trace::kFarTime, "far_time"},
                                   {trace::kUnclosed, "unclosed"},
                                   {trace::kOutlivesParent, "outlives_parent"}}) {
    if ((flags & flag) != 0) append_string(names.next(), name);
  }
  names.close();
}

void JsonlEvents::reference(Members& members, std::string_view key, trace::Row row) const {
  if (row != trace::kNoRow) members.integer(key, trace_.ordinal()[row]);
}

void JsonlEvents::string(Members& members, std::string_view key, base::StringId id) const {
  if (id != base::kNoString) members.text(key, texts_.name(id));
}

void JsonlEvents::inputs(Members& members, trace::SignatureId id) const {
  if (id == trace::kNoSignature) return;
  const trace::Signature& signature = trace_.signatures()[id];
  Members inputs(members.key("inputs"));
  string(inputs, "dims", signature.dims);
  string(inputs, "types", signature.types);
  string(inputs, "strides", signature.strides);
  string(inputs, "concrete", signature.concrete);
  inputs.close();
}

void JsonlEvents::origin(Members& members, trace::Row row) const {
  if (const auto at = trace_.flops().rows.find(row); at != kJsonlEventNone) {
    members.integer("flops", trace_.flops().flops[at]);
  }
  if (const auto at = trace_.stacks().rows.find(row); at != kJsonlEventNone) {
    string(members, "call_stack", trace_.stacks().call_stack[at]);
    string(members, "module_hierarchy", trace_.stacks().module_hierarchy[at]);
  }
  if (const auto at = trace_.python().rows.find(row); at != kJsonlEventNone) {
    members.integer("module_id", trace_.python().module_id[at]);
  }
}

// Operators, calls and device work share ids; a row in two tables has them once.
void JsonlEvents::calls(Members& members, trace::Row row) const {
  std::int64_t external_id = kJsonlEventAbsent;
  std::int64_t correlation = kJsonlEventAbsent;
  const auto shared_id = [&](std::string_view key, std::int64_t& known, std::int64_t value) {
    if (known == kJsonlEventAbsent) members.id(key, known = value);
  };
  if (const auto at = trace_.ops().rows.find(row); at != kJsonlEventNone) {
    shared_id("external_id", external_id, trace_.ops().external_id[at]);
    members.id("sequence", trace_.ops().sequence[at]);
    members.id("forward_thread", trace_.ops().forward_thread[at]);
    inputs(members, trace_.ops().signature[at]);
  }
  if (const auto at = trace_.launches().rows.find(row); at != kJsonlEventNone) {
    const trace::LaunchTable& launches = trace_.launches();
    shared_id("correlation", correlation, launches.correlation[at]);
    shared_id("external_id", external_id, launches.external_id[at]);
    reference(members, "op", launches.op[at]);
    if (!launches.work_of(at).empty()) {
      Elements work(members.key("work"));
      for (const trace::Row one : launches.work_of(at)) {
        append_integer(work.next(), std::uint64_t{trace_.ordinal()[one]});
      }
      work.close();
    }
  }
  if (const auto at = trace_.device().rows.find(row); at != kJsonlEventNone) {
    const trace::DeviceTable& device = trace_.device();
    members.id("device", device.device[at]);
    members.id("stream", device.stream[at]);
    members.id("context", device.context[at]);
    shared_id("correlation", correlation, device.correlation[at]);
    shared_id("external_id", external_id, device.external_id[at]);
    reference(members, "launch", device.launch[at]);
  }
}

void JsonlEvents::kernel(Members& members, trace::Row row) const {
  const trace::KernelTable& kernels = trace_.kernels();
  const std::uint32_t at = kernels.rows.find(row);
  if (at == kJsonlEventNone) return;
  triple_jsonl_event(members, "grid", kernels.grid_x[at], kernels.grid_y[at], kernels.grid_z[at]);
  triple_jsonl_event(members, "block", kernels.block_x[at], kernels.block_y[at],
                     kernels.block_z[at]);
  if (kernels.registers[at] != 0) members.integer("registers", kernels.registers[at]);
  members.id("shared_memory", kernels.shared_memory[at]);
  members.number("blocks_per_sm", kernels.blocks_per_sm[at]);
  members.number("warps_per_sm", kernels.warps_per_sm[at]);
  members.number("occupancy_percent", kernels.occupancy_percent[at]);
  members.id("graph_id", kernels.graph_id[at]);
  members.id("graph_node", kernels.graph_node[at]);
}

void JsonlEvents::copy(Members& members, trace::Row row) const {
  const trace::CopyTable& copies = trace_.copies();
  const std::uint32_t at = copies.rows.find(row);
  if (at == kJsonlEventNone) return;
  members.id("bytes", copies.bytes[at]);
  members.number("bandwidth_gbps", copies.bandwidth_gbps[at]);
}

void JsonlEvents::sync(Members& members, trace::Row row) const {
  const trace::SyncTable& syncs = trace_.syncs();
  const std::uint32_t at = syncs.rows.find(row);
  if (at == kJsonlEventNone) return;
  const bool says_nothing =
      syncs.what[at] == base::kNoString && syncs.wait_on_stream[at] == kJsonlEventAbsent &&
      syncs.wait_on_record[at] == kJsonlEventAbsent && syncs.event_id[at] == kJsonlEventAbsent;
  if (says_nothing) return;
  Members sync(members.key("sync"));
  string(sync, "what", syncs.what[at]);
  sync.id("wait_on_stream", syncs.wait_on_stream[at]);
  sync.id("wait_on_record", syncs.wait_on_record[at]);
  sync.id("event_id", syncs.event_id[at]);
  sync.close();
}

void JsonlEvents::memory(Members& members, trace::Row row) const {
  const trace::MemoryTable& events = trace_.memory_events();
  const std::uint32_t at = events.rows.find(row);
  if (at == kJsonlEventNone) return;
  Members memory(members.key("memory"));
  if (events.address[at] != 0) memory.integer("address", events.address[at]);
  memory.integer("bytes", events.bytes[at]);
  memory.id("total_allocated", events.total_allocated[at]);
  memory.id("total_reserved", events.total_reserved[at]);
  memory.id("device_type", events.device_type[at]);
  memory.id("device_id", events.device_id[at]);
  memory.close();
}

void JsonlEvents::collective(Members& members, trace::Row row) const {
  const trace::CollectiveTable& table = trace_.collectives();
  const std::uint32_t at = table.rows.find(row);
  if (at == kJsonlEventNone) return;
  Members collective(members.key("collective"));
  string(collective, "name", table.name[at]);
  string(collective, "dtype", table.dtype[at]);
  string(collective, "group_name", table.group_name[at]);
  string(collective, "group_description", table.group_description[at]);
  string(collective, "group_ranks", table.group_ranks[at]);
  string(collective, "in_split", table.in_split[at]);
  string(collective, "out_split", table.out_split[at]);
  collective.id("in_elements", table.in_elements[at]);
  collective.id("out_elements", table.out_elements[at]);
  collective.id("sequence", table.sequence[at]);
  if (table.comms_id[at] != kJsonlEventNoCommsId)
    collective.integer("comms_id", table.comms_id[at]);
  collective.id("group_size", table.group_size[at]);
  collective.id("rank", table.rank[at]);
  collective.id("source_rank", table.source_rank[at]);
  collective.id("destination_rank", table.destination_rank[at]);
  collective.id("asynchronous", table.asynchronous[at]);
  collective.close();
}

void JsonlEvents::counters(Members& members, trace::Row row) const {
  const bool is_range = trace_.kind()[row] == trace::Kind::kProfilerRange;
  if (trace_.phase()[row] != trace::Phase::kCounter && !is_range) return;
  const trace::CounterTable& table = trace_.counters();
  const auto rows = table.row.span();
  const auto [first, last] = std::equal_range(rows.begin(), rows.end(), row);
  if (is_range && first == last) return;
  Members series(members.key("counters"));
  for (auto at = first; at != last; ++at) {
    const auto i = static_cast<std::size_t>(at - rows.begin());
    std::string& out = series.next();
    append_string(out, texts_.name(table.series[i]));
    out += ':';
    append_float(out, table.value[i]);
  }
  series.close();
}

void JsonlEvents::forward(Members& members, trace::Row row) const {
  const std::uint32_t at = trace_.backward().rows.find(row);
  if (at != kJsonlEventNone) reference(members, "forward", trace_.backward().forward[at]);
}

}  // namespace stepscope::emit
