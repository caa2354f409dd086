// What is read beside a file, and which JSON files are no traces.
#include "session/files/load.h"

#include <string>

#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"

namespace stepscope::session {

namespace {

using base::TempFolder;

TEST(Addresses, LieBesideTheSnapshot) {
  EXPECT_EQ(addresses_beside("a/memory-0.pickle"), "a/memory-0-addresses.json");
  EXPECT_EQ(addresses_beside("memory-0.pickle.gz"), "memory-0-addresses.json");
  EXPECT_EQ(addresses_beside("x.pkl.zst"), "x-addresses.json");
  EXPECT_EQ(addresses_beside("-"), "");
}

TEST(Addresses, ThatCannotBeUsedAreNoted) {
  const TempFolder folder;
  folder.write("memory-0-addresses.json", "{");
  memory::Snapshot snapshot;
  add_known_addresses(folder / "memory-0.pickle", snapshot);
  EXPECT_TRUE(snapshot.known.empty());
  EXPECT_EQ(snapshot.log.count(base::Note::kUnknownValue), 1u);
  add_known_addresses(folder / "memory-1.pickle", snapshot);
  EXPECT_EQ(snapshot.log.count(base::Note::kUnknownValue), 1u);
}

}  // namespace

namespace {

struct Case {
  std::string name;
  std::string text;
  std::string reason;  // empty: may be a trace
  bool whole = true;
};

const Case kCases[] = {
    {"object with events", R"({"traceEvents":[)", ""},
    {"events after metadata", R"({"a":{"x":"}"},"b":[1,"]"],"traceEvents":[]})", ""},
    {"byte order mark", "\xef\xbb\xbf{\"traceEvents\":[]}", ""},
    {"pretty printed", "\n {\n  \"schemaVersion\": 1,\n", "", false},
    {"header cut short", R"({"schemaVersion": 1, "deviceProp)", ""},
    {"bare list of events", R"([ {"name":"x","ph":"X"}])", ""},
    {"list cut in its first event", R"([{"name":"x","cat)", ""},
    {"cut to nothing", "", ""},
    {"zeros of a crashed node", std::string(64, '\0'), ""},
    {"traceEvents only further in", R"({"config":{"traceEvents":1}})", "JSON without traceEvents"},
    {"traceEvents as a value", R"({"key":"traceEvents"})", "JSON without traceEvents"},
    {"memory snapshot", R"({"segments":[],"device_traces":[]})", "a memory snapshot"},
    {"configuration", R"({"lr": 0.1})", "JSON without traceEvents"},
    {"memory timeline", "[[1, 2, 3, 4]]", ""},
    {"list of numbers", "[1, 2]", "a list without events"},
    {"list of other objects", R"([{"id": 1}])", "a list of objects without 'ph'"},
    {"empty list", "[]", "an empty list"},
    {"text", "hello", ""},
    {"a file of our own", R"({"schema": "stepscope.run/1", "id": 1})", std::string(kOwnFile)},
    {"a schema of others", R"({"schema": "other.run/1"})", "JSON without traceEvents"},
    {"a recording", "\x89SCOPE\n\x01", ""},
    {"large something else", R"({"rows": [1, 2, 3, )", "no traceEvents in its first megabyte",
     false},
};

TEST(Content, TellsTracesFromOtherJson) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(reason_to_skip(c.text, c.whole), c.reason);
  }
}

}  // namespace

}  // namespace stepscope::session
