// The yardstick for packed traces: unpacking alone, from memory into one reused window, with the
// text thrown away. gzip through ISA-L, zstd through libzstd, as the importer does it.
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "files.h"
#include "harness.h"

namespace stepscope::bench {
namespace {

// A window that stays in the second-level cache; larger ones are slower, smaller ones no faster.
constexpr std::size_t kWindow = std::size_t{256} << 10;

int run(const std::string& path, int runs) {
  const std::string bytes = read_file(path);
  const Packing packing = packing_of(bytes);
  if (packing == Packing::kPlain) throw std::runtime_error(path + ": neither gzip nor zstd");
  std::vector<char> window(kWindow);
  Result result{"inflate",
                packing == Packing::kGzip ? "gzip" : "zstd",
                std::filesystem::path(path).filename(),
                0,
                {}};
  for (int i = -1; i < runs; ++i) {
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
  if (argc < 2 || argc > 3) {
    std::fputs("usage: bench_inflate FILE.json.gz|FILE.json.zst [RUNS]\n", stderr);
    return 2;
  }
  try {
    return stepscope::bench::run(argv[1], argc == 3 ? std::stoi(argv[2]) : stepscope::bench::kRuns);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_inflate: %s\n", error.what());
    return 1;
  }
}
