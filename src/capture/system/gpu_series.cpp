#include "capture/system/gpu_series.h"

namespace stepscope::capture {

void GpuSeries::power(Samples& samples, std::int64_t milliwatts, std::string_view reading) {
  const auto [found, is_new] = series_.try_emplace("gpu.power");
  if (is_new) {
    wire::Fields about = about_;
    about.emplace_back("reading", reading);
    found->second = samples.define({.name = "gpu.power", .unit = "mW", .about = about});
  }
  samples.put(found->second, milliwatts);
}

void GpuSeries::given(Samples& samples, const JobProcess& process, std::size_t position,
                      std::size_t count) {
  const auto [found, is_new] = by_rank_.try_emplace({"gpu.given", process.rank});
  if (is_new) {
    wire::Fields about = about_;
    about.emplace_back("rank", std::to_string(process.rank));
    about.emplace_back("local_rank", std::to_string(process.local_rank));
    about.emplace_back("position", std::to_string(position));
    about.emplace_back("of", std::to_string(count));
    found->second = samples.define({.name = "gpu.given", .unit = "count", .about = about});
  }
  samples.put_if_new(found->second, 1);
}

void GpuSeries::used_by(Samples& samples, std::int64_t rank, std::int64_t bytes) {
  const auto put = [&](const char* name, const char* unit, std::int64_t value) {
    const auto [found, is_new] = by_rank_.try_emplace({name, rank});
    if (is_new) {
      wire::Fields about = about_;
      about.emplace_back("rank", std::to_string(rank));
      found->second = samples.define({.name = name, .unit = unit, .about = about});
    }
    samples.put(found->second, value);
  };
  put("gpu.processes", "count", 1);
  if (bytes >= 0) put("gpu.process_memory", "bytes", bytes);
}

}  // namespace stepscope::capture
