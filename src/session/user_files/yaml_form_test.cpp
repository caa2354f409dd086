// YAML that is refused, and files that use it.
#include <array>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "session/config/config_file.h"
#include "session/user_files/user_files.h"
#include "session/user_files/yaml_file.h"

namespace stepscope::session {
namespace {

template <class T>
std::string message_of(const base::Result<T>& read) {
  return read ? "" : read.error().message;
}

// What a reader of one of the four files says of a text; nothing where it is read.
using Reader = std::function<std::string(const std::string&)>;
const Reader kRules = [](const std::string& text) {
  return message_of(parse_gate_rules(text, "f.yaml"));
};
const Reader kThresholds = [](const std::string& text) {
  return message_of(parse_thresholds(text, "f.yaml"));
};
const Reader kPeaks = [](const std::string& text) {
  return message_of(parse_peaks(text, "f.yaml"));
};
const Reader kConfig = [](const std::string& text) {
  return message_of(parse_config(text, "f.yaml"));
};

TEST(YamlForm, AKeyThatIsSaidTwice) {
  struct Case {
    const Reader& read;
    std::string text, expected;
  };
  const std::array cases = {
      Case{kRules,
           "limits: {step_time: {max_increase: 3%}}\n"
           "limits: {throughput: {max_decrease: 99%}}\n",
           "f.yaml:2:1: 'limits' is said twice, first in line 1"},
      Case{kRules, "limits: {step_time: {max_increase: 200%, max_increase: 3%}}\n",
           "f.yaml:1:42: 'max_increase' is said twice, first in line 1"},
      Case{kRules, "limits:\n  step_time: {max: 3ms}\n  \"step_time\": {max: 9s}\n",
           "f.yaml:3:3: 'step_time' is said twice, first in line 2"},
      Case{kRules, "limits: {&q step_time: {max: 3ms}, *q : {max: 9s}}\n",
           "f.yaml:1:36: 'step_time' is said twice, first in line 1"},
      Case{kThresholds, "input-bound: {warning: 0.2, warning: 0.3}\n",
           "f.yaml:1:29: 'warning' is said twice, first in line 1"},
      Case{kThresholds, "input-bound: {warning: 0.2}\ninput-bound: {warning: 0.3}\n",
           "f.yaml:2:1: 'input-bound' is said twice, first in line 1"},
      Case{kPeaks, "devices:\n  - {match: X, tflops: {bf16: 1, bf16: 2}}\n",
           "f.yaml:2:34: 'bf16' is said twice, first in line 2"},
      Case{kPeaks,
           "devices: [{match: X, gb_per_second: 1}]\ndevices: [{match: Y, gb_per_second: 1}]\n",
           "f.yaml:2:1: 'devices' is said twice, first in line 1"},
      Case{kConfig, "rank0_only: true\nlogs: info\nrank0_only: false\n",
           "f.yaml:3:1: 'rank0_only' is said twice, first in line 1"},
      Case{kConfig, "window:\n  warmup: 1\n  warmup: 2\n",
           "f.yaml:3:3: 'warmup' is said twice, first in line 2"},
      Case{kConfig, "out: a\nfolder: b\n", "f.yaml:2:1: 'folder' is said twice, first in line 1"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.text);
    EXPECT_EQ(one.read(one.text), one.expected);
  }
}

TEST(YamlForm, ASecondDocument) {
  const std::array<std::pair<const Reader&, std::string>, 4> files = {{
      {kRules, "limits: {step_time: {max_increase: 3%}}\n"},
      {kThresholds, "input-bound: {warning: 0.2}\n"},
      {kPeaks, "devices: [{match: X, gb_per_second: 1}]\n"},
      {kConfig, "rank0_only: true\n"},
  }};
  for (const auto& [read, text] : files) {
    SCOPED_TRACE(text);
    EXPECT_EQ(read("# all of it\n---\n" + text + "...\n# the end\n"), "");
    for (const std::string& second : {"---\n" + text, std::string("---\n")}) {
      EXPECT_EQ(read(text + second),
                "f.yaml:2:1: a second document begins here, and only the first would be read: put "
                "everything into one, without '---'");
    }
  }
  // The library ends a document after its last bracket.
  EXPECT_EQ(kThresholds("{input-bound: {warning: 0.2}}\n{host-sync: {}}\n").substr(0, 31),
            "f.yaml:2:1: a second document b");
}

TEST(YamlForm, NulInAText) {
  const std::string said = "NUL (a zero byte) in a text: take it away";
  EXPECT_EQ(kConfig("folder: \"a\\0b\"\n"), "f.yaml:1:9: " + said);
  EXPECT_EQ(kConfig("tags: [a, \"\\x00\"]\n"), "f.yaml:1:11: " + said);
  EXPECT_EQ(kConfig(std::string("folder: 'a\0b'\n", 14)), "f.yaml:1:9: " + said);
  EXPECT_EQ(kRules("\"limits\\0\": {}\n"), "f.yaml:1:1: " + said);
  EXPECT_EQ(kThresholds("input-bound: {warning: \"1\\0\"}\n"), "f.yaml:1:24: " + said);
  EXPECT_EQ(kPeaks("devices: [{match: \"X\\0\", gb_per_second: 1}]\n"), "f.yaml:1:19: " + said);
}

// The same key in two mappings, in values and in lists, and '<<', of which each is taken over.
TEST(YamlForm, WhatIsSaidOnce) {
  EXPECT_EQ(kRules("limits: {step_time: {max: 3ms}, throughput: {min: 3}}\n"), "");
  EXPECT_EQ(kConfig("benchmark_profiler: {memory: {warmup: 1}, snapshot: {warmup: 1}}\n"
                    "tags: [window, window]\n"),
            "");
  EXPECT_EQ(kConfig("benchmark_profiler: {memory: &a {warmup: 1}, snapshot: {<<: *a, <<: *a}}\n"),
            "");
  EXPECT_EQ(kConfig(""), "");
}

// None of them takes time or stack by what it stands for, or by how deep it is.
TEST(YamlForm, BombsAndCircles) {
  std::string bomb = "a0: &a0 {k: v}\n";
  for (int i = 1; i < 64; ++i) {
    bomb += fmt::format("a{0}: &a{0} {{k: *a{1}, l: *a{1}}}\n", i, i - 1);
  }
  for (const Reader& read : {kRules, kThresholds, kPeaks, kConfig}) {
    EXPECT_EQ(read(bomb).substr(0, 8), "f.yaml:1");
    EXPECT_EQ(read("a: &a {b: *a, c: [*a, *a]}\n").substr(0, 8), "f.yaml:1");
    EXPECT_EQ(read("&a {*a : *a}\n").substr(0, 8), "f.yaml:1");
    for (const std::string opening : {"[", "{a: ", "- ", "? "}) {
      std::string deep;
      for (int i = 0; i < 100'000; ++i) deep += opening;
      EXPECT_EQ(read(deep).substr(0, 7), "f.yaml:");
    }
  }
}

TEST(YamlForm, NumbersThatMakeARateInfinite) {
  const std::string said =
      "'samples_per_step' is a number above 0, at most 1e30, and of throughput alone";
  for (const std::string samples : {"1e308", "1e31", "1e-320", "0", "-1", "inf", "nan"}) {
    SCOPED_TRACE(samples);
    EXPECT_EQ(kRules("limits: {throughput: {max_decrease: 3%, samples_per_step: " + samples + "}}"),
              "f.yaml:1:59: " + said);
  }
  EXPECT_EQ(kRules("limits: {throughput: {max_decrease: 3%, samples_per_step: 4e6}}"), "");
  EXPECT_EQ(kRules("limits: {throughput: {max_decrease: 1e308%}}").substr(0, 13), "f.yaml:1:37: ");
  EXPECT_EQ(kRules("limits: {throughput: {min: 1e308}}"),
            "f.yaml:1:28: expected a number from 0 to 1e30");
}

}  // namespace
}  // namespace stepscope::session
