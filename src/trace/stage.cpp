// Packs the rows of a batch and the strings of a shard until the builder takes them.
#include "trace/stage.h"

#include <algorithm>
#include <cstring>

namespace stepscope::trace {
namespace {

constexpr std::size_t kAlign = 16;

std::size_t room_for(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Moves the scratch rows to `at` and empties the scratch, keeping its capacity for the next batch.
template <class T>
std::size_t pack(std::vector<T>& scratch, std::byte* at, Rows<T>& rows) {
  const std::size_t bytes = scratch.size() * sizeof(T);
  if (bytes != 0) std::memcpy(at, scratch.data(), bytes);
  rows = {reinterpret_cast<T*>(at), scratch.size()};
  scratch.clear();
  return room_for(bytes);
}

template <class... T>
std::size_t bytes_of(const std::vector<T>&... scratch) {
  return (room_for(scratch.size() * sizeof(T)) + ...);
}

}  // namespace

void IdRanges::include(const IdRanges& other) {
  external_id.include(other.external_id);
  sequence.include(other.sequence);
  forward_thread.include(other.forward_thread);
  correlation.include(other.correlation);
  stream.include(other.stream);
  context.include(other.context);
  graph_id.include(other.graph_id);
  graph_node.include(other.graph_node);
  wait_on_stream.include(other.wait_on_stream);
  wait_on_record.include(other.wait_on_record);
  event_id.include(other.event_id);
  python_id.include(other.python_id);
}

void Shard::begin(std::uint64_t text_offset) {
  text_offset_ = text_offset;
  entries_ = 0;
  log_ = {};
  events.clear();
  ops.clear();
  flops.clear();
  stacks.clear();
  modules.clear();
  launches.clear();
  python.clear();
  device.clear();
  kernels.clear();
  copies.clear();
  syncs.clear();
  memory.clear();
  collectives.clear();
  counters.clear();
  flows.clear();
  async.clear();
  labels.clear();
}

std::uint32_t Shard::track(std::string_view pid, std::string_view tid, std::uint32_t text_at) {
  // 0x1f, the unit separator: cannot stand unescaped in a JSON string.
  track_key_.assign(pid);
  track_key_ += '\x1f';
  track_key_ += tid;
  return tracks_.intern(track_key_, text_offset_ + text_at);
}

Kind Shard::new_category_kind(std::uint32_t category) {
  while (category_kinds_.size() <= category) {
    category_kinds_.push_back(kind_by_category(categories_.entries()[category_kinds_.size()].raw));
  }
  return category_kinds_[category];
}

void Shard::measure(Batch& batch) {
  track_rows_.assign(tracks_.entries().size(), 0);
  for (const EventRow& row : events) {
    ++track_rows_[row.track];
    batch.first_start = std::min(batch.first_start, row.start);
    batch.last_start = std::max(batch.last_start, row.start);
    batch.last_end = std::max(batch.last_end, row.start + row.duration);
    if (row.phase != RawPhase::kSpan && row.phase != RawPhase::kInstant &&
        row.phase != RawPhase::kCounter) {
      batch.needs_pairing = true;
    }
  }
  for (std::uint32_t track = 0; track < track_rows_.size(); ++track) {
    if (track_rows_[track] != 0) batch.tracks.push_back({track, track_rows_[track]});
  }
  for (const OpRow& row : ops) {
    ranges_.external_id.include(row.external_id);
    ranges_.sequence.include(row.sequence);
    ranges_.forward_thread.include(row.forward_thread);
  }
  for (const LaunchRow& row : launches) {
    ranges_.external_id.include(row.external_id);
    ranges_.correlation.include(row.correlation);
  }
  for (const PythonRow& row : python) {
    ranges_.python_id.include(row.id);
    ranges_.python_id.include(row.parent_id);
  }
  for (const DeviceRow& row : device) {
    ranges_.external_id.include(row.external_id);
    ranges_.correlation.include(row.correlation);
    ranges_.stream.include(row.stream);
    ranges_.context.include(row.context);
  }
  for (const KernelRow& row : kernels) {
    ranges_.graph_id.include(row.graph_id);
    ranges_.graph_node.include(row.graph_node);
  }
  for (const SyncRow& row : syncs) {
    ranges_.wait_on_stream.include(row.wait_on_stream);
    ranges_.wait_on_record.include(row.wait_on_record);
    ranges_.event_id.include(row.event_id);
  }
}

Batch Shard::finish() {
  Batch batch;
  batch.shard = number_;
  batch.text_offset = text_offset_;
  batch.entries = entries_;
  measure(batch);
  batch.log = std::move(log_);

  batch.event_pages = event_slab_.take(bytes_of(events));
  pack(events, batch.event_pages.data(), batch.events);
  batch.side_pages =
      side_slab_.take(bytes_of(ops, flops, stacks, modules, launches, python, device, kernels,
                               copies, syncs, memory, collectives, counters, flows, async, labels));
  std::byte* at = batch.side_pages.data();
  at += pack(ops, at, batch.ops);
  at += pack(flops, at, batch.flops);
  at += pack(stacks, at, batch.stacks);
  at += pack(modules, at, batch.modules);
  at += pack(launches, at, batch.launches);
  at += pack(python, at, batch.python);
  at += pack(device, at, batch.device);
  at += pack(kernels, at, batch.kernels);
  at += pack(copies, at, batch.copies);
  at += pack(syncs, at, batch.syncs);
  at += pack(memory, at, batch.memory);
  at += pack(collectives, at, batch.collectives);
  at += pack(counters, at, batch.counters);
  at += pack(flows, at, batch.flows);
  at += pack(async, at, batch.async);
  pack(labels, at, batch.labels);
  return batch;
}

}  // namespace stepscope::trace
