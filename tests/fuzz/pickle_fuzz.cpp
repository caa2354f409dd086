// Any bytes give a snapshot or an error: no crash, no hang, no memory beyond a bound that grows
// with the input, and the same whatever the size of the window. What is given is consistent: ids
// are in range and blocks lie in their segments' lists.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ingest/pickle/pickle.h"

namespace {

using namespace stepscope;

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void check(const memory::Snapshot& snapshot, std::size_t input_bytes) {
  const std::size_t strings = snapshot.strings.size();
  const auto text_ok = [&](base::StringId id) { return id == base::kNoString || id < strings; };
  const auto stack_ok = [&](memory::StackId id) {
    return id == memory::kNoStack || id < snapshot.stacks.size();
  };
  for (const memory::History& history : snapshot.histories) {
    must(history.length() > 0, "no empty history");
    for (std::size_t i = 0; i < history.length(); ++i) {
      must(history.action[i] < memory::Action::kCount, "actions are known");
      must(stack_ok(history.stack[i]) && stack_ok(history.forward[i]), "stacks exist");
      must(text_ok(history.note[i]) && text_ok(history.compile_context[i]), "texts exist");
      const std::uint16_t pool = history.pool[i];
      must(pool == memory::kUnknownPool || pool < snapshot.pools.size(), "pools exist");
    }
  }
  for (const memory::Segment& segment : snapshot.segments) {
    must(std::size_t{segment.first_block} + segment.blocks <= snapshot.blocks.size(),
         "blocks exist");
    must(stack_ok(segment.stack), "stacks exist");
  }
  for (const memory::Block& block : snapshot.blocks) must(stack_ok(block.stack), "stacks exist");
  for (const memory::Annotation& note : snapshot.annotations) must(text_ok(note.name), "texts");
  for (memory::StackId stack = 0; stack < snapshot.stacks.size(); ++stack) {
    for (const memory::FrameId frame : snapshot.stacks[stack]) {
      must(frame < snapshot.stacks.frames().size(), "frames exist");
    }
  }
  for (const memory::Frame& frame : snapshot.stacks.frames()) {
    must(text_ok(frame.name) && text_ok(frame.file), "texts exist");
  }
  must(snapshot.memory() < (std::size_t{4} << 20) + 200 * input_bytes, "memory is bounded");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  ingest::ReadOptions options;
  options.block_bytes = 1 << 16;  // larger ones cost more to clear than the input to read
  const auto whole = ingest::pickle::read(bytes::memory_source("fuzz.pickle", file), options);
  options.block_bytes = 1100;
  const auto parts = ingest::pickle::read(bytes::memory_source("fuzz.pickle", file), options);
  must(whole.has_value() == parts.has_value(), "the window does not matter");
  if (!whole) {
    must(whole.error().message == parts.error().message, "the window does not matter");
    return 0;
  }
  check(*whole, size);
  must(whole->histories.size() == parts->histories.size(), "the window does not matter");
  must(whole->strings.size() == parts->strings.size(), "the window does not matter");
  must(whole->stacks.size() == parts->stacks.size(), "the window does not matter");
  must(whole->blocks.size() == parts->blocks.size(), "the window does not matter");
  for (std::size_t i = 0; i < static_cast<std::size_t>(base::Note::kCount); ++i) {
    const auto note = static_cast<base::Note>(i);
    must(whole->log.count(note) == parts->log.count(note), "notes do not depend on the window");
  }
  return 0;
}
