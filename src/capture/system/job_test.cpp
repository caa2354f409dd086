// The processes of a job, and what is sampled of them, on a made-up machine.
#include "capture/system/job.h"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/system/fake_machine_for_tests.h"
#include "capture/system/gpu_series.h"
#include "capture/system/sampling.h"

namespace stepscope::capture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(Job, IsWhoAnnouncedItselfAndAllTheyStarted) {
  FakeMachine machine;
  machine.process(10, 1);
  machine.process(11, 10);
  machine.process(12, 11);  // a child of a child
  machine.process(20, 10);  // a rank that another rank started
  machine.process(21, 20);
  machine.process(99, 1);  // of another job
  machine.announced(10, 0);
  machine.announced(20, 1);
  machine.announced(77, 2);                                             // has ended
  machine.write("node/process-99", "rank 3\nstart 6\nend\n");           // its number was given anew
  machine.write("node/process-12", "rank 4\nstart 7\nlocal_rank 4\n");  // is being written
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  ASSERT_EQ(job.processes().size(), 2U);
  EXPECT_EQ(job.processes()[0].pid, 10);
  EXPECT_THAT(job.processes()[0].children, ElementsAre(11, 12));
  EXPECT_THAT(job.processes()[1].children, ElementsAre(21));
  EXPECT_EQ(job.rank_of(12), 0);
  EXPECT_EQ(job.rank_of(21), 1);
  EXPECT_EQ(job.rank_of(99), std::nullopt);
}

TEST(Job, AnnouncesThisProcessAsItIs) {
  FakeMachine machine;
  SystemPlace place;  // the real one
  Job job(place, machine.path("node"));
  ASSERT_TRUE(job.announce(3, 1, {{"CUDA_VISIBLE_DEVICES", "0,2"}, {"HIP_VISIBLE_DEVICES", ""}}));
  job.refresh();
  ASSERT_EQ(job.processes().size(), 1U);
  EXPECT_EQ(job.processes()[0].pid, ::getpid());
  EXPECT_EQ(job.processes()[0].rank, 3);
  EXPECT_EQ(job.processes()[0].local_rank, 1);
  EXPECT_EQ(job.processes()[0].devices.at("CUDA_VISIBLE_DEVICES"), "0,2");
  EXPECT_EQ(job.processes()[0].devices.at("HIP_VISIBLE_DEVICES"), "");
  job.withdraw();
  job.refresh();
  EXPECT_THAT(job.processes(), IsEmpty());
  EXPECT_FALSE(Job(place, machine.path("no-such-folder")).announce(0, 0, {}));
}

TEST(Processes, TotalsKeepWhatEnded) {
  FakeMachine machine;
  const auto files = [&](int pid, const char* read) {
    machine.write("proc/" + std::to_string(pid) + "/statm", "500 100 0 0 0 0 0\n");
    machine.write("proc/" + std::to_string(pid) + "/io",
                  std::string("rchar: ") + read + "\nwchar: 3\nread_bytes: 1\nwrite_bytes: 2\n");
  };
  machine.process(10, 1);
  machine.process(11, 10);
  machine.announced(10, 0);
  machine.cpu_ns = {{10, 100}, {11, 40}};
  files(10, "1000");
  files(11, "70");
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  const auto source = process_source(machine.place(), job);
  Watcher watcher;
  watcher.sample(*source);
  machine.remove("proc/11");  // ends
  machine.process(12, 10);
  machine.cpu_ns = {{10, 150}, {12, 5}};
  files(12, "30");
  watcher.sample(*source);  // not looked for new ones yet
  job.refresh();
  watcher.sample(*source);
  const Seen seen = watcher.seen();
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  EXPECT_THAT(seen["process.cpu rank 0 process"], ElementsAre(100, 150, 150));
  EXPECT_THAT(seen["process.cpu rank 0 children"], ElementsAre(40, 40, 45));
  EXPECT_THAT(seen["process.read rank 0 children"], ElementsAre(70, 70, 100));
  EXPECT_THAT(seen["process.rss rank 0 process"], ElementsAre(100 * page, 100 * page, 100 * page));
  EXPECT_THAT(seen["process.count rank 0 children"], ElementsAre(1, 0, 1));
}

// A child counts from 0, whenever it is first seen; what it did after the last look is reported to
// its parent, and counts once.
TEST(Processes, ChildrenCountWhole) {
  FakeMachine machine;
  const std::int64_t tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  const auto waited_for =
      [&](int ticks) {  // by the training process, and half of it as system time
        machine.write("proc/10/stat", "10 (py) S 1 0 0 0 0 0 0 0 0 0 0 0 " + std::to_string(ticks) +
                                          " 5 0 0 0 0 7 0\n");
      };
  waited_for(3);  // of children before anybody looked
  machine.announced(10, 0);
  machine.write("proc/10/statm", "500 100 0 0 0 0 0\n");
  machine.cpu_ns = {{10, 100}};
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  const auto source = process_source(machine.place(), job);
  Watcher watcher;
  watcher.sample(*source);
  machine.process(11, 10);
  machine.write("proc/11/statm", "500 100 0 0 0 0 0\n");
  machine.cpu_ns[11] = 50 * tick;
  job.refresh();
  watcher.sample(*source);
  machine.remove("proc/11");
  machine.cpu_ns.erase(11);
  waited_for(3 + 58);
  watcher.sample(*source);
  waited_for(3 + 58 + 20);  // another came and went
  job.refresh();
  watcher.sample(*source);
  EXPECT_THAT(watcher.seen()["process.cpu rank 0 children"],
              ElementsAre(0, 50 * tick, 58 * tick, 78 * tick));
  EXPECT_THAT(watcher.seen()["process.count rank 0 children"], ElementsAre(0, 1, 0));
}

// A child that is not waited for stays in the totals as it was last seen, and they never fall.
TEST(Processes, ChildrenThatNobodyWaitsForStay) {
  FakeMachine machine;
  machine.process(10, 1);
  machine.process(11, 10);
  machine.announced(10, 0);
  for (const char* pid : {"10", "11"}) {
    machine.write(std::string("proc/") + pid + "/statm", "500 100 0 0 0 0 0\n");
  }
  machine.cpu_ns = {{10, 100}, {11, 900}};
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  const auto source = process_source(machine.place(), job);
  Watcher watcher;
  watcher.sample(*source);
  machine.remove("proc/11");
  watcher.sample(*source);
  job.refresh();
  watcher.sample(*source);
  EXPECT_THAT(watcher.seen()["process.cpu rank 0 children"], ElementsAre(900, 900, 900));
}

// The kernel adds what a child read to its parent's own when that waits for it. In the order of
// what can happen: a child that is not waited for yet, one of a child, and what the parent reads.
TEST(Processes, WhatAChildReadCountsOnce) {
  FakeMachine machine;
  const auto files = [&](int pid, int read) {
    machine.write("proc/" + std::to_string(pid) + "/statm", "500 100 0 0 0 0 0\n");
    machine.write("proc/" + std::to_string(pid) + "/io",
                  "rchar: " + std::to_string(read) +
                      "\nwchar: 0\nread_bytes: " + std::to_string(read / 2) + "\nwrite_bytes: 0\n");
  };
  const auto end = [&](int pid) {
    machine.remove("proc/" + std::to_string(pid));
    machine.cpu_ns.erase(pid);
  };
  machine.process(10, 1);
  machine.process(11, 10);
  machine.process(12, 10);
  machine.process(13, 12);  // a child of a child
  machine.announced(10, 0);
  machine.cpu_ns = {{10, 1}, {11, 1}, {12, 1}, {13, 1}};
  files(10, 1000);
  files(11, 500);
  files(12, 40);
  files(13, 300);
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  const auto source = process_source(machine.place(), job);
  Watcher watcher;
  watcher.sample(*source);
  end(11);  // its parent did not wait for it yet
  files(10, 1020);
  watcher.sample(*source);
  files(10, 1520);  // the parent has waited for it
  end(13);          // and 12 for this one, which read a last 10 unseen
  files(12, 350);
  job.refresh();
  watcher.sample(*source);
  end(12);
  files(10, 1900);  // 350 of 12 and 13, and 30 of its own
  watcher.sample(*source);
  const Seen seen = watcher.seen();
  EXPECT_THAT(seen["process.read rank 0 process"], ElementsAre(1000, 1020, 1020, 1050));
  EXPECT_THAT(seen["process.read rank 0 children"], ElementsAre(840, 840, 850, 850));
  EXPECT_THAT(seen["process.disk_read rank 0 process"], ElementsAre(500, 510, 510, 525));
  EXPECT_THAT(seen["process.disk_read rank 0 children"], ElementsAre(420, 420, 425, 425));
}

TEST(Processes, SayWhenTheMachineHidesThem) {
  FakeMachine machine;
  machine.announced(::getpid(), 0);
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  const auto source = process_source(machine.place(), job);
  Watcher watcher;
  watcher.sample(*source);
  watcher.sample(*source);
  EXPECT_THAT(watcher.seen().values, IsEmpty());
  EXPECT_THAT(watcher.seen().notices,
              ElementsAre(testing::HasSubstr("of the job's processes are not known")));
}

TEST(Job, IsToldOfNewChildrenByTheList) {
  FakeMachine machine;
  machine.process(10, 1);
  machine.announced(10, 0);
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  EXPECT_FALSE(job.has_changed());  // the kernel has no such list
  machine.write("proc/10/task/10/children", "");
  EXPECT_FALSE(job.has_changed());
  machine.write("proc/10/task/10/children", "11 ");
  EXPECT_TRUE(job.has_changed());
  EXPECT_TRUE(job.has_changed());  // until the next look
  job.refresh();
  EXPECT_FALSE(job.has_changed());
}

TEST(Job, IsToldOfRanksThatCameAfterTheFirstLook) {
  FakeMachine machine;
  machine.process(10, 1);
  machine.process(20, 1);
  machine.announced(10, 0);
  Job job(machine.place(), machine.path("node"));
  EXPECT_TRUE(job.has_newcomers());
  job.refresh();
  EXPECT_FALSE(job.has_newcomers());
  machine.write("node/sampler.lock", "");  // no process
  EXPECT_FALSE(job.has_newcomers());
  machine.announced(20, 1);
  EXPECT_TRUE(job.has_newcomers());
  job.refresh();
  EXPECT_FALSE(job.has_newcomers());
}

TEST(Job, WhoIsGoneWithoutTakingLeaveIsLost) {
  FakeMachine machine;
  for (const int pid : {10, 20, 30}) machine.process(pid, 1);
  machine.announced(10, 0);
  machine.announced(20, 1);
  machine.announced(30, 2);
  machine.announced(40, 3);  // of another container: it was never seen
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  EXPECT_THAT(job.lost(), IsEmpty());
  machine.remove("proc/20");
  machine.remove("node/process-30");  // takes leave
  machine.remove("proc/30");
  job.refresh();
  EXPECT_THAT(job.lost(), ElementsAre(1));
  EXPECT_EQ(job.processes().size(), 1U);
}

TEST(Sampling, SeesARankLongBeforeItLooksThroughTheMachineAgain) {
  FakeMachine machine;
  for (const int pid : {10, 20}) {
    machine.process(pid, 1);
    machine.write("proc/" + std::to_string(pid) + "/statm", "500 100 0 0 0 0 0\n");
  }
  machine.announced(10, 0);
  Sampling sampling(machine.place(), machine.path("node"), 1'000'000);
  sampling.prepare();
  sampling.moment();
  machine.announced(20, 1);
  std::string blocks;
  // A source rests when it took long, on a busy machine.
  for (int tries = 0; tries < 30 && !seen_in(blocks).values.contains("process.rss rank 1 process");
       ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sampling.moment();
    sampling.take(blocks);
  }
  EXPECT_THAT(seen_in(blocks)["process.rss rank 1 process"], Not(IsEmpty()));
}

TEST(Job, IsToldOfChildrenThatCameAfterTheFirstLook) {
  FakeMachine machine;
  machine.process(10, 1);
  machine.write("proc/10/task/10/children", "");
  machine.announced(10, 0);
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  machine.write("proc/10/task/10/children", "11 ");
  EXPECT_TRUE(job.has_changed());
}

TEST(Processes, SayOnceWhichProcessorsTheyMayRunOn) {
  FakeMachine machine;
  machine.process(10, 1);
  machine.announced(10, 0);
  machine.write("proc/10/statm", "500 100 0 0 0 0 0\n");
  machine.write("proc/10/status", "Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\n");
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  const auto source = process_source(machine.place(), job);
  Watcher watcher;
  watcher.sample(*source);
  machine.write("proc/10/status", "Cpus_allowed_list:\t0\n");  // a library binds its threads
  watcher.sample(*source);
  EXPECT_THAT(watcher.seen()["process.processors rank 0 0-3,8"], ElementsAre(1));
}

struct GivenCase {
  const char* name;
  Variables variables;
  std::vector<std::size_t> devices;
  std::vector<std::string> parts;
  std::string unknown = {};  // what is said that the driver does not show
};

TEST(Visible, AsCudaAndSlurmReadIt) {
  const std::vector<ListedDevice> listed = {
      {"GPU-aaaa", 4}, {"GPU-bbbb", 5}, {"GPU-cccc", 6}, {"GPU-cddd", 7}};
  const GivenCase cases[] = {
      {"nothing said: all", {}, {0, 1, 2, 3}, {}},
      {"numbers in their order", {{"CUDA_VISIBLE_DEVICES", "2,0"}}, {2, 0}, {}},
      {"empty: none", {{"CUDA_VISIBLE_DEVICES", ""}}, {}, {}},
      {"-1 ends the list", {{"CUDA_VISIBLE_DEVICES", "1,-1,2"}}, {1}, {}},
      {"a number too high ends the list", {{"CUDA_VISIBLE_DEVICES", "1,9,2"}}, {1}, {}, "9"},
      {"the beginning of a name", {{"CUDA_VISIBLE_DEVICES", "GPU-cd, GPU-a"}}, {3, 0}, {}},
      {"twice is once", {{"CUDA_VISIBLE_DEVICES", "1,1"}}, {1}, {}},
      {"a part", {{"CUDA_VISIBLE_DEVICES", "MIG-1234"}}, {}, {"MIG-1234"}},
      {"Slurm counts the node's", {{"SLURM_JOB_GPUS", "5-6"}}, {1, 2}, {}},
      {"the step's before the job's",
       {{"SLURM_JOB_GPUS", "4-7"}, {"SLURM_STEP_GPUS", "7"}},
       {3},
       {}},
      {"CUDA's before Slurm's", {{"SLURM_JOB_GPUS", "4"}, {"CUDA_VISIBLE_DEVICES", "1"}}, {1}, {}},
      {"numbers that the driver does not know", {{"SLURM_JOB_GPUS", "0,1"}}, {}, {}, "0"},
      {"as many as the driver shows, by other numbers",
       {{"SLURM_JOB_GPUS", "0-3"}},
       {0, 1, 2, 3},
       {}},
      {"one of them is not known", {{"SLURM_JOB_GPUS", "4,9"}}, {0}, {}, "9"},
      {"a name of no device", {{"CUDA_VISIBLE_DEVICES", "GPU-x"}}, {}, {}, "GPU-x"},
  };
  for (const GivenCase& one : cases) {
    SCOPED_TRACE(one.name);
    const GivenDevices given = nvidia_devices(one.variables, listed);
    EXPECT_EQ(given.devices, one.devices);
    EXPECT_EQ(given.parts, one.parts);
    EXPECT_EQ(given.why_not(listed.size()).empty(), one.unknown.empty());
    EXPECT_EQ(given.unknown, one.unknown);
  }
  EXPECT_THAT(
      amd_devices({{"ROCR_VISIBLE_DEVICES", "3"}, {"CUDA_VISIBLE_DEVICES", "0"}}, listed).devices,
      ElementsAre(3));
}

TEST(Visible, Lists) {
  EXPECT_THAT(numbers_in("0,2-4"), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(numbers_in(""), IsEmpty());
  EXPECT_THAT(numbers_in("gpu:2,1,5-"), ElementsAre(1));
  EXPECT_THAT(numbers_in("0-99999999999"), IsEmpty());
}

}  // namespace
}  // namespace stepscope::capture
