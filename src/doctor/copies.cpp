// Measures copies from host to device, from pinned and pageable memory.
#include <cstring>

#include <fmt/format.h>

#include "doctor/checks.h"
#include "doctor/cuda.h"

namespace stepscope::doctor {
namespace {

constexpr std::size_t kBytes = std::size_t{256} << 20;
constexpr int kTimes = 9;

Check pinned_check() {
  return {.name = "copy-pinned",
          .todo =
              "nvidia-smi -q | grep -A4 'Link Width' under load shows a narrower link; a copy "
              "from the other socket's memory is slower too (numactl --cpunodebind)",
          .why = "batches in pinned memory reach the device at this rate",
          .expected_share = 0.75,
          .unit = "GB/s"};
}

Check pageable_check() {
  return {.name = "copy-pageable",
          .why = "batches that are not pinned (pin_memory=False) reach the device at this rate",
          .unit = "GB/s"};
}

base::Result<double> pinned_rate(const Device& device, CudaPointer to) {
  void* from = nullptr;
  if (device.driver().allocate_host(&from, kBytes) != 0) {
    return base::fail(base::Code::kLimit, "no pinned memory is to be had");
  }
  std::memset(from, 1, kBytes);
  std::vector<double> rates;
  for (int i = 0; i < kTimes; ++i) {
    SCOPE_TRY(const double seconds, device.seconds_of([&] {
      return device.driver().copy_to_device_async(to, from, kBytes, nullptr) == 0;
    }));
    if (i > 1 && seconds > 0) rates.push_back(static_cast<double>(kBytes) / seconds / 1e9);
  }
  return median(rates);
}

base::Result<double> pageable_rate(const Device& device, CudaPointer to) {
  const std::vector<char> from(kBytes, 1);
  std::vector<double> rates;
  for (int i = 0; i < kTimes; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (device.driver().copy_to_device(to, from.data(), kBytes) != 0 ||
        device.driver().context_synchronize() != 0) {
      return base::fail(base::Code::kIo, "cuMemcpyHtoD failed on the device");
    }
    if (i > 1) rates.push_back(static_cast<double>(kBytes) / seconds_since(begin) / 1e9);
  }
  return median(rates);
}

void put_copies(Check& check, const base::Result<double>& rate) {
  if (rate) {
    check.measured = *rate;
    check.value = fmt::format("{:.1f} GB/s", *rate);
  } else {
    check.state = State::kBad;
    check.value = rate.error().message;
  }
}

}  // namespace

std::vector<Check> copy_rates(const Place& place) {
  Check pinned = pinned_check();
  Check pageable = pageable_check();
  const auto device = Device::open(place);
  const auto to = device ? device->allocate(kBytes) : base::Result<CudaPointer>(CudaPointer{0});
  if (!device || !to) {
    const base::Error& error = device ? to.error() : device.error();
    for (Check* check : {&pinned, &pageable}) {
      check->state = error.code == base::Code::kNotFound ? State::kMissing : State::kBad;
      check->value = "not measured: " + error.message;
      check->todo.clear();
    }
    return {pinned, pageable};
  }
  const std::string where = ", " + device->facts().name;
  put_copies(pinned, pinned_rate(*device, *to));
  put_copies(pageable, pageable_rate(*device, *to));
  for (Check* check : {&pinned, &pageable}) check->value += where;
  if (const auto nvml = Nvml::open(place)) {
    pinned.reference = link_rate(*nvml, device->bus_id());
    if (pinned.reference) {
      pinned.value += fmt::format(", its link {:.1f} GB/s", *pinned.reference);
    }
  }
  return {pinned, pageable};
}

}  // namespace stepscope::doctor
