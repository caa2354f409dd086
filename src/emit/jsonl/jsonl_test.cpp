// The full dump, line by line.
#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emit/emit.h"
#include "emit/trace_for_tests.h"

namespace stepscope::emit {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<std::string> lines_of(trace::Trace trace) {
  std::string all;
  const auto written =
      write_jsonl(run_of(std::move(trace)), [&](std::string_view piece) -> base::Status {
        all += piece;
        return base::Done{};
      });
  EXPECT_TRUE(written.has_value());
  std::vector<std::string> lines;
  std::istringstream stream(all);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Jsonl, TheFirstLineSaysWhatTheFileIs) {
  TraceForTests trace;
  trace.header.base_time_ns = std::int64_t{1790857026} * 1'000'000'000;
  trace.header.schema_version = 1;
  trace.header.devices.push_back({.id = 0, .name = "H200", .memory_bytes = 10, .compute_major = 9});
  trace.header.host = "n1";
  trace.label("1", "1", trace::LabelRow::What::kThreadName, "main");
  trace.event({.start = 5, .duration = 10});
  EXPECT_EQ(
      lines_of(trace.build())[0],
      R"({"rank":0,"window":0,"header":{"base_time_ns":"1790857026000000000","schema_version":1,)"
      R"("devices":[{"id":0,"name":"H200","memory_bytes":10,"compute_major":9,"compute_minor":0,)"
      R"("multiprocessors":0,"warp_size":0,"max_threads_per_multiprocessor":0,)"
      R"("registers_per_multiprocessor":0,"shared_memory_per_multiprocessor":0}],"host":"n1",)"
      R"("steps":{"source":"whole","list":[[0,5,15]]},"tracks":[{"process":"1","thread":"1",)"
      R"("thread_name":"main","is_device":false}],"entries":2,"span":[5,15]}})");
}

TEST(Jsonl, LaunchAndKernelNameEachOther) {
  TraceForTests trace;
  const auto op = trace.event({.category = "cpu_op", .name = "aten::mm", .duration = 100});
  trace.shard().ops.push_back({op, -1, 7, -1});
  const auto call = trace.event(
      {.category = "cuda_runtime", .name = "cudaLaunchKernel", .start = 10, .duration = 5});
  trace.shard().launches.push_back({call, 3, 7});
  const auto kernel = trace.event(
      {.pid = "0", .tid = "7", .category = "kernel", .name = "gemm", .start = 20, .duration = 9});
  trace.shard().device.push_back({kernel, 0, 7, 1, 3, 7});
  trace.shard().kernels.push_back(
      {kernel, {4096, 1, 1}, {128, 1, 1}, 32, 0, 2.5F, kNaN, 50.0F, -1, -1});
  const auto lines = lines_of(trace.build());
  EXPECT_EQ(lines[1],
            R"({"rank":0,"window":0,"ordinal":0,"ph":"span","cat":"cpu_op","kind":"cpu_op",)"
            R"("name":"aten::mm","pid":"1","tid":"1","start_ns":0,"dur_ns":100,"external_id":7})");
  EXPECT_EQ(lines[2],
            R"({"rank":0,"window":0,"ordinal":1,"ph":"span","cat":"cuda_runtime","kind":"runtime",)"
            R"("name":"cudaLaunchKernel","pid":"1","tid":"1","start_ns":10,"dur_ns":5,"parent":0,)"
            R"("correlation":3,"external_id":7,"op":0,"work":[2]})");
  EXPECT_EQ(lines[3],
            R"({"rank":0,"window":0,"ordinal":2,"ph":"span","cat":"kernel","kind":"kernel",)"
            R"("name":"gemm","pid":"0","tid":"7","start_ns":20,"dur_ns":9,"device":0,"stream":7,)"
            R"("context":1,"correlation":3,"external_id":7,"launch":1,"grid":[4096,1,1],)"
            R"("block":[128,1,1],"registers":32,"shared_memory":0,"blocks_per_sm":2.5,)"
            R"("occupancy_percent":50})");
}

TEST(Jsonl, EventsAndFlowsComeInTheOrderOfTheFile) {
  TraceForTests trace;
  trace.event({.name = "late", .start = 100});
  trace.gap();
  trace.flow('s', std::uint64_t{1} << 63, 50);
  const auto counter =
      trace.event({.tid = "2", .name = "power", .start = 10, .phase = trace::RawPhase::kCounter});
  trace.shard().counters.push_back({counter, trace.shard().intern("watts \"x\"", 3), 431.5});
  trace.shard().counters.push_back({counter, trace.shard().intern("limit", 3), 700});
  const auto memory = trace.event({.category = "cpu_instant_event",
                                   .name = "[memory]",
                                   .start = 11,
                                   .phase = trace::RawPhase::kInstant,
                                   .flags = trace::kBadDuration});
  trace.shard().memory.push_back({memory, 1, 0, 0, -512, 0, -1});
  const auto lines = lines_of(trace.build());
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[1], testing::HasSubstr(
                            R"("ordinal":0,"ph":"span","cat":"c","kind":"other","name":"late")"));
  EXPECT_EQ(lines[2],
            R"({"rank":0,"window":0,"ordinal":2,"ph":"flow","cat":"ac2g","name":"ac2g","pid":"1",)"
            R"("tid":"1","start_ns":50,"id":"9223372036854775808","flow":"s"})");
  EXPECT_THAT(lines[3],
              testing::EndsWith(R"("start_ns":10,"counters":{"watts \"x\"":431.5,"limit":700}})"));
  EXPECT_THAT(lines[4],
              testing::EndsWith(R"("start_ns":11,"flags":["bad_duration"],"memory":{"bytes":-512,)"
                                R"("total_allocated":0,"device_type":1,"device_id":0}})"));
}

}  // namespace
}  // namespace stepscope::emit
