#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "ingest/pickle/pickle.h"

namespace stepscope::ingest::pickle {
namespace {

std::string text_opcode(std::string_view value) {
  return "\x8c" + std::string(1, static_cast<char>(value.size())) + std::string(value);
}
std::string byte_opcode(int value) { return "K" + std::string(1, static_cast<char>(value)); }

// Python's way to write many events: what occurs again is fetched from the memo.
class MemoWriter {
 public:
  std::string out = "\x80\x04";

  int remember(const std::string& opcodes) {
    out += opcodes + "\x94";
    return count_++;
  }
  void fetch(int index) {
    out += index < 256 ? "h" + std::string(1, static_cast<char>(index))
                       : "j" + std::string{static_cast<char>(index), static_cast<char>(index >> 8),
                                           static_cast<char>(index >> 16), '\0'};
  }

 private:
  int count_ = 0;
};

struct ManyEvents {
  std::string pickle;
  std::vector<std::uint64_t> addresses;
  std::vector<std::size_t> frames;  // of each event's stack
  std::vector<bool> in_pool;
};

// Events of every sort that is taken in at one go, between some that are not.
ManyEvents many_events() {
  ManyEvents made;
  MemoWriter to;
  to.remember("}");
  to.out += '(';
  to.remember(text_opcode("device_traces"));
  to.remember("]");
  to.remember("]");
  const int action = to.remember("N" + text_opcode("action")),
            alloc = to.remember("0" + text_opcode("alloc"));
  const int addr = to.remember("0" + text_opcode("addr")),
            size = to.remember("0" + text_opcode("size"));
  const int stack = to.remember("0" + text_opcode("frames")),
            pool = to.remember("0" + text_opcode("pool_id"));
  const int other = to.remember("0" + text_opcode("of a newer torch"));
  to.out += "00(";  // what was put there only to be remembered
  std::vector<int> frames, stacks, events;
  for (int i = 0; i < 400; ++i) {
    events.push_back(to.remember("}"));
    to.out += '(';
    to.fetch(action);
    to.fetch(alloc);
    to.fetch(addr);
    to.out += std::string("M") + static_cast<char>(i) + static_cast<char>(i >> 8);
    if (i % 5 == 0) {
      to.fetch(pool);
      to.remember(byte_opcode(0) + byte_opcode(i % 3) + "\x86");
    }
    if (i % 7 == 0) {
      to.fetch(other);
      to.out += i % 2 == 0 ? text_opcode("new") : byte_opcode(1);
    }
    to.fetch(size);
    to.out += byte_opcode(8);
    to.fetch(stack);
    std::size_t depth = static_cast<std::size_t>(i % 6) + 5;
    if (i % 4 == 3) {
      to.fetch(stacks.back());
      depth = made.frames.back();
    } else {
      stacks.push_back(to.remember("]"));
      to.out += '(';
      for (std::size_t f = 0; f < depth; ++f) {
        if (f < frames.size()) {
          to.fetch(frames[f]);
          continue;
        }
        frames.push_back(to.remember("}"));
        to.out += "(" + text_opcode("name") + text_opcode("f" + std::to_string(f)) +
                  text_opcode("line") + byte_opcode(1) + "u";
      }
      to.out += 'e';
    }
    to.out += 'u';
    made.addresses.push_back(static_cast<std::uint64_t>(i));
    made.frames.push_back(depth);
    made.in_pool.push_back(i % 5 == 0);
    if (i % 50 == 49) {  // the same object once more
      to.fetch(events[events.size() - 20]);
      made.addresses.push_back(made.addresses[made.addresses.size() - 20]);
      made.frames.push_back(made.frames[made.frames.size() - 20]);
      made.in_pool.push_back(made.in_pool[made.in_pool.size() - 20]);
    }
  }
  made.pickle = to.out + "eau.";
  return made;
}

TEST(PickleEvents, TakenInAtOneGoAreThoseOfTheSteps) {
  const ManyEvents made = many_events();
  for (const std::size_t window : {std::size_t{1}, std::size_t{4096}, std::size_t{1} << 20}) {
    ReadOptions options;
    options.block_bytes = window;
    const auto read_back = pickle::read(bytes::memory_source("s.pickle", made.pickle), options);
    ASSERT_TRUE(read_back) << read_back.error().message;
    ASSERT_EQ(read_back->histories.size(), 1u);
    const memory::History& history = read_back->histories[0];
    ASSERT_EQ(history.length(), made.addresses.size());
    for (std::size_t i = 0; i < history.length(); ++i) {
      EXPECT_EQ(history.action[i], memory::Action::kAlloc);
      EXPECT_EQ(history.address[i], made.addresses[i]) << i;
      EXPECT_EQ(history.size[i], 8);
      EXPECT_EQ(read_back->stacks[history.stack[i]].size(), made.frames[i]) << i;
      const memory::FrameId outermost = read_back->stacks[history.stack[i]].back();
      EXPECT_EQ(read_back->text(read_back->stacks.frame(outermost).name),
                "f" + std::to_string(made.frames[i] - 1));
      EXPECT_EQ(history.pool[i] != memory::kUnknownPool, made.in_pool[i]) << i;
    }
    EXPECT_EQ(read_back->pools.size(), 3u);
    EXPECT_EQ(read_back->stacks.size(), 6u);
  }
}

}  // namespace
}  // namespace stepscope::ingest::pickle
