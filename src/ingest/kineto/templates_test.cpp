// An event that fits a form must become what it became without forms, to the last bit, and one that
// almost fits must not: whole traces of events that come again and again, damaged at random, are
// read with forms and without.
#include "ingest/kineto/templates.h"

#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ingest/kineto/index.h"
#include "ingest/kineto/scanner.h"
#include "trace/stage.h"

namespace stepscope::ingest::kineto {
namespace {

// As Kineto writes them, and closer together. A # is a number, a % a small one that is seldom
// another.
const std::vector<std::string> kEvents = {
    R"~({
    "ph": "X", "cat": "cpu_op", "name": "aten::to", "pid": 679, "tid": 67%,
    "ts": 38438683181#.479, "dur": #.007,
    "args": {
      "External id": #,"Sequence number": #, "Fwd thread id": %, "Record function id": 0, "Concrete Inputs": ["", "4"], "Input type": ["long int", "Scalar"], "Input Dims": [[16, %], []], "Ev Idx": #
    }
  })~",
    R"~({
    "ph": "X", "cat": "cpu_op", "name": "aten::to", "pid": 679, "tid": 679,
    "ts": 38438683181#.479, "dur": #.7,
    "args": {
      "External id": #,"Record function id": 0, "Call stack": "a.py(%);b", "flops": %, "Ev Idx": #
    }
  })~",
    R"~({
    "ph": "s", "id": #, "pid": 679, "tid": 679, "ts": 38438683181#.479,
    "cat": "ac2g", "name": "ac2g"
  })~",
    R"~({
    "ph": "f", "id": #, "pid": 0, "tid": 7, "ts": 38438683181#.479,
    "cat": "ac2g", "name": "ac%g", "bp": "e"
  })~",
    R"~({
    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
    "pid": 679, "tid": 736,
    "ts": 3843868582#.959,
    "args": {
      "Total Reserved": 1767899136, "Total Allocated": #, "Bytes": -#, "Device Id": 0, "Device Type": 1, "Addr": 1401000883#, "finished": false, "Ev Idx": #
    }
  })~",
    R"~({
    "ph": "X", "cat": "python_function", "name": "module.py(%): forward", "pid": 679, "tid": 679,
    "ts": 38438698820#.401, "dur": #.963,
    "args": {
      "Python parent id": #, "Python id": #, "Ev Idx": #
    }
  })~",
    R"~({
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 679, "tid": 679,
    "ts": 38438685678#.492, "dur": #.926,
    "args": {
      "External id": #,      "cbid": 317, "correlation": #
    }
  })~",
    R"~({
    "ph": "X", "cat": "kernel", "name": "gemm<16, long>", "pid": 0, "tid": 7,
    "ts": 3843868568288.104, "dur": 5.4#,
    "args": {
      "External id": #,      "queued": 0, "device": 0, "context": 1,      "stream": %, "correlation": #,      "registers per thread": 32,      "shared memory": 0,      "blocks per SM": 31.03030%,      "warps per SM": 124.121216,      "grid": [409%, 1, 1],      "block": [128, 1, 1],      "est. achieved occupancy %": 100
    }
  })~",
    R"~({
    "ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7,
    "ts": 38438685678#.979, "dur": #.392,
    "args": {
      "External id": #,      "device": 0, "context": 1,      "stream": 7, "correlation": #,      "bytes": #, "memory bandwidth (GB/s)": #.660377358490566
    }
  })~",
    R"~({"ph":"X","name":"plain","pid":"a","tid":%,"ts":#,"dur":#,"args":{"size":#,"x":{"External id":#}}})~",
    R"~({"ph":"B","name":"plain","pid":"a","tid":%,"ts":#})~",
    R"~({"ph":"E","pid":"a","tid":%,"ts":#})~",
    R"~({"ph":"X","pid":1,"tid":%,"ts":#,"cat":"user_annotation","args":{"External id":#,"External id":%}})~",
    R"~({"name":"late","ts":#,"pid":1,"tid":1,"dur":#,"args":{"Seq":#,"Collective name":"all%","Rank":%},"cat":"user_annotation","ph":"X"})~",
};

std::string filled(const std::string& event, std::mt19937& random) {
  std::string out;
  for (const char c : event) {
    if (c == '#') {
      out += std::to_string(random() % 8 == 0 ? random() : random() % 100000);
    } else if (c == '%') {
      out += std::to_string(random() % 16 == 0 ? random() % 10 : 2);
    } else {
      out += c;
    }
  }
  return out;
}

std::string events_text(std::mt19937& random) {
  std::string text;
  const std::size_t kinds = 1 + random() % kEvents.size();
  for (std::size_t i = 0; i < 60; ++i) {
    text += text.empty() ? "" : ",\n  ";
    text += filled(kEvents[random() % 4 == 0 ? random() % kEvents.size() : i % kinds], random);
  }
  return text;
}

void damage(std::string& text, std::mt19937& random) {
  constexpr std::string_view kBytes = "{}[]\",:\\\n 0e-.tn9\x1f\x80x+";
  for (std::size_t i = random() % 4; i > 0; --i) {
    const std::size_t at = text.size() / 3 + random() % (text.size() - text.size() / 3 - 40);
    const char byte = kBytes[random() % kBytes.size()];
    switch (random() % 4) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, 1 + random() % 3);
        break;
      default:
        text.insert(at, text.substr(at - random() % 30, random() % 30));
    }
  }
}

// Everything in a shard, one line each.
class Lines {
 public:
  template <class... T>
  void add(const char* table, const T&... values) {
    out_ << table;
    ((out_ << ' ' << +values), ...);
    out_ << '\n';
  }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
};

void add_sides(Lines& lines, const trace::Shard& shard) {
  for (const auto& r : shard.ops) {
    lines.add("op", r.event, r.forward_thread, r.external_id, r.sequence, r.signature);
  }
  for (const auto& r : shard.flops) lines.add("flops", r.event, r.flops);
  for (const auto& r : shard.stacks) lines.add("stack", r.event, r.call_stack, r.module_hierarchy);
  for (const auto& r : shard.launches) lines.add("launch", r.event, r.correlation, r.external_id);
  for (const auto& r : shard.python) lines.add("python", r.event, r.id, r.parent_id);
  for (const auto& r : shard.device) {
    lines.add("device", r.event, r.device, r.stream, r.context, r.correlation, r.external_id);
  }
  for (const auto& r : shard.kernels) {
    lines.add("kernel", r.event, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.registers,
              r.shared_memory, r.blocks_per_sm, r.warps_per_sm, r.occupancy_percent, r.graph_id);
  }
  for (const auto& r : shard.copies) lines.add("copy", r.event, r.bandwidth_gbps, r.bytes);
  for (const auto& r : shard.memory) {
    lines.add("memory", r.event, r.device_type, r.device_id, r.address, r.bytes, r.total_allocated,
              r.total_reserved);
  }
  for (const auto& r : shard.collectives) {
    lines.add("collective", r.event, r.name, r.sequence, r.rank, r.group_size);
  }
  for (const auto& r : shard.flows) {
    lines.add("flow", r.id, r.time, r.track, r.entry, r.category, r.name, r.phase);
  }
}

std::string read(const std::string& text, Scanner::Ways ways) {
  const std::string padded = std::string(kPadding, ' ') + text + std::string(kPadding, '\0');
  trace::Shard shard(0);
  Scanner scanner(shard, ways);
  shard.begin(0);
  const char* const begin = padded.data() + kPadding;
  const StretchEnd end = scanner.scan({begin, begin + text.size(), 0, true});
  Lines lines;
  lines.add("end", static_cast<int>(end.where), end.at - begin);
  for (const auto& r : shard.events) {
    lines.add("event", r.start, r.duration, r.name, r.track, r.category, r.entry, r.text_at,
              static_cast<int>(r.kind), static_cast<int>(r.phase), r.flags);
  }
  add_sides(lines, shard);
  for (const auto* pool : {&shard.strings(), &shard.categories(), &shard.tracks()}) {
    for (const auto& entry : pool->entries()) {
      lines.add("text", std::hash<std::string_view>()(entry.raw), entry.first_seen);
    }
  }
  const trace::Batch batch = shard.finish();
  for (std::size_t i = 0; i < static_cast<std::size_t>(base::Note::kCount); ++i) {
    const auto& note = batch.log[static_cast<base::Note>(i)];
    lines.add("note", i, note.count, note.offset, std::hash<std::string>()(note.detail));
  }
  return lines.text();
}

TEST(Templates, GiveWhatTheIndexGives) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::string text = events_text(random);
    if (seed % 3 != 0) damage(text, random);
    ASSERT_EQ(read(text, Scanner::Ways::kAll), read(text, Scanner::Ways::kWithoutTemplates))
        << "seed " << seed << "\n"
        << text;
    if (seed % 3 != 0) continue;
    ASSERT_EQ(read(text, Scanner::Ways::kAll), read(text, Scanner::Ways::kReference)) << seed;
  }
}

// Nothing comes twice: forms are given up, and the trace is still read.
TEST(Templates, AreLeftAloneWhereTheyDoNotHelp) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += text.empty() ? "" : ",";
    text += R"({"ph":"X","name":"n)" + std::to_string(i) + R"(","pid":1,"tid":1,"ts":1,"dur":2})";
  }
  EXPECT_EQ(read(text, Scanner::Ways::kAll), read(text, Scanner::Ways::kReference));
}

TEST(Templates, ReadAnEventThatComesAgain) {
  Templates forms;
  RawEvent draft;
  const auto padded = [](std::string_view event) {
    return std::string(kPadding, ' ') + std::string(event) + std::string(kPadding, '\0');
  };
  const auto read_by_form = [&](std::string_view event) {
    const std::string text = padded(event);
    const char* const begin = text.data() + kPadding;
    const char* const after = forms.read(begin, begin + event.size(), draft);
    return after == begin + event.size();
  };
  const std::string_view first = R"({"ph":"X","name":"a","ts":1.5,"dur":2,"args":{"stream":7}})";
  EXPECT_FALSE(read_by_form(first));
  const std::string text = padded(first);
  RawEvent known;
  known.reset(0);
  known.phase = 'X';
  known.has_time = known.has_duration = known.has_name = true;
  known.time = 1500;
  known.duration = 2000;
  known.name = std::string_view(text).substr(kPadding + 18, 1);
  known.name_id = 5;
  known.set_integer(Arg::kStream, 7);
  const auto index = std::make_unique<Index>();
  build_index_portable(text.data() + kPadding, first.size(), *index);
  forms.learn({text.data() + kPadding, {index->places.data(), index->count}}, known);
  ASSERT_TRUE(read_by_form(R"({"ph":"X","name":"a","ts":23.25,"dur":20,"args":{"stream":7}})"));
  EXPECT_EQ(draft.time, 23250);
  EXPECT_EQ(draft.duration, 20000);
  EXPECT_EQ(draft.name, "a");
  EXPECT_EQ(draft.name_id, 5);
  EXPECT_EQ(draft.integer(Arg::kStream), 7);
  for (const char* const other : {
           R"({"ph":"X","name":"b","ts":23.25,"dur":20,"args":{"stream":7}})",
           R"({"ph":"X","name":"a","ts":23.25,"dur":20,"args":{"stream":8}})",
           R"({"ph":"X","name":"a","ts":"23","dur":20,"args":{"stream":7}})",
           R"({"ph":"X","name":"a","ts":23.2501,"dur":20,"args":{"stream":7}})",
           R"({"ph":"X","name":"a","ts":23,"dur":20,"args":{"stream":7})",
           R"({"ph":"X","name":"a","ts":,"dur":20,"args":{"stream":7}})",
       }) {
    EXPECT_FALSE(read_by_form(other)) << other;
  }
}

}  // namespace
}  // namespace stepscope::ingest::kineto
