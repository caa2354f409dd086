// The NVIDIA GPUs that were given to the job's processes, through NVML.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "capture/system/nvidia_device.h"
#include "capture/system/source.h"
#include "capture/system/visible.h"

namespace stepscope::capture {
namespace {

constexpr std::int64_t kBetweenProcessesNs = 5'000'000'000;

std::string text_from(int (*function)(NvmlDevice, char*, unsigned), NvmlDevice device) {
  std::array<char, 128> text{};
  if (function == nullptr) return {};
  if (function(device, text.data(), static_cast<unsigned>(text.size()) - 1) != 0) return {};
  return text.data();
}

using Devices = std::map<std::string, std::unique_ptr<NvidiaDevice>>;

// The devices of the job, which several sources ask in turn.
class NvidiaGpus {
 public:
  NvidiaGpus(const SystemPlace& place, const Job& job) : library_(place.nvml), job_(job) {}

  void prepare(Samples& samples) {
    std::string why_not;
    nvml_ = Nvml::open(library_, why_not);
    if (nvml_) {
      look(samples);
    } else {
      samples.say("nvml", why_not);
    }
  }

  // Those that were given to the job's processes by now.
  void choose(Samples& samples) {
    if (!nvml_) return;
    for (const JobProcess& process : job_.processes()) {
      const GivenDevices given = nvidia_devices(process.devices, listed_);
      if (const std::string why = given.why_not(listed_.size()); !why.empty()) {
        samples.say("nvml", why);
      }
      const std::size_t count = given.devices.size() + given.parts.size();
      for (std::size_t i = 0; i < given.devices.size(); ++i) {
        NvidiaDevice& device = whole(given.devices[i]);
        device.series().given(samples, process, i, count);
      }
      for (std::size_t i = 0; i < given.parts.size(); ++i) {
        add_part(samples, process, given.parts[i], given.devices.size() + i, count);
      }
    }
  }

  const Devices& devices() const { return devices_; }
  const Job& job() const { return job_; }

 private:
  void look(Samples& samples) {
    unsigned count = 0;
    (void)nvml_->device_count(&count);
    for (unsigned i = 0; i < count; ++i) {
      NvmlDevice handle = nullptr;
      // A device that this job may not touch is in the count, but gives no handle.
      if (nvml_->device_by_index(i, &handle) != 0) continue;
      unsigned minor = 0;
      const bool numbered =
          nvml_->minor_number != nullptr && nvml_->minor_number(handle, &minor) == 0;
      listed_.push_back({.uuid = text_from(nvml_->uuid, handle), .minor = numbered ? minor : -1});
      handles_.push_back(handle);
    }
    if (listed_.empty()) {
      samples.say("nvml", "NVIDIA GPUs are not measured: the driver shows none to this job.");
    }
  }

  NvidiaDevice& whole(std::size_t index) {
    return device(std::to_string(index), handles_[index], listed_[index].uuid);
  }

  NvidiaDevice& device(const std::string& label, NvmlDevice handle, const std::string& uuid) {
    std::unique_ptr<NvidiaDevice>& place = devices_[label];
    if (!place) {
      place = std::make_unique<NvidiaDevice>(*nvml_, handle, label, uuid,
                                             text_from(nvml_->name, handle));
    }
    return *place;
  }

  // A slice of a GPU: it has memory of its own, but power is that of the whole.
  void add_part(Samples& samples, const JobProcess& process, const std::string& uuid,
                std::size_t position, std::size_t count) {
    NvmlDevice part = nullptr;
    if (nvml_->device_by_uuid == nullptr || nvml_->device_by_uuid(uuid.c_str(), &part) != 0) {
      samples.say("nvml", "The MIG instance " + uuid + " is not known to the driver.");
      return;
    }
    device(uuid, part, uuid).series().given(samples, process, position, count);
    NvmlDevice parent = nullptr;
    if (nvml_->parent_of_part == nullptr || nvml_->parent_of_part(part, &parent) != 0) return;
    const auto found = std::ranges::find(handles_, parent);
    if (found == handles_.end()) return;
    const auto index = static_cast<std::size_t>(found - handles_.begin());
    whole(index);
    samples.say("nvml", "The power and energy of GPU " + std::to_string(index) +
                            " are those of all its MIG instances, also of other jobs'.");
  }

  std::string library_;
  const Job& job_;
  std::optional<Nvml> nvml_;
  std::vector<ListedDevice> listed_;
  std::vector<NvmlDevice> handles_;
  Devices devices_;
};

// What costs microseconds, at every moment.
class NvidiaState final : public Source {
 public:
  explicit NvidiaState(std::shared_ptr<NvidiaGpus> gpus) : gpus_(std::move(gpus)) {}

  void prepare(Samples& samples) override { gpus_->prepare(samples); }
  void sample(Samples& samples) override {
    gpus_->choose(samples);
    for (const auto& [label, device] : gpus_->devices()) device->sample(samples);
  }
  bool sample_last(Samples& samples) override {
    sample(samples);
    return true;
  }

 private:
  std::shared_ptr<NvidiaGpus> gpus_;
};

class NvidiaEnergy final : public Source {
 public:
  explicit NvidiaEnergy(std::shared_ptr<NvidiaGpus> gpus) : gpus_(std::move(gpus)) {}

  void sample(Samples& samples) override { take(samples, false); }
  bool sample_last(Samples& samples) override {
    take(samples, true);
    return true;
  }

 private:
  void take(Samples& samples, bool now) {
    for (const auto& [label, device] : gpus_->devices()) device->sample_energy(samples, now);
  }
  std::shared_ptr<NvidiaGpus> gpus_;
};

class NvidiaLinks final : public Source {
 public:
  explicit NvidiaLinks(std::shared_ptr<NvidiaGpus> gpus) : gpus_(std::move(gpus)) {}

  void sample(Samples& samples) override {
    for (const auto& [label, device] : gpus_->devices()) device->sample_links(samples);
  }

 private:
  std::shared_ptr<NvidiaGpus> gpus_;
};

class NvidiaProcesses final : public Source {
 public:
  explicit NvidiaProcesses(std::shared_ptr<NvidiaGpus> gpus) : gpus_(std::move(gpus)) {}

  void sample(Samples& samples) override {
    for (const auto& [label, device] : gpus_->devices()) {
      device->sample_processes(samples, gpus_->job());
    }
  }
  std::int64_t least_interval_ns() const override { return kBetweenProcessesNs; }

 private:
  std::shared_ptr<NvidiaGpus> gpus_;
};

}  // namespace

std::vector<std::unique_ptr<Source>> nvidia_sources(const SystemPlace& place, const Job& job) {
  const auto gpus = std::make_shared<NvidiaGpus>(place, job);
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<NvidiaState>(gpus));  // first: it chooses the devices
  sources.push_back(std::make_unique<NvidiaEnergy>(gpus));
  sources.push_back(std::make_unique<NvidiaLinks>(gpus));
  sources.push_back(std::make_unique<NvidiaProcesses>(gpus));
  return sources;
}

}  // namespace stepscope::capture
