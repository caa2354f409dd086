#include "emit/chrome/chrome_args.h"

#include <algorithm>
#include <string>

#include "emit/json/json_copier.h"

namespace stepscope::emit {
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

}  // namespace stepscope::emit
