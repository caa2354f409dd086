// The AMD GPUs that were given to the job's processes, from what amdgpu shows in /sys/class/drm.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/system/gpu_series.h"
#include "capture/system/source.h"
#include "capture/system/text_file.h"

namespace stepscope::capture {
namespace {

constexpr std::int64_t kMicroPerMilli = 1000;
constexpr std::int64_t kHzPerMhz = 1'000'000;

class AmdDevice {
 public:
  AmdDevice(const std::string& folder, const std::string& label, const std::string& uuid)
      : series_(label, uuid, text_of_line(folder + "/product_name")) {
    const auto take = [&](const std::string& path, std::string_view name, std::string_view unit,
                          std::int64_t divisor = 1, SeriesKind kind = SeriesKind::kGauge) {
      TextFile file(path);
      if (file.read()) values_.push_back({std::move(file), name, unit, divisor, kind});
    };
    take(folder + "/gpu_busy_percent", "gpu.busy", "%");
    take(folder + "/mem_busy_percent", "gpu.memory_busy", "%");
    take(folder + "/mem_info_vram_used", "gpu.memory", "bytes");
    total_ = number_of(folder + "/mem_info_vram_total");
    for (const std::string& name : names_in(folder + "/hwmon")) {
      const std::string sensor = joined({folder, "/hwmon/", name});
      take(sensor + "/energy1_input", "gpu.energy", "uJ", 1, SeriesKind::kCounter);
      const std::size_t before = values_.size();
      take(sensor + "/power1_average", "gpu.power", "mW", kMicroPerMilli);
      if (values_.size() == before) {
        take(sensor + "/power1_input", "gpu.power", "mW", kMicroPerMilli);
      }
      take(sensor + "/temp1_input", "gpu.temperature", "C", 1000);
      take(sensor + "/freq1_input", "gpu.clock", "MHz", kHzPerMhz);
      take(sensor + "/freq2_input", "gpu.memory_clock", "MHz", kHzPerMhz);
    }
  }

  void sample(Samples& samples) {
    bool any = values_.empty();
    for (Value& value : values_) {
      auto text = value.file.read();
      const auto number = text ? whole_number(next_word(*text)) : std::nullopt;
      if (!number) continue;
      any = true;
      if (value.kind == SeriesKind::kCounter) {
        series_.counter(samples, value.name, value.unit, *number / value.divisor);
      } else {
        series_.gauge(samples, value.name, value.unit, *number / value.divisor);
      }
    }
    if (!any) {
      samples.add_notice("amdgpu",
                         "GPU " + series_.label() +
                             " disappeared while the run went on: from here on nothing is known "
                             "of it.");
    } else if (total_) {
      series_.constant(samples, "gpu.memory_total", "bytes", *total_);
    }
  }

  GpuSeries& series() { return series_; }

 private:
  static std::string text_of_line(const std::string& path) {
    const std::string text = text_of(path).value_or("AMD GPU");
    return text.substr(0, text.find('\n'));
  }

  struct Value {
    TextFile file;
    std::string_view name, unit;
    std::int64_t divisor;
    SeriesKind kind;
  };
  GpuSeries series_;
  std::vector<Value> values_;
  std::optional<std::int64_t> total_;
};

// A machine has these or NVIDIA's: finding none of them is not worth a word.
class Amd final : public Source {
 public:
  Amd(const SystemPlace& place, const Job& job) : job_(job) {
    const std::string cards = place.sys + "/class/drm";
    std::vector<std::string> names = names_in(cards);
    std::erase_if(names, [](const std::string& name) { return !card_number(name); });
    std::ranges::sort(names, {}, [](const std::string& name) { return card_number(name); });
    for (const std::string& name : names) {
      const std::string folder = joined({cards, "/", name, "/device"});
      const std::string vendor = text_of(folder + "/vendor").value_or("");
      if (!vendor.starts_with("0x1002") || !text_of(folder + "/gpu_busy_percent")) continue;
      std::string unique = text_of(folder + "/unique_id").value_or("");
      unique = unique.substr(0, unique.find('\n'));
      listed_.push_back({.uuid = unique.empty() ? "" : "GPU-" + unique});
      folders_.push_back(folder);
    }
  }

  void sample(Samples& samples) override {
    for (const JobProcess& process : job_.processes()) {
      const GivenDevices given = amd_devices(process.devices, listed_);
      if (const std::string why = given.why_not(listed_.size()); !why.empty()) {
        samples.add_notice("amdgpu", why);
      }
      for (std::size_t i = 0; i < given.devices.size(); ++i) {
        const std::size_t index = given.devices[i];
        std::unique_ptr<AmdDevice>& device = devices_[index];
        if (!device) {
          device = std::make_unique<AmdDevice>(folders_[index], std::to_string(index),
                                               listed_[index].uuid);
        }
        device->series().given(samples, process, i, given.devices.size());
      }
    }
    for (const auto& [index, device] : devices_) device->sample(samples);
  }

 private:
  // Of "card3"; outputs are called card3-DP-1.
  static std::optional<std::int64_t> card_number(std::string_view name) {
    return name.starts_with("card") ? whole_number(name.substr(4)) : std::nullopt;
  }

  const Job& job_;
  std::vector<ListedDevice> listed_;
  std::vector<std::string> folders_;
  std::map<std::size_t, std::unique_ptr<AmdDevice>> devices_;
};

}  // namespace

std::unique_ptr<Source> amd_source(const SystemPlace& place, const Job& job) {
  return std::make_unique<Amd>(place, job);
}

}  // namespace stepscope::capture
