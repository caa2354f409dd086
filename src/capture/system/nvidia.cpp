// NVIDIA GPUs that were given to the job, sampled through NVML.
#include "capture/system/nvidia.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/system/gpu_series.h"
#include "capture/system/nvidia_device.h"

namespace stepscope::capture {
namespace {

constexpr std::chrono::seconds kEnergyTurn(1);

std::string text_from(int (*function)(NvmlDevice, char*, unsigned), NvmlDevice device) {
  std::array<char, 128> text{};
  if (function == nullptr) return {};
  if (function(device, text.data(), static_cast<unsigned>(text.size()) - 1) != 0) return {};
  return text.data();
}

// Opens the driver, and finds the devices that were given to the job's processes by now.
class NvidiaDriver final : public Question {
 public:
  NvidiaDriver(std::string library, std::shared_ptr<const JobBoard> job,
               std::weak_ptr<Questions> states, std::weak_ptr<Questions> energies)
      : library_(std::move(library)),
        job_(std::move(job)),
        states_(std::move(states)),
        energies_(std::move(energies)) {}

  std::string asked() const override { return "The driver of the NVIDIA GPUs"; }
  bool ask(Samples& samples, const AskedAt& /*at*/) override {
    if (!std::exchange(is_opened_, true)) open(samples);
    const std::shared_ptr<const JobView> job = job_->view();
    if (!nvml_ || job == seen_) return nvml_ != nullptr;
    seen_ = job;
    for (const JobProcess& process : job->processes) {
      const GivenDevices given = nvidia_devices(process.devices, listed_);
      if (const std::string why = given.why_not(listed_.size()); !why.empty()) {
        samples.add_notice("nvml", why);
      }
      const std::size_t count = given.devices.size() + given.parts.size();
      for (std::size_t i = 0; i < given.devices.size(); ++i) {
        whole(given.devices[i]).given(samples, process, i, count);
      }
      for (std::size_t i = 0; i < given.parts.size(); ++i) {
        add_part(samples, process, given.parts[i], given.devices.size() + i, count);
      }
    }
    return true;
  }

 private:
  void open(Samples& samples) {
    std::string why_not;
    const std::optional<Nvml> opened = Nvml::open(library_, why_not);
    if (!opened) return samples.add_notice("nvml", why_not);
    nvml_ = std::make_shared<const Nvml>(*opened);
    look(samples);
  }

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
      samples.add_notice("nvml",
                         "NVIDIA GPUs are not measured: the driver shows none to this job.");
    }
  }

  GpuSeries& whole(std::size_t index) {
    return device(std::to_string(index), handles_[index], listed_[index].uuid);
  }

  // The series of the process that was given it: all others are of the process that asks.
  GpuSeries& device(const std::string& label, NvmlDevice handle, const std::string& uuid) {
    std::unique_ptr<GpuSeries>& place = devices_[label];
    if (!place) {
      const std::string model = text_from(nvml_->name, handle);
      place = std::make_unique<GpuSeries>(label, uuid, model);
      const NvidiaHandle queried(nvml_, handle, label);
      if (const auto states = states_.lock()) {
        add_question(*states, std::make_shared<NvidiaDevice>(queried, uuid, model, job_));
      }
      if (const auto energies = energies_.lock()) {
        add_question(*energies, std::make_shared<NvidiaEnergy>(queried, uuid, model));
      }
    }
    return *place;
  }

  // A slice of a GPU: it has memory of its own, but power is that of the whole.
  void add_part(Samples& samples, const JobProcess& process, const std::string& uuid,
                std::size_t position, std::size_t count) {
    NvmlDevice part = nullptr;
    if (nvml_->device_by_uuid == nullptr || nvml_->device_by_uuid(uuid.c_str(), &part) != 0) {
      samples.add_notice("nvml", "The MIG instance " + uuid + " is not known to the driver.");
      return;
    }
    device(uuid, part, uuid).given(samples, process, position, count);
    NvmlDevice parent = nullptr;
    if (nvml_->parent_of_part == nullptr || nvml_->parent_of_part(part, &parent) != 0) return;
    const auto found = std::ranges::find(handles_, parent);
    if (found == handles_.end()) return;
    const auto index = static_cast<std::size_t>(found - handles_.begin());
    whole(index);
    samples.add_notice("nvml", "The power and energy of GPU " + std::to_string(index) +
                                   " are those of all its MIG instances, also of other jobs'.");
  }

  std::string library_;
  std::shared_ptr<const JobBoard> job_;
  std::shared_ptr<const JobView> seen_;
  std::weak_ptr<Questions> states_, energies_;  // the first of them holds this
  bool is_opened_ = false;
  std::shared_ptr<const Nvml> nvml_;
  std::vector<ListedDevice> listed_;
  std::vector<NvmlDevice> handles_;
  std::map<std::string, std::unique_ptr<GpuSeries>> devices_;
};

}  // namespace

NvidiaGpus::NvidiaGpus(const SystemPlace& place, std::shared_ptr<const JobBoard> job,
                       std::chrono::nanoseconds interval, const std::shared_ptr<SampleBook>& book)
    : state_("stepscope-gpu", interval, book),
      energy_("stepscope-joule", std::max<std::chrono::nanoseconds>(interval, kEnergyTurn), book) {
  add_question(*state_.questions(),
               std::make_shared<NvidiaDriver>(place.nvml, std::move(job), state_.questions(),
                                              energy_.questions()));
}

void NvidiaGpus::start() {
  state_.start();
  energy_.start();
}

void NvidiaGpus::look_after(bool is_overdrawn) {
  state_.look_after(is_overdrawn);
  energy_.look_after(is_overdrawn);
}

// One after the other: the first one may have found a device just now.
void NvidiaGpus::finish() {
  const auto since = std::chrono::steady_clock::now();
  state_.finish(since);
  energy_.finish(since);
}

void NvidiaGpus::take(std::string& out) {
  state_.take(out);
  energy_.take(out);
}

}  // namespace stepscope::capture
