// Side tables: what only some events have. Each is keyed by a RowSet over the event rows, and its
// columns are in the order of those rows. -1 means "not given" for ids and counts.
#pragma once

#include <cstdint>
#include <span>

#include "base/column.h"
#include "base/int_column.h"
#include "base/row_set.h"
#include "base/strings.h"
#include "base/units.h"

namespace stepscope::trace {

using Row = std::uint32_t;
inline constexpr Row kNoRow = 0xffffffff;

// What an operator was called with: four JSON texts, one item per input in each. They are the
// file's, but for what makes no difference: without white space, strings with no escapes but those
// they need, damage mended. kNoString where the file does not say.
struct Signature {
  base::StringId dims = base::kNoString;      // [[128,64],[]]; of a list of tensors [[[8],[8]]]
  base::StringId types = base::kNoString;     // ["float","Scalar"]
  base::StringId strides = base::kNoString;   // [[64,1],[]]
  base::StringId concrete = base::kNoString;  // ["","1."]: the values of what is no tensor
  bool operator==(const Signature&) const = default;
};

using SignatureId = std::uint32_t;  // into Trace::signatures()
inline constexpr SignatureId kNoSignature = 0xffffffff;

// Of a correlation or an External id. Ids of 64 bits without a sign are negative here.
inline bool says_anything(std::int64_t id) { return id != 0 && id != -1; }

// Operators and annotations that carry ids or inputs.
struct OpTable {
  base::RowSet rows;
  base::IntColumn external_id;
  base::IntColumn sequence;        // autograd's number; the backward op has its forward op's
  base::IntColumn forward_thread;  // non-zero on backward ops
  base::Column<SignatureId> signature;
  std::size_t memory() const;
};

// Floating-point operations as the profiler counted them; operators that have a count.
struct FlopsTable {
  base::RowSet rows;
  base::Column<std::int64_t> flops;
  std::size_t memory() const;
};

// Where operators and annotations were called from, as text. Newer traces have Python's own spans
// instead.
struct StackTable {
  base::RowSet rows;
  base::Column<base::StringId> call_stack;        // frames "FILE(LINE): FUNCTION", by ';'
  base::Column<base::StringId> module_hierarchy;  // modules, the outermost first, by '.'
  std::size_t memory() const;
};

// Python's spans that are calls of an nn.Module; who called them says Trace::parent().
struct PythonTable {
  base::RowSet rows;
  base::Column<std::int32_t> module_id;  // one per object; equal for all of its calls
  std::size_t memory() const;
};

// Calls into the runtime or driver. One call may own many kernels (a graph launch).
struct LaunchTable {
  base::RowSet rows;
  base::IntColumn correlation;
  base::IntColumn external_id;
  base::Column<Row> op;               // the operator or annotation that made the call
  base::Column<std::uint32_t> first;  // into work; size() + 1 entries
  base::Column<Row> work;             // rows of device events, by launch, then by row

  std::span<const Row> work_of(std::uint32_t entry) const {
    return work.span().subspan(first[entry], first[entry + 1] - first[entry]);
  }
  std::size_t memory() const;
};

// Kernels, copies, memsets, synchronisations and device-side markers.
struct DeviceTable {
  base::RowSet rows;
  base::Column<std::int32_t> device;
  base::IntColumn stream;
  base::IntColumn context;
  base::IntColumn correlation;
  base::IntColumn external_id;
  base::Column<Row> launch;
  std::size_t memory() const;
};

// Shape and residency of kernels.
struct KernelTable {
  base::RowSet rows;
  base::Column<std::uint32_t> grid_x, grid_y, grid_z;
  base::Column<std::uint16_t> block_x, block_y, block_z;
  base::Column<std::uint16_t> registers;
  base::Column<std::int32_t> shared_memory;
  base::Column<float> blocks_per_sm, warps_per_sm, occupancy_percent;  // NaN when not given
  base::IntColumn graph_id;
  base::IntColumn graph_node;
  std::size_t memory() const;
};

// Copies and memsets.
struct CopyTable {
  base::RowSet rows;
  base::Column<base::Bytes> bytes;
  base::Column<float> bandwidth_gbps;  // as the profiler computed it; NaN when not given
  std::size_t memory() const;
};

// Waits the profiler reports, and event records.
struct SyncTable {
  base::RowSet rows;
  base::Column<base::StringId> what;  // "Event Sync", "Stream Wait Event", …
  base::IntColumn wait_on_stream;
  base::IntColumn wait_on_record;  // correlation of the cudaEventRecord waited for
  base::IntColumn event_id;
  std::size_t memory() const;
};

// Allocations (bytes > 0) and frees (bytes < 0).
struct MemoryTable {
  base::RowSet rows;
  base::Column<std::uint64_t> address;
  base::Column<base::Bytes> bytes;
  base::Column<base::Bytes> total_allocated;
  base::Column<base::Bytes> total_reserved;
  base::Column<std::int16_t> device_type;  // c10::DeviceType: 0 CPU, 1 CUDA
  base::Column<std::int16_t> device_id;
  std::size_t memory() const;
};

// Communication, on the operator that asked for it and on the kernel that did it.
struct CollectiveTable {
  base::RowSet rows;
  base::Column<base::StringId> name, dtype, group_name, group_description, group_ranks;
  base::Column<base::StringId> in_split, out_split;
  base::Column<std::int64_t> in_elements, out_elements;
  base::Column<std::int64_t> sequence;
  base::Column<std::uint64_t> comms_id;
  base::Column<std::int32_t> group_size, rank, source_rank, destination_rank;
  base::Column<std::int8_t> asynchronous;
  std::size_t memory() const;
};

// One entry per series of a counter event; `row` may repeat, so this table has no RowSet.
struct CounterTable {
  base::Column<Row> row;  // ascending
  base::Column<base::StringId> series;
  base::Column<double> value;
  std::size_t memory() const;
};

// Arrows between events as the file has them, in file order.
struct FlowTable {
  base::Column<std::uint64_t> id;
  base::Column<base::Nanos> time;
  base::Column<std::uint32_t> track;
  base::Column<std::uint32_t> ordinal;
  base::Column<base::StringId> category;
  base::Column<base::StringId> name;
  base::Column<char> phase;  // 's', 't' or 'f'
  std::size_t size() const { return id.size(); }
  std::size_t memory() const;
};

// Forward operator of each backward operator.
struct BackwardTable {
  base::RowSet rows;  // backward operators
  base::Column<Row> forward;
  std::size_t memory() const;
};

}  // namespace stepscope::trace
