// Any bytes give text and perhaps damage, or an Error that says that the window is too large: no
// crash, no hang, no memory beyond zstd's 128 MiB window. The text is the same whatever the size of
// reads and windows, damaged or not, and so is the damage.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "bytes/source.h"

namespace {

using namespace stepscope;

constexpr std::size_t kMostText = 4 << 20;  // a bomb only streams: the rest would be the same

struct Outcome {
  std::string text;
  std::optional<bytes::Damage> damage;
  bool ended = false;  // not cut at kMostText
};

Outcome read(const std::string& file, std::size_t span_bytes, std::size_t window_bytes) {
  const auto source = bytes::memory_source("fuzz.zst", file, {.input_window_bytes = window_bytes});
  std::vector<char> buffer(span_bytes);
  Outcome outcome;
  while (outcome.text.size() < kMostText) {
    const auto got = source->read(buffer);
    if (!got && got.error().code != base::Code::kLimit) std::abort();
    if (!got || *got == 0) {
      const auto damage = source->damage();
      if (damage && damage->text_offset > outcome.text.size()) std::abort();
      if (damage && damage->file_offset > file.size()) std::abort();
      outcome.damage = damage;
      outcome.ended = true;
      break;
    }
    outcome.text.append(buffer.data(), *got);
  }
  return outcome;
}

void compare(const Outcome& a, const Outcome& b) {
  if (a.text != b.text || a.damage.has_value() != b.damage.has_value()) std::abort();
  if (a.damage && a.damage->what != b.damage->what) std::abort();
  if (a.damage && a.damage->text_offset != b.damage->text_offset) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  const Outcome large = read(file, 1 << 20, 256 * 1024);
  const Outcome small = read(file, 300, 50);
  if (!large.ended || !small.ended) return 0;
  compare(large, small);
  return 0;
}
