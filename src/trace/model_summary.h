// The model a process trained, layer by layer, as it was counted when the run began
// (docs/formats/model.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace stepscope::trace {

struct ModelLayer {
  std::string name;                            // "encoder.0.linear"; empty for the model itself
  std::string type;                            // "Linear"
  std::int64_t depth = 0;                      // modules around it
  std::int64_t calls = 0;                      // during the pass that counted; 0: it was not run
  std::int64_t parameters = 0, trainable = 0;  // with the layers inside it
  base::Bytes parameter_bytes = 0;             // likewise
  std::optional<std::int64_t> mult_adds = {};  // of one pass, with the layers inside it
  std::string input, output;                   // shapes of the first call: "[8, 3, 224, 224]"
  base::Bytes output_bytes = 0;                // of all calls
};

struct ModelSummary {
  std::string counted_by;          // "stepscope", "torchinfo 1.8.0"
  std::string name;                // class of the model
  std::vector<ModelLayer> layers;  // a layer before those inside it; the model first
  std::int64_t parameters = 0, trainable = 0;
  base::Bytes parameter_bytes = 0, buffer_bytes = 0;
  std::optional<std::int64_t> mult_adds = {};  // nothing: no pass was made
  std::int64_t uncounted = 0;                  // layers with parameters and no known formula
  std::optional<base::Bytes> input_bytes = {}, output_bytes = {};  // of all layers without others

  std::size_t memory() const;
};

}  // namespace stepscope::trace
