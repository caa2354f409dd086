#include "emit/jsonl/jsonl_header.h"

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
    Elements one(list.next());
    append_exact(one.next(), step.number);
    append_exact(one.next(), step.start);
    append_exact(one.next(), step.end);
    one.close();
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

}  // namespace stepscope::emit
