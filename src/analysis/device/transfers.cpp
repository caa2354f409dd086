// Copies between host and device: how much, how fast, from which host memory, who asked for them,
// whether the host waited for them and whether the device computed meanwhile.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/arithmetic/durations.h"
#include "analysis/device/copies.h"
#include "analysis/host/host_threads.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// Copies between host and device one by one, with what their calls did to the host, and their sums.

struct Transfer {
  std::uint32_t work = 0;              // index into WindowView::work
  std::string_view kind, host_memory;  // see copies.h
  std::optional<base::Bytes> bytes;    // nothing: the trace does not say
  base::Nanos hidden_ns = 0;           // of its time, kernels computed on the device
  bool blocking = false;               // the host waited until it had ended
  base::Nanos blocked_ns = 0;          // the host waited for: from the call to its return
  trace::Row op = trace::kNoRow;       // that asked for it
};

struct TransferSums {
  std::uint64_t count = 0, blocking = 0, without_bytes = 0;
  base::Bytes bytes = 0;
  base::Nanos time = 0, timed = 0;  // of all; of those that say their bytes
  base::Nanos hidden = 0, blocked = 0;
  Durations sizes;  // bytes of each

  void add(const Transfer& transfer, base::Nanos length);
  void merge(const TransferSums& other);
};

using base::Nanos;
using trace::Row;

// The next call into the runtime on the thread of `call`, or kNoRow.
Row next_call(const trace::Trace& trace, Row call) {
  const Row end = trace.tracks()[trace.track()[call]].end;
  for (Row row = call + 1; row < end; ++row) {
    if (is_api_call(trace.kind()[row])) return row;
  }
  return trace::kNoRow;
}

bool synchronises(std::string_view call) {
  return call.find("Synchronize") != std::string_view::npos;
}

// What a copying call did to its thread; copies of one call share it.
struct Blocking {
  Row call = trace::kNoRow;
  bool waits = false;        // in the call itself
  Row sync = trace::kNoRow;  // or in the synchronising call right after it
};

Blocking blocking_of(const trace::Trace& trace, Row call) {
  Blocking out{.call = call, .waits = is_waiting_call(trace, call)};
  const Row next = next_call(trace, call);
  if (next != trace::kNoRow && synchronises(trace.name_text(next))) out.sync = next;
  return out;
}

// The counted copies between host and device, in the order of WindowView::work.
std::vector<Transfer> transfers_of(const WindowView& window) {
  const trace::Trace& trace = *window.trace;
  std::vector<Row> steps;
  for (const trace::Step& step : trace.steps().list) steps.push_back(step.row);
  std::ranges::sort(steps);
  std::vector<Transfer> out;
  Blocking last;
  for (const DeviceView& device : window.devices) {
    const Coverage computing(device.compute);
    for (std::size_t i = device.begin; i < device.end; ++i) {
      const Work& piece = window.work[i];
      if (piece.work_class != WorkClass::kCopy || !window.counts(piece)) continue;
      const CopyName name = copy_name(trace.name_text(piece.row));
      if (!crosses_the_bus(name.kind)) continue;
      Transfer transfer{.work = static_cast<std::uint32_t>(i),
                        .kind = name.kind,
                        .host_memory = name.host_memory,
                        .bytes = bytes_of(trace, piece.row),
                        .hidden_ns = computing.covered({piece.start, piece.end})};
      if (piece.launch != trace::kNoRow) {
        if (last.call != piece.launch) last = blocking_of(trace, piece.launch);
        const Row op = trace.launches().op[trace.launches().rows.rank(piece.launch)];
        // A step holds everything; it did not ask for the copy.
        if (!std::ranges::binary_search(steps, op)) transfer.op = op;
        transfer.blocking =
            last.waits || last.sync != trace::kNoRow || name.host_memory == "pageable";
        const Row until = last.sync != trace::kNoRow ? last.sync : piece.launch;
        if (transfer.blocking) {
          transfer.blocked_ns = trace.end(until) - trace.start()[piece.launch];
        }
      }
      out.push_back(transfer);
    }
  }
  return out;
}

void TransferSums::add(const Transfer& transfer, Nanos length) {
  ++count;
  blocking += transfer.blocking ? 1 : 0;
  time += length;
  hidden += transfer.hidden_ns;
  blocked += transfer.blocked_ns;
  if (!transfer.bytes) {
    ++without_bytes;
    return;
  }
  bytes += *transfer.bytes;
  timed += length;
  sizes.add(*transfer.bytes);
}

void TransferSums::merge(const TransferSums& other) {
  count += other.count;
  blocking += other.blocking;
  without_bytes += other.without_bytes;
  bytes += other.bytes;
  time += other.time;
  timed += other.timed;
  hidden += other.hidden;
  blocked += other.blocked;
  sizes.merge(other.sizes);
}

using base::Cell;
using base::ColumnShape;
using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kTransfersParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "20", "operators per rank. 0: all"},
});

constexpr ColumnShape kTransfersKind{"kind", Type::kText, Unit::kNone,
                                     "HtoD: host to device, DtoH: device to host"};
constexpr ColumnShape kTransfersMemory{"host_memory", Type::kText, Unit::kNone,
                                       "pinned, pageable or managed; null: the trace does not say"};
constexpr ColumnShape kTransfersCount{"count", Type::kInt, Unit::kCount, "copies"};
constexpr ColumnShape kTransfersBytes{"bytes", Type::kInt, Unit::kBytes,
                                      "copied, where the trace says"};
constexpr ColumnShape kTransfersTime{"copy_ns", Type::kInt, Unit::kNanos,
                                     "the copies ran, one by one"};
constexpr ColumnShape kTransfersRate{"bytes_per_second", Type::kInt, Unit::kBytesPerSecond,
                                     "bytes over their copies' time"};
constexpr ColumnShape kBlocking{"blocking", Type::kInt, Unit::kCount, "copies the host waited for"};
constexpr ColumnShape kBlocked{"host_blocked_ns", Type::kInt, Unit::kNanos,
                               "the host spent in the calls of blocking copies"};
constexpr ColumnShape kTransfersHidden{"hidden_ns", Type::kInt, Unit::kNanos,
                                       "of the copies' time, kernels computed on the same device"};
constexpr ColumnShape kTransfersHiddenShare{"hidden_share", Type::kReal, Unit::kShare,
                                            "of the copies' time"};

constexpr std::array kByClass = {
    key::kRank,
    key::kDevice,
    kTransfersKind,
    kTransfersMemory,
    kTransfersCount,
    kTransfersBytes,
    ColumnShape{"min_bytes", Type::kInt, Unit::kBytes, "the smallest copy"},
    ColumnShape{"median_bytes", Type::kInt, Unit::kBytes, ""},
    ColumnShape{"p95_bytes", Type::kInt, Unit::kBytes, "19 of 20 copies were not larger"},
    ColumnShape{"max_bytes", Type::kInt, Unit::kBytes, "the largest copy"},
    kTransfersTime,
    kTransfersRate,
    kBlocking,
    kBlocked,
    kTransfersHidden,
    kTransfersHiddenShare,
    ColumnShape{"without_bytes", Type::kInt, Unit::kCount, "copies that do not say their size"}};
constexpr std::array kBySize = {key::kRank,
                                key::kDevice,
                                kTransfersKind,
                                kTransfersMemory,
                                ColumnShape{"up_to_bytes", Type::kInt, Unit::kBytes,
                                            "larger than half of this, up to this; a power of two"},
                                kTransfersCount,
                                kTransfersBytes,
                                kTransfersTime,
                                kTransfersRate};
constexpr std::array kByOp = {
    key::kRank,
    ColumnShape{"op", Type::kText, Unit::kNone,
                "operator or annotation that asked; null: none but the step"},
    kTransfersKind,
    kTransfersMemory,
    kTransfersCount,
    kTransfersBytes,
    kTransfersTime,
    kTransfersRate,
    kBlocking,
    kBlocked,
    kTransfersHidden};
constexpr std::array kTransfersByStep = {
    key::kRank,       key::kWindow,    key::kStep,      key::kDevice,   kTransfersKind,
    kTransfersMemory, kTransfersCount, kTransfersBytes, kTransfersTime, kTransfersRate,
    kBlocking,        kBlocked,        kTransfersHidden};

constexpr std::array<std::string_view, 1> kBytesBar = {"bytes"};
constexpr std::array<std::string_view, 1> kTimeBar = {"copy_ns"};
constexpr std::array<std::string_view, 1> kTransfersCountBar = {"count"};
constexpr std::array kTransfersTables = std::to_array<base::TableShape>({
    {"classes",
     "one direction and kind of host memory on one device",
     kByClass,
     {base::Chart::kBars, "kind", kBytesBar, "rank"}},
    {"sizes",
     "copies of about one size",
     kBySize,
     {base::Chart::kHistogram, "up_to_bytes", kTransfersCountBar, "kind"}},
    {"ops",
     "one operator that copies, the longest first",
     kByOp,
     {base::Chart::kBars, "op", kTimeBar, "rank"}},
    {"steps",
     "the copies that one step asked for",
     kTransfersByStep,
     {base::Chart::kBars, "step", kTimeBar, "kind"}},
});

using TransfersClass =
    std::tuple<std::int32_t, std::string_view, std::string_view>;  // device, kind, memory
struct TransfersPartial {
  std::map<TransfersClass, TransferSums> classes;
  std::map<std::pair<TransfersClass, base::Bytes>, TransferSums> sizes;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, TransferSums> ops;
  std::map<std::pair<std::int32_t, TransfersClass>, TransferSums> steps;  // by index of the step

  void merge(const TransfersPartial& other) {
    for (const auto& [key, sums] : other.classes) classes[key].merge(sums);
    for (const auto& [key, sums] : other.sizes) sizes[key].merge(sums);
    for (const auto& [key, sums] : other.ops) ops[key].merge(sums);
  }
};

base::Bytes size_class(base::Bytes bytes) {
  return bytes <= 0 ? 0
                    : static_cast<base::Bytes>(std::bit_ceil(static_cast<std::uint64_t>(bytes)));
}

TransfersPartial compute_transfers(const WindowView& window) {
  TransfersPartial out;
  const trace::Trace& trace = *window.trace;
  for (const Transfer& transfer : transfers_of(window)) {
    const Work& piece = window.work[transfer.work];
    const TransfersClass place{window.streams[piece.stream].device, transfer.kind,
                               transfer.host_memory};
    const std::string_view op =
        transfer.op == trace::kNoRow ? std::string_view{} : trace.name_text(transfer.op);
    const Nanos length = piece.length();
    out.classes[place].add(transfer, length);
    if (transfer.bytes) out.sizes[{place, size_class(*transfer.bytes)}].add(transfer, length);
    out.ops[{op, transfer.kind, transfer.host_memory}].add(transfer, length);
    if (window.has_steps && piece.step >= 0) out.steps[{piece.step, place}].add(transfer, length);
  }
  return out;
}

Cell rate_of(const TransferSums& sums) {
  return sums.timed == 0 ? Cell(base::Null{}) : Cell(bytes_per_second(sums.bytes, sums.timed));
}

void add_transfers_rank(std::span<base::Table> tables, std::int32_t rank, TransfersPartial& found,
                        std::size_t top) {
  for (auto& [place, s] : found.classes) {
    const auto& [device, kind, memory] = place;
    const bool sized = s.sizes.count() > 0;
    const auto size = [&](base::Bytes bytes) { return sized ? Cell(bytes) : Cell(base::Null{}); };
    tables[0].add({rank, device, kind, base::text_or_null(memory), s.count, s.bytes,
                   size(s.sizes.min()), size(s.sizes.median()), size(s.sizes.percentile(0.95)),
                   size(s.sizes.max()), s.time, rate_of(s), s.blocking, s.blocked, s.hidden,
                   static_cast<double>(s.hidden) / static_cast<double>(s.time), s.without_bytes});
  }
  for (const auto& [key, s] : found.sizes) {
    const auto& [device, kind, memory] = key.first;
    tables[1].add({rank, device, kind, base::text_or_null(memory), key.second, s.count, s.bytes,
                   s.time, rate_of(s)});
  }
  std::vector<std::pair<decltype(found.ops)::key_type, const TransferSums*>> ops;
  ops.reserve(found.ops.size());
  for (const auto& [key, sums] : found.ops) ops.emplace_back(key, &sums);
  std::ranges::stable_sort(ops, std::ranges::greater{},
                           [](const auto& entry) { return entry.second->time; });
  if (top != 0 && ops.size() > top) ops.resize(top);
  for (const auto& [key, s] : ops) {
    const auto& [op, kind, memory] = key;
    tables[2].add({rank, base::text_or_null(op), kind, base::text_or_null(memory), s->count,
                   s->bytes, s->time, rate_of(*s), s->blocking, s->blocked, s->hidden});
  }
}

Answer run_transfers(const RunView& view, const Options& options) {
  auto partials = per_window<TransfersPartial>(view, compute_transfers);
  Answer answer;
  for (const base::TableShape& shape : kTransfersTables) answer.tables.emplace_back(shape);
  std::map<std::int32_t, TransfersPartial> ranks;
  std::uint64_t without_bytes = 0;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    ranks[window.rank].merge(partials[w]);
    for (const auto& [key, s] : partials[w].steps) {
      const auto& [device, kind, memory] = key.second;
      const StepTime& step = window.steps[static_cast<std::size_t>(key.first)];
      answer.tables[3].add({window.rank, window.window, step.number, device, kind,
                            base::text_or_null(memory), s.count, s.bytes, s.time, rate_of(s),
                            s.blocking, s.blocked, s.hidden});
    }
  }
  for (auto& [rank, found] : ranks) {
    for (const auto& [place, sums] : found.classes) without_bytes += sums.without_bytes;
    add_transfers_rank(answer.tables, rank, found, static_cast<std::size_t>(options.count("top")));
  }
  if (!view.has_device_work()) {
    answer.remarks.push_back(why_no_device_work(view));
  } else if (answer.tables[0].rows() == 0) {
    answer.remarks.emplace_back("The trace has no copies between host and device.");
  }
  if (without_bytes > 0) {
    answer.remarks.push_back(fmt::format(
        "{} copies do not say how many bytes they moved; they are in no size and no rate.",
        without_bytes));
  }
  return answer;
}

}  // namespace

const Analysis kTransfers{
    .name = "transfers",
    .title = "Copies between host and device",
    .question = "What is copied between host and GPU, how fast, and does anybody wait for it?",
    .parameters = kTransfersParameters,
    .tables = kTransfersTables,
    .run = run_transfers,
};

}  // namespace stepscope::analysis
