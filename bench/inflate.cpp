// The yardstick for packed traces: unpacking alone, from memory into one reused window, with the
// text thrown away. gzip through ISA-L, zstd through libzstd, as the importer does it.
#include <stdexcept>
#include <string>
#include <vector>

#include "files.h"
#include "harness.h"

namespace stepscope::bench {
namespace {

// A window that stays in the second-level cache; larger ones are slower, smaller ones no faster.
constexpr std::size_t kWindow = std::size_t{256} << 10;

int run(const Options& options) {
  const std::string bytes = read_file(options.path);
  const Packing packing = packing_of(bytes);
  if (packing == Packing::kPlain)
    throw std::runtime_error(options.path + ": neither gzip nor zstd");
  std::vector<char> window(kWindow);
  Result result{"inflate", packing == Packing::kGzip ? "gzip" : "zstd", options.path, 0, {}};
  for (int i = -1; i < options.runs; ++i) {
    Sample sample;
    std::uint64_t text = 0;
    const Stopwatch watch;
    (packing == Packing::kGzip ? inflate_gzip : inflate_zstd)(
        bytes, window, [&](std::string_view part) {
          text += part.size();
          if (!part.empty()) sample.checksum += static_cast<unsigned char>(part.back());
        });
    sample.seconds = watch.seconds();
    result.bytes = text;
    if (i >= 0) result.samples.push_back(sample);
  }
  print_result(result);
  return 0;
}

}  // namespace
}  // namespace stepscope::bench

int main(int argc, char** argv) {
  return stepscope::bench::bench_main("bench_inflate", argc, argv, stepscope::bench::run);
}
