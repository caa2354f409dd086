#include "analysis/device/elementwise_chains.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/device/kernel_owners.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

// A kernel of two inputs and one output moves three tensors. If it is fused with the one before, it
// saves at least one of them.
constexpr Nanos kMovedTensors = 3;
// Threads of kernels that work on equally many numbers differ by how many each takes: 1 to 8.
constexpr double kSameSize = 4;

// PyTorch's, on CUDA and HIP. Those that a compiler made are fused already.
bool names_elementwise_kernel(std::string_view kernel) {
  return kernel.substr(0, kernel.find('<')).find("elementwise_kernel") != std::string_view::npos;
}

class ChainFinder {
 public:
  explicit ChainFinder(const WindowView& window)
      : window_(window), trace_(*window.trace), signs_(window.trace->strings().size()) {}

  std::vector<ElementwiseChain> find() {
    for (const StreamView& stream : window_.streams) {
      busy_ = busy_of(stream.device);
      for (const std::uint32_t index : stream.work) {
        const Work& piece = window_.work[index];
        if (!continues(piece)) end_run();
        if (can_be_fused(piece)) run_.push_back(index);
      }
      end_run();
    }
    return std::move(out_);
  }

 private:
  Coverage busy_of(std::int32_t device) const {
    const auto at = std::ranges::find(window_.devices, device, &DeviceView::device);
    return at == window_.devices.end() ? Coverage() : Coverage(at->busy);
  }

  // Between kernels of a stream, when no other stream has work either.
  Nanos idle(Nanos from, Nanos to) const {
    return to <= from ? 0 : to - from - busy_.covered({from, to});
  }

  bool can_be_fused(const Work& piece) {
    if (piece.work_class != WorkClass::kCompute || !window_.counts(piece)) return false;
    if (window_.has_steps && piece.step < 0) return false;  // work of no step is nobody's gain
    const base::StringId name = trace_.name()[piece.row];
    if (name == base::kNoString) return false;
    if (signs_[name] == 0) signs_[name] = names_elementwise_kernel(trace_.text(name)) ? 2 : 1;
    return signs_[name] == 2;
  }

  double threads(const Work& piece) const {
    const trace::KernelTable& kernels = trace_.kernels();
    const std::uint32_t entry = kernels.rows.find(piece.row);
    if (entry == base::RowSet::kNone) return 0;
    return static_cast<double>(kernels.grid_x[entry]) * static_cast<double>(kernels.block_x[entry]);
  }

  bool continues(const Work& piece) {
    if (run_.empty()) return true;
    const Work& last = window_.work[run_.back()];
    if (!can_be_fused(piece) || piece.step != last.step) return false;
    const double before = threads(last);
    const double after = threads(piece);
    return before <= kSameSize * after && after <= kSameSize * before;
  }

  void end_run() {
    if (run_.size() > 1) add_chain();
    run_.clear();
  }

  void add_chain() {
    std::vector<std::string_view> key;
    key.reserve(run_.size());
    for (const std::uint32_t index : run_) {
      key.push_back(launching_operator(window_, window_.work[index]));
    }
    const Work& first = window_.work[run_.front()];
    const auto [at, fresh] = index_.try_emplace(key, out_.size());
    if (fresh) {
      ElementwiseChain chain;
      const bool known = std::ranges::any_of(key, [](auto name) { return !name.empty(); });
      if (known) chain.operators = joined_names(key);
      chain.within = range_around(window_, first);
      chain.kernels = static_cast<std::uint32_t>(run_.size());
      out_.push_back(std::move(chain));
    }
    ElementwiseChain& chain = out_[at->second];
    Nanos sum = 0;
    Nanos longest = 0;
    Nanos gap = 0;
    Nanos until = first.start;
    for (const std::uint32_t index : run_) {
      const Work& piece = window_.work[index];
      sum += piece.length();
      longest = std::max(longest, piece.length());
      gap += idle(until, piece.start);
      until = std::max(until, piece.end);
    }
    ++chain.count;
    chain.device += sum;
    chain.gap += gap;
    chain.least += (sum - first.length()) / kMovedTensors;
    chain.most += sum - longest + gap;
    if (sum <= chain.longest) return;
    chain.longest = sum;
    chain.window = window_.window;
    chain.step = window_.has_steps && first.step >= 0
                     ? window_.steps[static_cast<std::size_t>(first.step)].number
                     : -1;
    chain.event = trace_.ordinal()[first.row];
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  Coverage busy_;                    // of the stream's device
  std::vector<std::uint8_t> signs_;  // by name: 0 not yet read, 1 no, 2 elementwise
  std::vector<std::uint32_t> run_;   // of window_.work
  std::map<std::vector<std::string_view>, std::size_t> index_;
  std::vector<ElementwiseChain> out_;
};

void merge(ElementwiseChain& into, const ElementwiseChain& other) {
  into.count += other.count;
  into.device += other.device;
  into.gap += other.gap;
  into.least += other.least;
  into.most += other.most;
  if (other.longest <= into.longest) return;
  into.longest = other.longest;
  into.window = other.window;
  into.step = other.step;
  into.event = other.event;
}

}  // namespace

std::vector<ElementwiseChain> elementwise_chains(std::span<const WindowView> windows) {
  std::vector<ElementwiseChain> out;
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> index;
  for (const WindowView& window : windows) {
    for (ElementwiseChain& chain : ChainFinder(window).find()) {
      const auto [at, fresh] = index.try_emplace({chain.kernels, chain.operators}, out.size());
      if (fresh) {
        out.push_back(std::move(chain));
      } else {
        merge(out[at->second], chain);
      }
    }
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &ElementwiseChain::most);
  return out;
}

}  // namespace stepscope::analysis
