#include "analysis/stalls/saves.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/device/copies.h"
#include "analysis/name_sign.h"

namespace stepscope::analysis {
namespace {

constexpr std::size_t kLeastCopies = 8;
constexpr base::Bytes kLeastBytes = std::int64_t{64} << 20;
// Of a small model: more tensors than anybody looks at one by one, and of many sizes, as weights
// are and results are not.
constexpr std::size_t kManyCopies = 32;
constexpr std::size_t kManySizes = 5;
constexpr base::Bytes kFewBytes = std::int64_t{4} << 20;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "torch/serialization.py(967): save", and those of torch.distributed.checkpoint.
bool is_saving_frame(std::string_view frame) {
  const bool plain = frame.find("torch/serialization.py(") != std::string_view::npos &&
                     (frame.ends_with(": save") || frame.ends_with(": _save"));
  const bool safe = frame.find("safetensors/torch.py(") != std::string_view::npos &&
                    frame.find(": save") != std::string_view::npos;
  return plain || safe ||
         frame.find("torch/distributed/checkpoint/state_dict_saver.py(") != std::string_view::npos;
}

// Ranges that the program or its framework named so.
bool is_saving_range(std::string_view range) {
  const std::string name = lower(range);
  return name.find("checkpoint") != std::string::npos || name.starts_with("save") ||
         name.starts_with("saving") || name.find(".save") != std::string::npos ||
         name.find(" save") != std::string::npos;
}

struct SavingNames {
  NameSign frame, range;

  explicit SavingNames(const trace::Trace& trace)
      : frame(trace, is_saving_frame), range(trace, is_saving_range) {}

  // Whether code that saves asked for it; ranges need more copies than frames, which are certain.
  bool asked(const trace::Trace& trace, trace::Row call, std::size_t copies) {
    for (trace::Row row = call; row != trace::kNoRow; row = trace.parent()[row]) {
      const trace::Kind kind = trace.kind()[row];
      if (kind == trace::Kind::kPython && frame.of(row)) return true;
      if (kind == trace::Kind::kAnnotation && copies >= kLeastCopies && range.of(row)) return true;
    }
    return false;
  }
};

bool is_download(const trace::Trace& trace, const Work& piece) {
  return piece.work_class == WorkClass::kCopy &&
         copy_name(trace.name_text(piece.row)).kind == "DtoH";
}

}  // namespace

std::vector<bool> saved_pieces(const WindowView& window) {
  const trace::Trace& trace = *window.trace;
  std::vector<bool> out(window.work.size());
  SavingNames saving(trace);
  for (const DeviceView& device : window.devices) {
    // In the order in which the host asked for them: other work may still run meanwhile.
    std::vector<std::pair<base::Nanos, std::uint32_t>> order;
    for (std::size_t i = device.begin; i < device.end; ++i) {
      const trace::Row call = window.work[i].launch;
      if (call == trace::kNoRow) continue;
      order.emplace_back(trace.start()[call], static_cast<std::uint32_t>(i));
    }
    sort_runs(order, [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t first = 0; first < order.size();) {
      std::size_t last = first;
      base::Bytes bytes = 0;
      std::set<base::Bytes> sizes;
      for (; last < order.size() && is_download(trace, window.work[order[last].second]); ++last) {
        const base::Bytes size = bytes_of(trace, window.work[order[last].second].row).value_or(0);
        bytes += size;
        if (sizes.size() < kManySizes) sizes.insert(size);
      }
      const std::size_t copies = last - first;
      const bool large = copies >= kLeastCopies && bytes >= kLeastBytes;
      const bool of_weights =
          copies >= kManyCopies && sizes.size() >= kManySizes && bytes >= kFewBytes;
      if (large || of_weights ||
          (copies > 0 && saving.asked(trace, window.work[order[first].second].launch, copies))) {
        for (std::size_t i = first; i < last; ++i) out[order[i].second] = true;
      }
      first = std::max(last, first + 1);
    }
  }
  return out;
}

}  // namespace stepscope::analysis
