// What Perfetto's own classes make of the file is checked by tests/e2e/test_perfetto_export.py;
// here only what a file from outside cannot easily show.
#include <gtest/gtest.h>
#include <protozero/pbf_message.hpp>

#include "emit/emit.h"
#include "emit/perfetto/perfetto_packets.h"
#include "emit/trace_for_tests.h"

namespace stepscope::emit {
namespace {

using perfetto::TracePacket;
using perfetto::TrackEvent;

struct Event {
  std::int32_t type = 0;
  std::uint64_t time = 0;
  std::uint64_t track = 0;
};

Event event_in(protozero::pbf_message<TracePacket> packet) {
  Event event;
  while (packet.next()) {
    if (packet.tag() == TracePacket::kTimestamp) {
      event.time = packet.get_uint64();
    } else if (packet.tag() == TracePacket::kTrackEvent) {
      protozero::pbf_message<TrackEvent> body(packet.get_message());
      while (body.next()) {
        if (body.tag() == TrackEvent::kType) {
          event.type = body.get_enum();
        } else if (body.tag() == TrackEvent::kTrackUuid) {
          event.track = body.get_uint64();
        } else {
          body.skip();
        }
      }
    } else {
      packet.skip();
    }
  }
  return event;
}

std::vector<Event> events_of(const trace::Run& run, Written* written = nullptr) {
  std::string all;
  const auto result = write_perfetto(run, [&](std::string_view piece) -> base::Status {
    all += piece;
    return base::Done{};
  });
  EXPECT_TRUE(result.has_value());
  if (written != nullptr) *written = *result;
  std::vector<Event> events;
  protozero::pbf_message<perfetto::Trace> trace(all);
  while (trace.next(perfetto::Trace::kPacket)) {
    const Event event = event_in(protozero::pbf_message<TracePacket>(trace.get_message()));
    if (event.type != 0) events.push_back(event);
  }
  return events;
}

TEST(Perfetto, ACalleeThatOutlivesItsCallerByNoiseEndsWithIt) {
  TraceForTests trace;
  trace.event({.category = "cpu_op", .start = 0, .duration = 10'000});
  trace.event({.category = "cpu_op", .start = 5'000, .duration = 5'500});
  const std::vector<Event> events = events_of(run_of(trace.build()));
  ASSERT_EQ(events.size(), 4U);
  for (const Event& event : events) EXPECT_EQ(event.track, events[0].track);
  EXPECT_EQ(events[2].time, 10'000U);
  EXPECT_EQ(events[3].time, 10'000U);
}

TEST(Perfetto, TracksHaveTheSameIdsInEveryExport) {
  const auto make_run = [] {
    TraceForTests trace;
    trace.event({.duration = 1});
    return run_of(trace.build());
  };
  const std::vector<Event> alone = events_of(make_run());
  trace::Run both = make_run();
  trace::Run other = make_run();
  both.ranks.push_back(std::move(other.ranks[0]));
  both.ranks[1].rank.value = 1;
  const std::vector<Event> together = events_of(both);
  ASSERT_EQ(together.size(), 4U);
  EXPECT_EQ(together[0].track, alone[0].track);
  EXPECT_NE(together[2].track, alone[0].track);
}

TEST(Perfetto, FarEventsAreCountedAndLeftOut) {
  constexpr base::Nanos kDay = base::Nanos{86'400} * 1'000'000'000;
  TraceForTests trace;
  trace.event({.start = 0});
  trace.event({.start = 1});
  trace.event({.start = 3 * kDay, .phase = trace::RawPhase::kInstant});
  Written written;
  EXPECT_EQ(events_of(run_of(trace.build()), &written).size(), 4U);
  EXPECT_EQ(written.events, 2U);
  EXPECT_EQ(written.left_out, 1U);
}

TEST(Perfetto, AnEmptyRunIsAnEmptyFile) { EXPECT_TRUE(events_of(trace::Run{}).empty()); }

}  // namespace
}  // namespace stepscope::emit
