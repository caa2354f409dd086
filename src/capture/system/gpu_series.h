// The series of one GPU, whoever made it: defined when they get their first value, so that what a
// device does not have has no series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/system/job.h"
#include "capture/system/source.h"

namespace stepscope::capture {

// Which of a node's devices a process was given, by the variables that CUDA, ROCm and Slurm read.
// Pure, so that every rule can be tested.

// As the driver lists it.
struct ListedDevice {
  std::string uuid;         // "GPU-8932f937-…"
  std::int64_t minor = -1;  // of /dev/nvidia3; -1: not known
};

struct GivenDevices {
  std::vector<std::size_t> devices = {};  // indices into the list, in the order of the process
  std::vector<std::string> parts = {};    // MIG instances, by their names
  bool all = false;                       // nothing was said: all that the driver shows
  std::string variable = {};              // that said so
  std::string unknown = {};  // of what it says: the first that the driver does not show

  // The sentence about that, where there is one; `listed`: devices that the driver shows.
  std::string why_not(std::size_t listed) const;
};

GivenDevices nvidia_devices(const Variables& variables, std::span<const ListedDevice> listed);
GivenDevices amd_devices(const Variables& variables, std::span<const ListedDevice> listed);

// "0,2-4" as numbers; what is no number is left out.
std::vector<std::int64_t> numbers_in(std::string_view list);

class GpuSeries {
 public:
  // `label` names the device within its node: "0", or a MIG instance.
  GpuSeries(std::string label, std::string uuid, std::string model)
      : about_{
            {"device", std::move(label)}, {"uuid", std::move(uuid)}, {"model", std::move(model)}} {}

  void gauge(Samples& samples, std::string_view name, std::string_view unit, std::int64_t value) {
    samples.put(series(samples, name, unit, SeriesKind::kGauge), value);
  }
  // `reading`: how the device came by it, "instant" or "usage" (docs/formats/scope.md).
  void power(Samples& samples, std::int64_t milliwatts, std::string_view reading);
  void constant(Samples& samples, std::string_view name, std::string_view unit,
                std::int64_t value) {
    samples.put_if_new(series(samples, name, unit, SeriesKind::kGauge), value);
  }
  void counter(Samples& samples, std::string_view name, std::string_view unit, std::int64_t value) {
    samples.put(series(samples, name, unit, SeriesKind::kCounter), value);
  }
  // A process of the job was given this device, as the one at `position` of `count`.
  void given(Samples& samples, const JobProcess& process, std::size_t position, std::size_t count);
  // A process of this rank has it open, and how much of its memory it holds; -1: not known.
  void used_by(Samples& samples, std::int64_t rank, std::int64_t bytes);

  const std::string& label() const { return about_.front().second; }

 private:
  wire::SeriesId series(Samples& samples, std::string_view name, std::string_view unit,
                        SeriesKind kind) {
    const auto found = series_.find(name);
    if (found != series_.end()) return found->second;
    const wire::SeriesId made =
        samples.define({.name = name, .unit = unit, .kind = kind, .about = about_});
    return series_.emplace(std::string(name), made).first->second;
  }

  wire::Fields about_;
  std::map<std::string, wire::SeriesId, std::less<>> series_;
  std::map<std::pair<std::string, std::int64_t>, wire::SeriesId> by_rank_;
};

}  // namespace stepscope::capture
