#include "analysis/system/step_energy.h"

namespace stepscope::analysis {

void StepEnergy::Sum::add(const std::optional<double>& value, bool has) {
  if (!has) return;
  any = true;
  known &= value.has_value();
  joules += value.value_or(0);
}

void StepEnergy::add(std::int64_t number, const Joules& joules,
                     const std::optional<std::int64_t>& samples) {
  Step& step = steps_[number];
  step.gpu.add(joules.gpu, joules.has_gpu);
  step.all.add(joules.sum(), joules.has_gpu || joules.has_host);
  step.samples += samples.value_or(0);
  step.samples_known &= samples.has_value();
}

StepEnergy::Mean StepEnergy::mean(Sum Step::* which, std::int64_t told) const {
  Mean out;
  double joules = 0;
  std::int64_t samples = 0;
  bool samples_known = true;
  for (const auto& [number, step] : steps_) {
    const Sum& sum = step.*which;
    if (!sum.any || !sum.known) continue;
    ++out.steps;
    joules += sum.joules;
    samples += step.samples;
    samples_known &= step.samples_known;
  }
  if (out.steps == 0) return out;
  out.per_step = joules / static_cast<double>(out.steps);
  if (told > 0) {
    out.per_sample = *out.per_step / static_cast<double>(told);
  } else if (samples_known && samples > 0) {
    out.per_sample = joules / static_cast<double>(samples);
  }
  return out;
}

StepEnergy::Mean StepEnergy::of_gpus(std::int64_t told) const { return mean(&Step::gpu, told); }

StepEnergy::Mean StepEnergy::of_all(std::int64_t told) const { return mean(&Step::all, told); }

}  // namespace stepscope::analysis
