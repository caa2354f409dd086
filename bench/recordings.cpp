// The claim: what processes recorded of themselves is read back at the speed of a bare walk over
// the same blocks, checksums and records, within a small factor. Writes the file first if it is
// missing; then a walk and a load in turn, each in a child of its own. Seconds are of the
// processor. A file that is JSON is loaded only: what the same engine does with a trace.
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bytes/source.h"
#include "harness.h"
#include "ingest/reading.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace stepscope::bench {
namespace {

constexpr std::uint64_t kRanges = 10'000'000;
constexpr std::size_t kPerBlock = 16'384;  // records: what a ring hands over at once

template <class T>
T value_of(base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A training loop: a step of four parts, each with ranges inside, a mark at the end of the step.
class Loop {
 public:
  explicit Loop(std::ofstream& out) : out_(out) {
    std::string bytes;
    wire::put_file_header(bytes);
    wire::put_process(bytes, {{"pid", "100"}, {"rank", "0"}, {"host", "bench"}});
    wire::put_thread(bytes, 1, 100, "MainThread");
    wire::put_names(bytes, 0,
                    std::vector<std::string_view>{"step", "load", "forward", "backward",
                                                  "optimizer", "layer", "attention", "mlp"});
    out_ << bytes;
    anchor();
  }

  void write() {
    std::int64_t step = 0;
    while (ranges_ < kRanges) {
      begin(0);
      for (std::uint64_t part = 1; part <= 4; ++part) {
        begin(part);
        for (int layer = 0; layer < 12; ++layer) {
          begin(5);
          begin(6);
          end(6);
          begin(7);
          end(7);
          end(5);
        }
        end(part);
      }
      end(0);
      push({now_, wire::Record::pack(wire::RecordKind::kStep, 0)});
      push({0, static_cast<std::uint64_t>(step++)});
      flush_if_full();
    }
    flush();
    anchor();
    std::string bytes;
    wire::put_end(bytes, {.records = ranges_ * 2});
    out_ << bytes;
  }

 private:
  void begin(std::uint64_t name) {
    tick();
    push({now_, wire::Record::pack(wire::RecordKind::kBegin, name)});
    ++ranges_;
  }
  void end(std::uint64_t name) {
    tick();
    push({now_, wire::Record::pack(wire::RecordKind::kEnd, name)});
  }
  // Between 60 ns and 8 us at 2 GHz, by a generator of the simplest kind.
  void tick() {
    seed_ = seed_ * 6364136223846793005ULL + 1442695040888963407ULL;
    now_ += 120 + (seed_ >> 50);
  }
  void push(const wire::Record& record) { records_.push_back(record); }
  void flush_if_full() {
    if (records_.size() >= kPerBlock) flush();
  }
  void flush() {
    anchor();  // as the recorder does: the clocks are read when the records have been taken
    std::string bytes;
    wire::put_events(bytes, 1, records_);
    out_ << bytes;
    records_.clear();
  }
  void anchor() {
    std::string bytes;
    const auto ns = static_cast<std::int64_t>(now_ / 2);
    wire::put_anchor(bytes, {now_, ns, 1'700'000'000'000'000'000 + ns});
    out_ << bytes;
  }

  std::ofstream& out_;
  std::vector<wire::Record> records_;
  std::uint64_t now_ = 1'000'000, ranges_ = 0, seed_ = 1;
};

void make(const std::string& path) {
  if (std::filesystem::exists(path)) return;
  const std::string partial = path + ".partial";
  std::ofstream out(partial, std::ios::binary);
  Loop(out).write();
  out.close();
  if (!out) throw std::runtime_error(partial + ": could not be written");
  std::filesystem::rename(partial, path);
}

// Blocks, checksums and records, and nothing kept but a sum.
Sample walk(const Options& options) {
  const double start = processor_seconds();
  Sample sample;
  const std::unique_ptr<bytes::ByteSource> source = value_of(bytes::open_source(options.path));
  wire::BlockReader blocks;
  std::vector<char> window(std::size_t{1} << 20);
  while (true) {
    const std::size_t count = value_of(source->read(window));
    if (count == 0) blocks.finish();
    blocks.add({window.data(), count});
    while (const auto block = blocks.next()) {
      if (block->kind != wire::BlockKind::kEvents) continue;
      wire::read_events(block->payload,
                        [&](wire::ThreadId, const wire::Record& one, std::uint64_t value) {
                          sample.checksum += one.ticks ^ one.word ^ value;
                          sample.events += one.kind() == wire::RecordKind::kBegin ? 1 : 0;
                        });
    }
    if (count == 0) break;
  }
  sample.seconds = processor_seconds() - start;
  return sample;
}

Sample load(const Options& options) {
  const double start = processor_seconds();
  ingest::ReadOptions read_options;
  read_options.threads = static_cast<unsigned>(options.threads);
  const ingest::Document document =
      value_of(ingest::read(value_of(bytes::open_source(options.path)), read_options));
  const auto& trace = std::get<trace::Trace>(document);
  Sample sample;
  sample.seconds = processor_seconds() - start;
  sample.events = trace.entries();
  sample.table_bytes = trace.memory();
  return sample;
}

int run(const Options& options) {
  const bool is_recording = options.path.ends_with(".scope");
  if (is_recording) make(options.path);
  Result walked{.bench = "recordings", .variant = "walk", .file = options.path};
  Result loaded{.bench = "recordings", .variant = "load", .file = options.path};
  walked.bytes = loaded.bytes = std::filesystem::file_size(options.path);
  for (int i = 0; i < options.runs; ++i) {
    if (is_recording) walked.samples.push_back(run_in_child([&] { return walk(options); }));
    loaded.samples.push_back(run_in_child([&] { return load(options); }));
  }
  if (is_recording) print_result(walked);
  print_result(loaded);
  return 0;
}

}  // namespace
}  // namespace stepscope::bench

int main(int argc, char** argv) {
  return stepscope::bench::bench_main("bench_recordings", argc, argv, stepscope::bench::run);
}
