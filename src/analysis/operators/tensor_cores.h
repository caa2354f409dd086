// Whether a kernel uses the units for matrix products (NVIDIA's tensor cores, AMD's matrix cores),
// known by its name, and which operators could. A name proves it or it does not: what nothing
// proves is unknown. Which names, and why: docs/metrics/tensor-cores.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

enum class TensorCores : std::uint8_t {
  kUsed,
  kNotUsed,  // no matrix product, also where it belongs to one: turns a layout round, adds parts up
  kPlain,    // a matrix product, by plain multiply-add
  kUnknown,
};
std::string_view name_of(TensorCores use);  // "yes", "no", "no", "unknown"

struct TensorCoreUse {
  TensorCores use = TensorCores::kUnknown;
  std::string_view reason;  // "an instruction of Volta to Ada in its name"; lives for ever
};
TensorCoreUse tensor_core_use(std::string_view kernel);

// Operators whose work is matrix products, by exact name: GEMM in all its forms, convolution,
// attention, recurrent cells, and their backward nodes.
bool names_matrix_operator(std::string_view op);

// Which generation of units a device has, from the header of the trace.
enum class MatrixUnits : std::uint8_t {
  kUnknown,   // the trace does not say which device it is
  kNone,      // older than Volta
  kNoDouble,  // not for 64 bits: Volta, Turing, small chips since Ampere, MI100
  kAll,       // A100, H100, B200, MI200 and later
};
MatrixUnits matrix_units(const trace::Header& header, std::int32_t device);

// Whether such units can multiply inputs of these types, as the profiler writes them:
// ["float","c10::Half"]. 32 bits count, as they can be rounded to TF32 or by mixed precision;
// double precision cannot. Empty: not recorded, which excludes nothing.
bool multiplies(MatrixUnits units, std::string_view types);

// Answers for one window, each name examined once.
class TensorCoreNames {
 public:
  explicit TensorCoreNames(const WindowView& window);
  TensorCores cores_of(const Work& piece);

 private:
  const WindowView* window_;
  std::vector<std::uint8_t> known_;  // by name: 0 not asked yet, else 1 + TensorCores
  std::vector<MatrixUnits> units_;   // by stream
};

}  // namespace stepscope::analysis
