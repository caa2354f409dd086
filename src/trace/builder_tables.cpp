// The side tables of TraceBuilder: first every batch says which rows have an entry, then the
// columns are sized and every batch writes its entries where their rows stand.

#include <algorithm>

#include "base/parallel.h"
#include "trace/builder.h"

namespace stepscope::trace {
namespace {

std::uint16_t narrow_16(std::uint32_t value) {
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(value, 0xffff));
}

std::int32_t narrow_32(std::int64_t value) {
  constexpr std::int64_t kMost = 0x7fffffff;
  return static_cast<std::int32_t>(std::clamp(value, -kMost, kMost));
}

}  // namespace

void TraceBuilder::size_tables() {
  const std::size_t rows = out_.size();
  for (base::RowSet* set :
       {&out_.ops_.rows, &out_.flops_.rows, &out_.stacks_.rows, &out_.python_.rows,
        &out_.launches_.rows, &python_.rows, &out_.device_.rows, &out_.kernels_.rows,
        &out_.copies_.rows, &out_.syncs_.rows, &out_.memory_.rows, &out_.collectives_.rows,
        &out_.backward_.rows}) {
    *set = base::RowSet(rows);
  }
}

void TraceBuilder::fill_tables() {
  for (base::RowSet* set :
       {&out_.ops_.rows, &out_.flops_.rows, &out_.stacks_.rows, &out_.python_.rows,
        &out_.launches_.rows, &python_.rows, &out_.device_.rows, &out_.kernels_.rows,
        &out_.copies_.rows, &out_.syncs_.rows, &out_.memory_.rows, &out_.collectives_.rows}) {
    set->seal();
  }
  const auto sized = [&](std::size_t size, auto&... columns) {
    ((columns = std::remove_reference_t<decltype(columns)>(size, memory_)), ...);
  };
  const std::size_t ops = out_.ops_.rows.size();
  out_.ops_.external_id = {ops, ranges_.external_id, memory_};
  out_.ops_.sequence = {ops, ranges_.sequence, memory_};
  out_.ops_.forward_thread = {ops, ranges_.forward_thread, memory_};
  sized(ops, out_.ops_.signature);
  sized(out_.flops_.rows.size(), out_.flops_.flops);
  sized(out_.stacks_.rows.size(), out_.stacks_.call_stack, out_.stacks_.module_hierarchy);
  sized(out_.python_.rows.size(), out_.python_.module_id);
  const std::size_t launches = out_.launches_.rows.size();
  out_.launches_.correlation = {launches, ranges_.correlation, memory_};
  out_.launches_.external_id = {launches, ranges_.external_id, memory_};
  const std::size_t python = python_.rows.size();
  python_.id = {python, ranges_.python_id};
  python_.parent_id = {python, ranges_.python_id};
  DeviceTable& device = out_.device_;
  device.stream = {device.rows.size(), ranges_.stream, memory_};
  device.context = {device.rows.size(), ranges_.context, memory_};
  device.correlation = {device.rows.size(), ranges_.correlation, memory_};
  device.external_id = {device.rows.size(), ranges_.external_id, memory_};
  sized(device.rows.size(), device.device);
  KernelTable& kernels = out_.kernels_;
  sized(kernels.rows.size(), kernels.grid_x, kernels.grid_y, kernels.grid_z, kernels.block_x,
        kernels.block_y, kernels.block_z, kernels.registers, kernels.shared_memory,
        kernels.blocks_per_sm, kernels.warps_per_sm, kernels.occupancy_percent);
  kernels.graph_id = {kernels.rows.size(), ranges_.graph_id, memory_};
  kernels.graph_node = {kernels.rows.size(), ranges_.graph_node, memory_};
  sized(out_.copies_.rows.size(), out_.copies_.bytes, out_.copies_.bandwidth_gbps);
  SyncTable& syncs = out_.syncs_;
  sized(syncs.rows.size(), syncs.what);
  syncs.wait_on_stream = {syncs.rows.size(), ranges_.wait_on_stream, memory_};
  syncs.wait_on_record = {syncs.rows.size(), ranges_.wait_on_record, memory_};
  syncs.event_id = {syncs.rows.size(), ranges_.event_id, memory_};
  MemoryTable& memory = out_.memory_;
  sized(memory.rows.size(), memory.address, memory.bytes, memory.total_allocated,
        memory.total_reserved, memory.device_type, memory.device_id);
  CollectiveTable& comms = out_.collectives_;
  sized(comms.rows.size(), comms.name, comms.dtype, comms.group_name, comms.group_description,
        comms.group_ranks, comms.in_split, comms.out_split, comms.in_elements, comms.out_elements,
        comms.sequence, comms.comms_id, comms.group_size, comms.rank, comms.source_rank,
        comms.destination_rank, comms.asynchronous);

  const std::vector<std::size_t> first_flow = size_flows();
  fetch_pages();
  fill_lists();
  base::parallel_stretches(in_.batches.size(), in_.threads, [&](std::size_t i, std::size_t) {
    fill_tables(in_.batches[i]);
    fill_flows(in_.batches[i], first_ordinal_[i], first_flow[i]);
    in_.batches[i].side_pages = {};
  });
}

void TraceBuilder::fill_tables(const Batch& batch) {
  const auto text = [&](base::StringId id) {
    return id == base::kNoString ? id : maps_[batch.shard].strings[id];
  };
  // Calls write(side row, its entry) for every row of a table.
  const auto each = [](auto rows, const base::RowSet& set, auto write) {
    for (const auto& side : rows) {
      if (side.event != kNoRow) write(side, set.rank(side.event));
    }
  };
  each(batch.ops, out_.ops_.rows, [&](const OpRow& from, std::uint32_t at) {
    out_.ops_.external_id.set(at, from.external_id);
    out_.ops_.sequence.set(at, from.sequence);
    out_.ops_.forward_thread.set(at, from.forward_thread);
    out_.ops_.signature[at] = from.signature == kNoSignature
                                  ? from.signature
                                  : maps_[batch.shard].signatures[from.signature];
  });
  each(batch.flops, out_.flops_.rows,
       [&](const FlopsRow& from, std::uint32_t at) { out_.flops_.flops[at] = from.flops; });
  each(batch.stacks, out_.stacks_.rows, [&](const StackRow& from, std::uint32_t at) {
    out_.stacks_.call_stack[at] = text(from.call_stack);
    out_.stacks_.module_hierarchy[at] = text(from.module_hierarchy);
  });
  each(batch.modules, out_.python_.rows, [&](const ModuleRow& from, std::uint32_t at) {
    out_.python_.module_id[at] = from.module_id;
  });
  each(batch.launches, out_.launches_.rows, [&](const LaunchRow& from, std::uint32_t at) {
    out_.launches_.correlation.set(at, from.correlation);
    out_.launches_.external_id.set(at, from.external_id);
  });
  each(batch.python, python_.rows, [&](const PythonRow& from, std::uint32_t at) {
    python_.id.set(at, from.id);
    python_.parent_id.set(at, from.parent_id);
  });
  each(batch.device, out_.device_.rows, [&](const DeviceRow& from, std::uint32_t at) {
    DeviceTable& to = out_.device_;
    to.device[at] = from.device;
    to.stream.set(at, from.stream);
    to.context.set(at, from.context);
    to.correlation.set(at, from.correlation);
    to.external_id.set(at, from.external_id);
  });
  each(batch.kernels, out_.kernels_.rows, [&](const KernelRow& from, std::uint32_t at) {
    KernelTable& to = out_.kernels_;
    to.grid_x[at] = from.grid[0];
    to.grid_y[at] = from.grid[1];
    to.grid_z[at] = from.grid[2];
    to.block_x[at] = narrow_16(from.block[0]);
    to.block_y[at] = narrow_16(from.block[1]);
    to.block_z[at] = narrow_16(from.block[2]);
    to.registers[at] = narrow_16(from.registers);
    to.shared_memory[at] = narrow_32(from.shared_memory);
    to.blocks_per_sm[at] = from.blocks_per_sm;
    to.warps_per_sm[at] = from.warps_per_sm;
    to.occupancy_percent[at] = from.occupancy_percent;
    to.graph_id.set(at, from.graph_id);
    to.graph_node.set(at, from.graph_node);
  });
  each(batch.copies, out_.copies_.rows, [&](const CopyRow& from, std::uint32_t at) {
    out_.copies_.bytes[at] = from.bytes;
    out_.copies_.bandwidth_gbps[at] = from.bandwidth_gbps;
  });
  each(batch.syncs, out_.syncs_.rows, [&](const SyncRow& from, std::uint32_t at) {
    out_.syncs_.what[at] = text(from.what);
    out_.syncs_.wait_on_stream.set(at, from.wait_on_stream);
    out_.syncs_.wait_on_record.set(at, from.wait_on_record);
    out_.syncs_.event_id.set(at, from.event_id);
  });
  each(batch.memory, out_.memory_.rows, [&](const MemoryRow& from, std::uint32_t at) {
    MemoryTable& to = out_.memory_;
    to.address[at] = from.address;
    to.bytes[at] = from.bytes;
    to.total_allocated[at] = from.total_allocated;
    to.total_reserved[at] = from.total_reserved;
    to.device_type[at] = from.device_type;
    to.device_id[at] = from.device_id;
  });
  each(batch.collectives, out_.collectives_.rows, [&](const CollectiveRow& from, std::uint32_t at) {
    CollectiveTable& to = out_.collectives_;
    to.name[at] = text(from.name);
    to.dtype[at] = text(from.dtype);
    to.group_name[at] = text(from.group_name);
    to.group_description[at] = text(from.group_description);
    to.group_ranks[at] = text(from.group_ranks);
    to.in_split[at] = text(from.in_split);
    to.out_split[at] = text(from.out_split);
    to.in_elements[at] = from.in_elements;
    to.out_elements[at] = from.out_elements;
    to.sequence[at] = from.sequence;
    to.comms_id[at] = from.comms_id;
    to.group_size[at] = from.group_size;
    to.rank[at] = from.rank;
    to.source_rank[at] = from.source_rank;
    to.destination_rank[at] = from.destination_rank;
    to.asynchronous[at] = from.asynchronous;
  });
}

void TraceBuilder::fill_flows(const Batch& batch, std::uint32_t first_ordinal, std::size_t at) {
  const ShardMap& map = maps_[batch.shard];
  FlowTable& to = out_.flows_;
  for (const FlowRow& from : batch.flows) {
    to.id[at] = from.id;
    to.time[at] = from.time;
    to.track[at] = map.tracks[from.track];
    to.ordinal[at] = first_ordinal + from.entry;
    to.category[at] = from.category == base::kNoString ? from.category : map.strings[from.category];
    to.name[at] = from.name == base::kNoString ? from.name : map.strings[from.name];
    to.phase[at] = from.phase;
    ++at;
  }
}

// Where the flows of each batch begin.
std::vector<std::size_t> TraceBuilder::size_flows() {
  std::vector<std::size_t> first;
  first.reserve(in_.batches.size());
  std::size_t flows = 0;
  for (const Batch& batch : in_.batches) {
    first.push_back(flows);
    flows += batch.flows.size();
  }
  FlowTable& to = out_.flows_;
  to.id = base::Column<std::uint64_t>(flows, memory_);
  to.time = base::Column<base::Nanos>(flows, memory_);
  to.track = base::Column<std::uint32_t>(flows, memory_);
  to.ordinal = base::Column<std::uint32_t>(flows, memory_);
  to.category = base::Column<base::StringId>(flows, memory_);
  to.name = base::Column<base::StringId>(flows, memory_);
  to.phase = base::Column<char>(flows, memory_);
  return first;
}

// What is so little that it is put in order in one piece.
void TraceBuilder::fill_lists() {
  std::size_t counters = 0;
  for (const Batch& batch : in_.batches) counters += batch.counters.size();
  std::vector<CounterRow> points;
  points.reserve(counters);
  for (const Batch& batch : in_.batches) {
    const ShardMap& map = maps_[batch.shard];
    for (LabelRow from : batch.labels) {
      from.track = map.tracks[from.track];
      if (from.text != base::kNoString) from.text = map.strings[from.text];
      labels_.push_back(from);
    }
    for (CounterRow from : batch.counters) {
      from.series = map.strings[from.series];
      points.push_back(from);
    }
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const CounterRow& a, const CounterRow& b) { return a.event < b.event; });
  out_.counters_.row = base::Column<Row>(counters, memory_);
  out_.counters_.series = base::Column<base::StringId>(counters, memory_);
  out_.counters_.value = base::Column<double>(counters, memory_);
  for (std::size_t i = 0; i < counters; ++i) {
    out_.counters_.row[i] = points[i].event;
    out_.counters_.series[i] = points[i].series;
    out_.counters_.value[i] = points[i].value;
  }
}

}  // namespace stepscope::trace
