// A finished trace: its columns and how they are looked up.
#include "trace/trace.h"

#include <algorithm>

#include "trace/process_record.h"

namespace stepscope::trace {
namespace {

template <class... Parts>
std::size_t sum(const Parts&... parts) {
  return (parts.memory() + ...);
}

}  // namespace

std::size_t OpTable::memory() const {
  return sum(rows, external_id, sequence, forward_thread, signature);
}
std::size_t FlopsTable::memory() const { return sum(rows, flops); }
std::size_t StackTable::memory() const { return sum(rows, call_stack, module_hierarchy); }
std::size_t PythonTable::memory() const { return sum(rows, module_id); }
std::size_t LaunchTable::memory() const {
  return sum(rows, correlation, external_id, op, first, work);
}
std::size_t DeviceTable::memory() const {
  return sum(rows, device, stream, context, correlation, external_id, launch);
}
std::size_t KernelTable::memory() const {
  return sum(rows, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers, shared_memory,
             blocks_per_sm, warps_per_sm, occupancy_percent, graph_id, graph_node);
}
std::size_t CopyTable::memory() const { return sum(rows, bytes, bandwidth_gbps); }
std::size_t SyncTable::memory() const {
  return sum(rows, what, wait_on_stream, wait_on_record, event_id);
}
std::size_t MemoryTable::memory() const {
  return sum(rows, address, bytes, total_allocated, total_reserved, device_type, device_id);
}
std::size_t CollectiveTable::memory() const {
  return sum(rows, name, dtype, group_name, group_description, group_ranks, in_split, out_split,
             in_elements, out_elements, sequence, comms_id, group_size, rank, source_rank,
             destination_rank, asynchronous);
}
std::size_t CounterTable::memory() const { return sum(row, series, value); }
std::size_t FlowTable::memory() const {
  return sum(id, time, track, ordinal, category, name, phase);
}
std::size_t BackwardTable::memory() const { return sum(rows, forward); }

std::uint64_t Trace::text_offset(Row row) const {
  const auto after = std::upper_bound(
      text_blocks_.begin(), text_blocks_.end(), ordinal_[row],
      [](std::uint32_t ordinal, const TextBlock& block) { return ordinal < block.first_ordinal; });
  return (after - 1)->offset + text_at_[row];
}

base::Result<std::string> Trace::event_text(Row row) const {
  if (source_ == nullptr) {
    return base::fail(base::Code::kNotFound, "the text of this trace was not kept");
  }
  return source_->event(text_offset(row));
}

std::size_t Trace::memory() const {
  const std::size_t record = header_.process_record ? header_.process_record->memory() : 0;
  return record +
         sum(start_, duration_, name_, category_, kind_, phase_, flags_, track_, parent_, ordinal_,
             text_at_) +
         text_blocks_.capacity() * sizeof(TextBlock) + signatures_.capacity() * sizeof(Signature) +
         sum(strings_, ops_, flops_, stacks_, python_, launches_, device_, kernels_, copies_,
             syncs_, memory_, collectives_, counters_, flows_, backward_);
}

}  // namespace stepscope::trace
