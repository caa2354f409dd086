// Measures a matrix product in bf16 with cuBLAS.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "doctor/checks.h"
#include "doctor/cuda.h"
#include "doctor/library.h"

namespace stepscope::doctor {
namespace {

constexpr std::array<std::string_view, 4> kBlasNames = {"libcublas.so.13", "libcublas.so.12",
                                                        "libcublas.so.11", "libcublas.so"};
// The part that does the work stands beside it and is not always found from there.
constexpr std::array<std::string_view, 4> kLightNames = {"libcublasLt.so.13", "libcublasLt.so.12",
                                                         "libcublasLt.so.11", "libcublasLt.so"};

// Numbers of NVIDIA's headers.
constexpr int kTranspose = 1, kNoTranspose = 0, kBf16 = 14, kSumsInFp32 = 68, kAnyAlgorithm = -1;

struct Blas {
  int (*create)(void**) = nullptr;
  // Matrices lie on the device: their addresses are numbers here.
  int (*gemm)(void*, int, int, int, int, int, const void*, CudaPointer, int, int, CudaPointer, int,
              int, const void*, CudaPointer, int, int, int, int) = nullptr;
  void* handle = nullptr;

  static base::Result<Blas> open(const Place& place);
};

// The newest that works: one that is newer than the driver opens, and then refuses.
base::Result<Blas> Blas::open(const Place& place) {
  std::string why_not;
  std::string refused;
  for (std::size_t i = 0; i < kBlasNames.size(); ++i) {
    std::string ignored;
    (void)Library::open(place, std::span(kLightNames).subspan(i, 1), ignored);
    const auto library = Library::open(place, std::span(kBlasNames).subspan(i, 1), why_not);
    if (!library) continue;
    Blas blas;
    if (!library->find(blas.create, "cublasCreate_v2") ||
        !library->find(blas.gemm, "cublasGemmEx")) {
      refused = library->path() + " has no cublasGemmEx";
    } else if (const int error = blas.create(&blas.handle); error != 0) {
      refused = fmt::format("cublasCreate of {} gives error {}", library->path(), error);
    } else {
      return blas;
    }
  }
  if (!refused.empty()) return base::fail(base::Code::kIo, refused);
  return base::fail(base::Code::kNotFound, "no cuBLAS: " + why_not);
}

// Numbers as training has them: a device that multiplies zeros runs cooler and faster.
std::vector<std::uint16_t> random_matrix(std::size_t size, std::uint64_t seed) {
  std::vector<std::uint16_t> values(size);
  for (std::uint16_t& value : values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    // Sign and fraction at random, size from 1/2 to 2: 0x3f00 to 0x3fff.
    value = static_cast<std::uint16_t>((seed >> 48 & 0x80ff) | 0x3f00);
  }
  return values;
}

base::Result<CudaPointer> upload(const Device& device, std::size_t size, std::uint64_t seed) {
  SCOPE_TRY(const CudaPointer to, device.allocate(size * 2));
  const std::vector<std::uint16_t> values = random_matrix(size, seed);
  if (device.driver().copy_to_device(to, values.data(), size * 2) != 0) {
    return base::fail(base::Code::kIo, "cuMemcpyHtoD failed on the device");
  }
  return to;
}

// FLOP/s: the median of blocks of several products, for about a second.
base::Result<double> measured_rate(const Device& device, const Blas& blas, int n) {
  const std::size_t size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  SCOPE_TRY(const CudaPointer a, upload(device, size, 1));
  SCOPE_TRY(const CudaPointer b, upload(device, size, 2));
  SCOPE_TRY(const CudaPointer c, device.allocate(size * 2));
  const float one = 1;
  const float zero = 0;
  const auto multiply = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const int error = blas.gemm(blas.handle, kTranspose, kNoTranspose, n, n, n, &one, a, kBf16, n,
                                  b, kBf16, n, &zero, c, kBf16, n, kSumsInFp32, kAnyAlgorithm);
      if (error != 0) return false;
    }
    return true;
  };
  // The first one loads the kernel, the next ones bring the clocks up.
  SCOPE_TRY(const double cold, device.seconds_of([&] { return multiply(1); }));
  SCOPE_TRY(const double warm, device.seconds_of([&] { return multiply(3); }));
  const double each = std::max(std::min(warm / 3, cold), 1e-6);
  const int times = std::max(1, static_cast<int>(std::min(0.1 / each, 1000.0)));
  std::vector<double> rates;
  const double flops = 2.0 * n * static_cast<double>(size) * times;
  for (int block = 0; block < 9; ++block) {
    SCOPE_TRY(const double seconds, device.seconds_of([&] { return multiply(times); }));
    if (block > 1 && seconds > 0) rates.push_back(flops / seconds);
  }
  return median(rates);
}

}  // namespace

std::vector<Check> gemm_rate(const Place& place) {
  constexpr std::size_t kRoomForLarge = std::size_t{1} << 30;
  Check check{.name = "gemm-bf16",
              .todo =
                  "nvidia-smi -q -d CLOCK,POWER,PERFORMANCE under load: a power cap, heat or "
                  "other processes on the device slow it down",
              .why = "matrix products are most of what training computes",
              .expected_share = 0.6,
              .unit = "TFLOP/s"};
  const auto not_measured = [&](const base::Error& error) {
    check.state = error.code == base::Code::kNotFound ? State::kMissing : State::kBad;
    check.value = "not measured: " + error.message;
    check.todo = error.message.starts_with("no cuBLAS")
                     ? "name an interpreter that has torch with --python, or pip install "
                       "nvidia-cublas-cu12"
                     : "";
    return std::vector<Check>{check};
  };
  const auto device = Device::open(place);
  if (!device) return not_measured(device.error());
  const auto blas = Blas::open(place);
  if (!blas) return not_measured(blas.error());
  const int n = device->free_bytes() > kRoomForLarge ? 8192 : 2048;
  const auto rate = measured_rate(*device, *blas, n);
  if (!rate) return not_measured(rate.error());
  check.measured = *rate / 1e12;
  check.value = fmt::format("{:.4g} TFLOP/s, {}", *check.measured, device->facts().name);
  const auto peak = place.bf16_peak ? place.bf16_peak(device->facts()) : std::nullopt;
  if (peak) {
    check.reference = *peak / 1e12;
    check.value += fmt::format(", {:.0f} % of its {:.4g}", 100 * *rate / *peak, *check.reference);
  } else {
    check.value += "; its peak is not known";
  }
  return {check};
}

}  // namespace stepscope::doctor
