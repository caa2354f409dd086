#include <algorithm>

#include "analysis/device/copies.h"
#include "analysis/device/transfers.h"
#include "analysis/host/host_threads.h"

namespace stepscope::analysis {
namespace {

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
  Row sync = trace::kNoRow;  // or in the synchronising call right behind it
};

Blocking blocking_of(const trace::Trace& trace, Row call) {
  Blocking out{.call = call, .waits = is_waiting_call(trace, call)};
  const Row next = next_call(trace, call);
  if (next != trace::kNoRow && synchronises(trace.name_text(next))) out.sync = next;
  return out;
}

}  // namespace

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
        // A step holds everything; it is nobody who asked.
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

}  // namespace stepscope::analysis
