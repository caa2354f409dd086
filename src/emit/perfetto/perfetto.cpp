// Perfetto's protobuf format: all ranks in one file, on the clock of the wall.

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "emit/emit.h"
#include "emit/output.h"
#include "emit/perfetto/perfetto_window.h"

namespace stepscope::emit {
namespace {

// Unix times of traces lie well after this; smaller ones count from an unknown start.
constexpr base::Nanos kYear2000 = base::Nanos{946'684'800} * 1'000'000'000;

base::Nanos earliest(const trace::Run& run) {
  base::Nanos first = std::numeric_limits<base::Nanos>::max();
  for (const trace::RankTraces& rank : run.ranks) {
    for (const trace::Window& window : rank.windows) {
      if (window.trace.size() == 0) continue;
      first = std::min(first, window.trace.clock().zero_unix_ns() + window.trace.span().start);
    }
  }
  return first;
}

// Says that the trace's clock (boot time, which Perfetto assumes) shows the time of the wall.
void write_clocks(Output& out, base::Nanos now) {
  std::string message;
  perfetto::Builder<perfetto::TracePacket> packet(message);
  packet.add_uint64(perfetto::TracePacket::kTimestamp, static_cast<std::uint64_t>(now));
  {
    perfetto::Builder<perfetto::ClockSnapshot> snapshot(packet,
                                                        perfetto::TracePacket::kClockSnapshot);
    for (const std::uint32_t id : {perfetto::kBoottime, perfetto::kRealtime}) {
      perfetto::Builder<perfetto::Clock> clock(snapshot, perfetto::ClockSnapshot::kClocks);
      clock.add_uint32(perfetto::Clock::kClockId, id);
      clock.add_uint64(perfetto::Clock::kTimestamp, static_cast<std::uint64_t>(now));
    }
    snapshot.add_enum(perfetto::ClockSnapshot::kPrimaryTraceClock,
                      static_cast<std::int32_t>(perfetto::kBoottime));
  }
  perfetto::Builder<perfetto::Trace>(out.text()).add_message(perfetto::Trace::kPacket, message);
}

perfetto::WindowTitle title_of(const trace::RankTraces& rank, std::size_t window) {
  std::string title = fmt::format("rank {}", rank.rank.value);
  if (rank.windows.size() > 1) title += fmt::format(" window {}", window);
  return {fmt::format("{}/{}", rank.rank.value, window), std::move(title)};
}

}  // namespace

base::Result<Written> write_perfetto(const trace::Run& run, const Sink& sink,
                                     const Options& options) {
  Output out(sink);
  Written written;
  const base::Nanos first = earliest(run);
  const base::Nanos shift = first < 0 ? -first : 0;  // packets cannot say times before zero
  if (first >= kYear2000 && first != std::numeric_limits<base::Nanos>::max()) {
    write_clocks(out, first);
  }
  std::uint32_t sequence = 0;
  std::uint64_t next_flow = 1;
  std::int32_t last_number = 0;
  for (const trace::RankTraces& rank : run.ranks) {
    for (std::size_t i = 0; i < rank.windows.size() && !out.failed(); ++i) {
      const trace::Trace& trace = rank.windows[i].trace;
      const Texts texts(trace, options.redactor);
      perfetto::Packets packets(out, ++sequence, trace, texts);
      perfetto::Tracks tracks(packets, trace, texts, title_of(rank, i), last_number);
      perfetto::WindowWriter writer(packets, tracks, trace, texts,
                                    trace.clock().zero_unix_ns() + shift, next_flow);
      if (writer.write(out, written) && !options.counters.empty()) {
        writer.write_series(options.counters[sequence - 1], written);
      }
      next_flow += trace.size();
    }
  }
  SCOPE_TRY([[maybe_unused]] const base::Done done, out.finish());
  return written;
}

}  // namespace stepscope::emit
