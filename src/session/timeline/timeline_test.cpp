// Tracks of a run: their names, order and lines.
#include "session/timeline/timeline.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"
#include "session/timeline/track_list.h"

namespace stepscope::session {
namespace {

using base::TempFolder;

using testing::ElementsAre;

std::string span(std::string_view category, std::string_view name, int tid, int start, int length) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":{},"ts":{},"dur":{}}})",
                     category, name, tid, start, length);
}

std::string kernel(std::string_view category, std::string_view name, int start, int length) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},)"
                     R"("args":{{"device":0,"stream":7}}}})",
                     category, name, start, length);
}

struct Opened {
  OpenedRun recording;
  std::optional<Study> study;
  Timeline timeline;
};

// On the heap: study and timeline point into the recording.
std::unique_ptr<Opened> timeline_of(const TempFolder& folder) {
  auto opened = std::make_unique<Opened>();
  auto recording = open({folder.path()}, {});
  EXPECT_TRUE(recording);
  opened->recording = *std::move(recording);
  opened->study = *Study::prepare(opened->recording, {}, 1);
  opened->timeline = *make_timeline(opened->recording, *opened->study, 1);
  return opened;
}

std::unique_ptr<Opened> timeline_of_events(const std::vector<std::string>& events) {
  static const TempFolder kFolder;
  std::filesystem::remove_all(kFolder.path());
  kFolder.write("trace.json", fmt::format("{{\"traceEvents\":[{}]}}", fmt::join(events, ",")));
  return timeline_of(kFolder);
}

const TimelineTrack& track_of(const Timeline& timeline, TrackKind kind) {
  static const TimelineTrack kNone;
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.kind == kind) return track;
  }
  ADD_FAILURE() << "no such track";
  return kNone;
}

std::vector<std::string> rows_of(const TimelineTrack& track) {
  std::vector<std::string> rows;
  for (const TrackPart& part : track.parts) {
    for (const Lane& lane : part.lanes) {
      std::string& row = rows.emplace_back();
      for (const std::uint32_t item : lane.items()) {
        row += fmt::format("{}{}", row.empty() ? "" : " ", part.name(item));
      }
    }
  }
  return rows;
}

TEST(Timeline, PutsCallsBelowTheirCallers) {
  const auto opened =
      timeline_of_events({span("cpu_op", "a", 1, 0, 100), span("cpu_op", "b", 1, 10, 20),
                          span("cpu_op", "c", 1, 12, 5), span("cpu_op", "d", 1, 40, 20),
                          span("cpu_op", "e", 1, 200, 5)});
  EXPECT_THAT(rows_of(track_of(opened->timeline, TrackKind::kHostThread)),
              ElementsAre("a e", "b d", "c"));
  EXPECT_EQ(opened->timeline.length, 205'000);
}

TEST(Timeline, KeepsWhatOverlapsApart) {
  const auto opened = timeline_of_events(
      {kernel("kernel", "k", 0, 50), kernel("kernel", "l", 30, 50), kernel("kernel", "m", 60, 50),
       kernel("gpu_user_annotation", "around", 0, 200)});
  EXPECT_THAT(rows_of(track_of(opened->timeline, TrackKind::kDeviceStream)),
              ElementsAre("around", "k m", "l"));
}

TEST(Timeline, CountsWhatFindsNoRow) {
  std::vector<std::string> events;
  events.reserve(600);
  for (int i = 0; i < 600; ++i) events.push_back(kernel("kernel", "k", i, 10000));
  const auto opened = timeline_of_events(events);
  const TimelineTrack& track = track_of(opened->timeline, TrackKind::kDeviceStream);
  EXPECT_EQ(track.events, 600U);
  EXPECT_EQ(track.depth, kMostLanes);
  EXPECT_EQ(track.not_drawn, 600U - kMostLanes);
}

TEST(Timeline, EveryThreadHasAName) {
  const auto on_thread = [](std::string_view name, std::string_view pid, std::string_view tid) {
    return fmt::format(R"({{"ph":"i","s":"g","name":"{}","pid":{},"tid":{},"ts":5}})", name, pid,
                       tid);
  };
  const auto opened = timeline_of_events(
      {span("cpu_op", "a", 77, 0, 100), on_thread("Record Window End", R"("")", R"("")"),
       on_thread("x", R"("Spans")", R"("PyTorch Profiler")"), on_thread("x", "5", R"("")"),
       on_thread("y", "5", R"("")"),
       R"({"ph":"M","name":"thread_name","pid":1,"tid":78,"args":{"name":"loader"}})",
       span("cpu_op", "b", 78, 0, 100)});
  std::vector<std::string> labels;
  for (const TimelineTrack& track : opened->timeline.tracks) {
    if (track.kind == TrackKind::kHostThread) labels.push_back(track.label);
  }
  EXPECT_THAT(labels,
              testing::UnorderedElementsAre("thread 77", "Record Window End", "PyTorch Profiler",
                                            "process 5, no thread", "loader"));
}

TEST(Timeline, WhatALoaderNotesOfEachBatchIsNoLine) {
  EXPECT_EQ(recorded_counter_label("loss"), "loss");
  EXPECT_EQ(recorded_counter_label("loader ready#DataLoader"), "DataLoader batches ready");
  EXPECT_EQ(recorded_counter_label("loader pid#DataLoader"), std::nullopt);
  EXPECT_EQ(recorded_counter_label("loader of mine"), "loader of mine");
}

TEST(Timeline, CountersAreALabelAndAUnit) {
  EXPECT_EQ(label_and_unit("GPU 0 utilisation (%)").unit, "%");
  EXPECT_EQ(label_and_unit("process resident bytes").label, "process resident");
  EXPECT_EQ(label_and_unit("process resident bytes").unit, "bytes");
  EXPECT_EQ(label_and_unit("loss").label, "loss");
  EXPECT_EQ(label_and_unit("loss").unit, "");
}

TEST(Timeline, PutsRanksOnOneClock) {
  const TempFolder folder;
  const auto text = [](int rank, const char* base, int start) {
    return fmt::format(
        R"({{"baseTimeNanoseconds":{},"distributedInfo":{{"rank":{}}},"traceEvents":[{}]}})", base,
        rank, span("cpu_op", "a", 1, start, 10));
  };
  folder.write("r0.json", text(0, "1700000000000000000", 5));
  folder.write("r1.json", text(1, "1700000000000002000", 1));
  const auto opened = timeline_of(folder);
  ASSERT_EQ(opened->timeline.windows.size(), 2U);
  EXPECT_EQ(opened->timeline.start_unix_ns, 1700000000000003000);
  EXPECT_EQ(opened->timeline.windows[0].first, 2000);
  EXPECT_EQ(opened->timeline.windows[1].first, 0);
  EXPECT_EQ(opened->timeline.length, 12000);
}

TEST(Timeline, FindsEveryEventWhereItIsDrawn) {
  const auto opened =
      timeline_of_events({span("cpu_op", "a", 1, 0, 100), span("cpu_op", "b", 1, 10, 20),
                          kernel("kernel", "k", 20, 50)});
  const Timeline& timeline = opened->timeline;
  const TimelineWindow& window = timeline.windows.at(0);
  for (trace::Row row = 0; row < window.trace->size(); ++row) {
    const auto place = timeline.place_of(window, row);
    ASSERT_TRUE(place);
    const TrackPart& part = timeline.tracks[place->track].parts.at(0);
    EXPECT_THAT(part.lanes.at(place->depth).items(), testing::Contains(row));
  }
}

}  // namespace
}  // namespace stepscope::session
