// Decides which kernels use tensor cores, and which operators could.
#include "analysis/operators/tensor_cores.h"

#include <algorithm>
#include <array>

namespace stepscope::analysis {
namespace {

constexpr std::array<std::string_view, 4> kTensorCoresNames = {"yes", "no", "no", "unknown"};

bool contains_tensor_cores(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::string_view name_of(TensorCores use) {
  return kTensorCoresNames[static_cast<std::size_t>(use)];
}

MatrixUnits matrix_units(const trace::Header& header, std::int32_t device) {
  const auto found = std::ranges::find_if(
      header.devices, [&](const trace::DeviceProperties& about) { return about.id == device; });
  if (found == header.devices.end() || found->compute_major <= 0) return MatrixUnits::kUnknown;
  // ROCm writes gfx numbers where CUDA writes compute capabilities: 9.0 is Hopper there and
  // everything from Vega to CDNA here.
  if (contains_tensor_cores(found->name, "AMD") || contains_tensor_cores(found->name, "Radeon") ||
      contains_tensor_cores(found->name, "Instinct")) {
    if (contains_tensor_cores(found->name, "Instinct MI100")) return MatrixUnits::kNoDouble;
    return contains_tensor_cores(found->name, "Instinct MI") ? MatrixUnits::kAll
                                                             : MatrixUnits::kUnknown;
  }
  if (!contains_tensor_cores(found->name, "NVIDIA") &&
      !contains_tensor_cores(found->name, "Tesla") &&
      !contains_tensor_cores(found->name, "GeForce") &&
      !contains_tensor_cores(found->name, "Quadro")) {
    return MatrixUnits::kUnknown;
  }
  if (found->compute_major < 7) return MatrixUnits::kNone;
  const bool large =
      found->compute_major >= 8 && found->compute_major < 11 && found->compute_minor == 0;
  return large ? MatrixUnits::kAll : MatrixUnits::kNoDouble;
}

bool multiplies(MatrixUnits units, std::string_view types) {
  if (units == MatrixUnits::kNone) return false;
  // Of integers only those of 8 bits; beside others they are lengths and places.
  const auto any = [&](auto... words) { return (contains_tensor_cores(types, words) || ...); };
  const bool wide_integers = any("int\"", "long\"", "short\"", "bool\"");
  if (wide_integers && !any("float", "double", "Float", "Half", "char", "quint8", "qint8")) {
    return false;
  }
  return units != MatrixUnits::kNoDouble || !contains_tensor_cores(types, "double");
}

TensorCoreNames::TensorCoreNames(const WindowView& window)
    : window_(&window), known_(window.trace->strings().size()) {
  for (const StreamView& stream : window.streams) {
    units_.push_back(matrix_units(window.trace->header(), stream.device));
  }
}

TensorCores TensorCoreNames::cores_of(const Work& piece) {
  if (piece.work_class != WorkClass::kCompute) return TensorCores::kNotUsed;
  if (units_[piece.stream] == MatrixUnits::kNone) return TensorCores::kNotUsed;
  const base::StringId name = window_->trace->name()[piece.row];
  if (name == base::kNoString) return TensorCores::kUnknown;
  std::uint8_t& known = known_[name];
  if (known == 0) {
    const TensorCoreUse found = tensor_core_use(window_->trace->text(name));
    known = static_cast<std::uint8_t>(1 + static_cast<std::uint8_t>(found.use));
  }
  return static_cast<TensorCores>(known - 1);
}

}  // namespace stepscope::analysis
