#include "ingest/pickle/pickle.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::ingest::pickle {
namespace {

using base::Code;
using base::Note;
using memory::Action;
using testing::ElementsAre;
using testing::HasSubstr;

// Pickles by hand: what a writer writes, opcode by opcode.
std::string text(std::string_view value) {
  return "\x8c" + std::string(1, static_cast<char>(value.size())) + std::string(value);
}
std::string byte(int value) { return "K" + std::string(1, static_cast<char>(value)); }
std::string dict(const std::vector<std::string>& members) {
  std::string all = "}(";
  for (const std::string& member : members) all += member;
  return all + "u";
}
std::string list(const std::vector<std::string>& items) {
  std::string all = "](";
  for (const std::string& item : items) all += item;
  return all + "e";
}
std::string event(const std::string& action, const std::string& address,
                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> members = {text("action"), text(action), text("addr"),
                                      address,        text("size"), byte(8)};
  members.insert(members.end(), more.begin(), more.end());
  return dict(members);
}
std::string with_events(const std::vector<std::string>& events) {
  return "\x80\x04" + dict({text("device_traces"), list({list(events)})}) + ".";
}

base::Result<memory::Snapshot> read_text(const std::string& bytes) {
  return read(bytes::memory_source("s.pickle", bytes), {});
}

memory::Snapshot snapshot_of(const std::string& bytes) {
  auto read = read_text(bytes);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *std::move(read) : memory::Snapshot();
}

std::vector<std::string> functions(const memory::Snapshot& snapshot, memory::StackId stack) {
  std::vector<std::string> names;
  for (const memory::FrameId id : snapshot.stacks[stack]) {
    names.emplace_back(snapshot.text(snapshot.stacks.frame(id).name));
  }
  return names;
}

struct NumberCase {
  std::string opcodes;
  std::uint64_t address;
};

TEST(Pickle, ReadsEveryWayToWriteANumber) {
  using namespace std::string_literals;
  const std::vector<NumberCase> cases = {
      {"K\xff"s, 255},
      {"M\xff\xff"s, 65535},
      {"J\xff\xff\xff\x7f"s, 0x7fffffff},
      {"J\xff\xff\xff\xff"s, 0xffffffffffffffff},
      {"\x8a\x00"s, 0},
      {"\x8a\x02\x00\x80"s, 0xffffffffffff8000},
      {"\x8a\x06\x00\x00\x00\x00\x00\x7f"s, 0x7f0000000000},
      {"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"s, 0x7fffffffffffffff},
      {"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00"s, 0x8000000000000000},
      {"\x8b\x02\x00\x00\x00\x01\x02"s, 0x201},
      {"G\x40\x59\x00\x00\x00\x00\x00\x00"s, 100},
      {"I100\n"s, 100},
      {"I01\n"s, 1},
      {"L18446744073709551615L\n"s, 0xffffffffffffffff},
      {"F25.0\n"s, 25},
      {"\x88"s, 1},
      {"\x8a\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00"s, 0},  // more than 64 bits: not known
  };
  for (const NumberCase& one : cases) {
    const memory::Snapshot snapshot = snapshot_of(with_events({event("alloc", one.opcodes)}));
    ASSERT_EQ(snapshot.histories.size(), 1u) << testing::PrintToString(one.opcodes);
    EXPECT_EQ(snapshot.histories[0].address[0], one.address) << testing::PrintToString(one.opcodes);
  }
}

TEST(Pickle, ReadsEveryWayToWriteText) {
  using namespace std::string_literals;
  for (const std::string& note :
       {"\x8c\x02hi"s, "X\x02\x00\x00\x00hi"s, "\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi"s,
        "U\x02hi"s, "T\x02\x00\x00\x00hi"s, "C\x02hi"s, "B\x02\x00\x00\x00hi"s,
        "\x8e\x02\x00\x00\x00\x00\x00\x00\x00hi"s, "\x96\x02\x00\x00\x00\x00\x00\x00\x00hi\x98"s,
        "Vhi\n"s, "S'hi'\n"s}) {
    const memory::Snapshot snapshot =
        snapshot_of(with_events({event("alloc", byte(1), {text("user_metadata"), note})}));
    ASSERT_EQ(snapshot.histories.size(), 1u) << testing::PrintToString(note);
    EXPECT_EQ(snapshot.text(snapshot.histories[0].note[0]), "hi") << testing::PrintToString(note);
  }
}

TEST(Pickle, ReadsTheRecordersPlacesAsStacks) {
  const auto noted = [](const std::string& note) {
    return event("alloc", byte(1), {text("user_metadata"), text(note)});
  };
  const memory::Snapshot snapshot =
      snapshot_of(with_events({noted("stepscope: forward pass / GPT / blocks.3 (Block)"),
                               noted("stepscope: forward pass / GPT / blocks.3 (Block)"),
                               noted("stepscope: optimizer step"), noted("of somebody / else")}));
  ASSERT_EQ(snapshot.histories.size(), 1u);
  const memory::History& history = snapshot.histories[0];
  std::vector<std::string> frames;
  for (const memory::FrameId id : snapshot.stacks[history.stack[0]]) {
    EXPECT_EQ(snapshot.text(snapshot.stacks.frame(id).file), "");
    frames.emplace_back(snapshot.text(snapshot.stacks.frame(id).name));
  }
  EXPECT_THAT(frames, testing::ElementsAre("blocks.3 (Block)", "GPT", "forward pass"));
  EXPECT_EQ(history.stack[1], history.stack[0]);
  EXPECT_EQ(snapshot.stacks[history.stack[2]].size(), 1u);
  EXPECT_EQ(history.stack[3], memory::kNoStack);
  EXPECT_EQ(snapshot.text(history.note[3]), "of somebody / else");
}

TEST(Pickle, RefusesWhatNamesOrRunsCode) {
  using namespace std::string_literals;
  struct Refused {
    std::string opcodes;
    std::string name;
  };
  const std::vector<Refused> cases = {
      {"cos\nsystem\n"s, "GLOBAL"},
      {"N)R"s, "REDUCE"},
      {"N}b"s, "BUILD"},
      {"(ios\nsystem\n"s, "INST"},
      {"(No"s, "OBJ"},
      {"N)\x81"s, "NEWOBJ"},
      {"N)}\x92"s, "NEWOBJ_EX"},
      {"NN\x93"s, "STACK_GLOBAL"},
      {"Pid\n"s, "PERSID"},
      {"NQ"s, "BINPERSID"},
      {"\x82\x01"s, "EXT1"},
      {"\x83\x01\x00"s, "EXT2"},
      {"\x84\x01\x00\x00\x00"s, "EXT4"},
      {"\x97"s, "NEXT_BUFFER"},
  };
  for (const Refused& one : cases) {
    const auto read = read_text("\x80\x04}" + text("segments") + one.opcodes + "s.");
    ASSERT_FALSE(read) << one.name;
    EXPECT_EQ(read.error().code, Code::kUnsupported);
    EXPECT_THAT(read.error().message, HasSubstr("opcode " + one.name + ")"));
    EXPECT_THAT(read.error().message, HasSubstr("nothing was executed"));
    EXPECT_THAT(read.error().message, testing::StartsWith("s.pickle:"));
  }
}

TEST(Pickle, SaysWhereARefusedOpcodeStands) {
  const std::string before = "\x80\x04}" + text("segments");
  const auto read = read_text(before + "cos\nsystem\n)R.");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("s.pickle:" + std::to_string(before.size()) + ":"));
}

const std::string kFrame =
    dict({text("name"), text("f"), text("filename"), text("a.py"), text("line"), byte(3)});

TEST(Pickle, KeepsAStackOnceHoweverItIsWritten) {
  // As objects of their own; by a reference to the frame; by a reference to the list.
  const std::string frames = text("frames");
  const std::string first = "]\x94(" + dict({}).substr(0, 1) + "\x94(" + text("name") + text("f") +
                            text("filename") + text("a.py") + text("line") + byte(3) + "ue";
  const memory::Snapshot snapshot = snapshot_of(with_events({
      event("alloc", byte(1), {frames, first}),  // memo 0: the list, memo 1: the frame
      event("alloc", byte(2), {frames, list({kFrame})}),
      event("alloc", byte(3), {frames, std::string("](h\x01") + "e"}),
      event("alloc", byte(4), {frames, std::string("h") + '\0'}),
  }));
  ASSERT_EQ(snapshot.histories.size(), 1u);
  EXPECT_EQ(snapshot.stacks.size(), 1u);
  EXPECT_EQ(snapshot.stacks.frames().size(), 1u);
  EXPECT_THAT(snapshot.histories[0].stack.span(), ElementsAre(0u, 0u, 0u, 0u));
  EXPECT_THAT(functions(snapshot, 0), ElementsAre("f"));
}

TEST(Pickle, TakesALongRunOfKnownFramesForTheSameStack) {
  using namespace std::string_literals;
  std::string frames = "("s;  // eight frames into the memo, then out of the way
  for (int i = 0; i < 8; ++i) {
    frames += "](" +
              dict({text("name"), text("f" + std::to_string(i)), text("line"), byte(i)})
                  .insert(1, "\x94") +
              "e";
  }
  std::string run;
  for (int i = 0; i < 8; ++i) run += "h" + std::string(1, static_cast<char>(i));
  const std::string stack = "](" + run + "e";
  const std::string members = text("frames");
  // Replacing a frame in the memo makes the same bytes mean another stack.
  const std::string other = dict({text("name"), text("other"), text("line"), byte(1)});
  const std::string replaced = "](" + other + "q\x03" + "e";
  std::string bytes = "\x80\x04" + frames + "1}(" + text("device_traces") + "](](";
  bytes += event("alloc", byte(1), {members, stack}) + event("alloc", byte(2), {members, stack});
  bytes += event("alloc", byte(3), {members, replaced});
  bytes += event("alloc", byte(4), {members, stack});
  bytes += event("alloc", byte(5), {members, "](" + run + "e(" + run + "e"});
  bytes += "eeu.";
  const memory::Snapshot snapshot = snapshot_of(bytes + std::string(600, '.'));
  ASSERT_EQ(snapshot.histories.size(), 1u);
  const auto stacks = snapshot.histories[0].stack.span();
  EXPECT_EQ(stacks[0], stacks[1]);
  EXPECT_THAT(functions(snapshot, stacks[0]),
              ElementsAre("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"));
  EXPECT_THAT(functions(snapshot, stacks[3]),
              ElementsAre("f0", "f1", "f2", "other", "f4", "f5", "f6", "f7"));
  EXPECT_EQ(functions(snapshot, stacks[4]).size(), 16u);
}

TEST(Pickle, TakesListsForTuplesAndUnderstandsOldBlocks) {
  const std::string past =
      dict({text("addr"), byte(16), text("real_size"), byte(7), text("frames"), list({kFrame})});
  const std::string block = dict({text("size"), byte(32), text("state"), text("active_allocated"),
                                  text("history"), list({past})});
  const std::string free = dict({text("size"), byte(64), text("state"), text("inactive")});
  const std::string segment =
      dict({text("address"), byte(16), text("total_size"), byte(96), text("segment_pool_id"),
            list({byte(0), byte(3)}), text("blocks"), list({block, free})});
  const memory::Snapshot snapshot =
      snapshot_of("\x80\x02" + dict({text("segments"), list({segment})}) + ".");
  ASSERT_EQ(snapshot.segments.size(), 1u);
  EXPECT_EQ(snapshot.pools[snapshot.segments[0].pool], (memory::PoolId{0, 3}));
  ASSERT_EQ(snapshot.blocks.size(), 2u);
  EXPECT_EQ(snapshot.blocks[0].address, 16u);
  EXPECT_EQ(snapshot.blocks[0].requested, 7);
  EXPECT_THAT(functions(snapshot, snapshot.blocks[0].stack), ElementsAre("f"));
  EXPECT_EQ(snapshot.blocks[1].address, 48u);
  EXPECT_EQ(snapshot.blocks[1].state, memory::BlockState::kInactive);
}

TEST(Pickle, KeepsUnknownActionsAndWritesMetadataOut) {
  const memory::Snapshot snapshot = snapshot_of(with_events({
      event("defragment", byte(1)),
      event("alloc", byte(2),
            {text("user_metadata"), dict({text("k"), list({byte(1), "N", "\x88"})})}),
      dict({text("action"), text("oom"), text("device_free"), byte(9), text("size"), byte(8)}),
      dict({text("action"), text("alloc")}),
  }));
  ASSERT_EQ(snapshot.histories.size(), 1u);
  const memory::History& history = snapshot.histories[0];
  ASSERT_EQ(history.length(), 4u);
  EXPECT_EQ(history.action[0], Action::kUnknown);
  EXPECT_EQ(snapshot.text(history.note[0]), "defragment");
  EXPECT_EQ(snapshot.log.count(Note::kUnknownAction), 1u);
  EXPECT_EQ(snapshot.text(history.note[1]), "{k: [1, None, True]}");
  EXPECT_EQ(history.action[2], Action::kOom);
  EXPECT_EQ(history.address[2], 9u);
  EXPECT_EQ(history.time[2], memory::kNoTime);
  EXPECT_EQ(snapshot.log.count(Note::kIncompleteRecord), 1u);
}

TEST(Pickle, GivesWhatACutFileHolds) {
  const std::string whole = with_events(
      {event("alloc", byte(1)), event("alloc", byte(2)), event("free_completed", byte(1))});
  std::size_t most = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = read_text(whole.substr(0, size));
    if (!read) continue;
    EXPECT_EQ(read->log.count(Note::kTruncated), 1u) << size;
    const std::size_t events = read->histories.empty() ? 0 : read->histories[0].length();
    EXPECT_GE(events, most) << size;
    most = events;
  }
  EXPECT_EQ(most, 3u);
}

TEST(Pickle, EndsSoonAtEveryKindOfNonsense) {
  using namespace std::string_literals;
  struct Bad {
    std::string bytes;
    std::string says;
  };
  const std::vector<Bad> cases = {
      {"\x80\x04."s, "STOP without a value"},
      {"\x80\x04h\x05."s, "was not remembered"},
      {"\x80\x04\xfe."s, "0xfe is no opcode"},
      {"\x80\x04u."s, "without MARK"},
      {"\x80\x04(e."s, "without a list"},
      {"\x80\x04}(Nu."s, "without a value"},
      {"\x80\x04K\x01(e."s, "no list"},
      {"\x80\x09N."s, "pickle protocol 9"},
      {"\x80\x04N."s, "holds no dictionary"},
      {"\x80\x04}."s, "neither 'segments' nor 'device_traces'"},
      {"\x80\x04"s, "ends before it holds anything"},
      {"\x80\x04}\x8c\x07"s + "entries" + "]s.", "NCCL flight recorder"},
  };
  for (const Bad& one : cases) {
    const auto read = read_text(one.bytes);
    ASSERT_FALSE(read) << one.says;
    EXPECT_THAT(read.error().message, HasSubstr(one.says));
  }
}

TEST(Pickle, SkipsWhatItDoesNotKnowWithoutKeepingIt) {
  // Millions of small lists under an unknown key.
  std::string many = "](";
  for (int i = 0; i < 1'000'000; ++i) many += ']';
  const memory::Snapshot snapshot =
      snapshot_of("\x80\x04" + dict({text("segments"), "]", text("unknown"), many + "e"}) + ".");
  EXPECT_GE(snapshot.log.count(Note::kUnknownValue), 1u);
  EXPECT_LT(snapshot.memory(), 1u << 20);
}

TEST(Pickle, HoldsItselfToTheMemoryItMayUse) {
  std::string lists = "\x80\x04";
  for (int i = 0; i < 3'000'000; ++i) lists += ']';
  ReadOptions options;
  options.max_memory_bytes = 64 << 20;
  const auto read = pickle::read(bytes::memory_source("s.pickle", lists + "."), options);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kLimit);
}

TEST(Pickle, IsToldFromJsonByItsFirstBytes) {
  EXPECT_EQ(sniff("\x80\x04\x95"), 100);
  EXPECT_GT(sniff("(dp0\n"), 0);
  EXPECT_EQ(sniff("{\"traceEvents\""), 0);
  EXPECT_EQ(sniff("[1"), 0);
}

}  // namespace
}  // namespace stepscope::ingest::pickle
