// Finds elementwise kernels that follow each other directly, and what fusing them would save.
#include "analysis/device/elementwise_chains.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/costs/call_costs.h"
#include "analysis/device/fusible.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// Which kernels a chain of passes over memory is made of, and how much each of them moves: by its
// name and by the shapes of the operator that launched it. Definition: docs/metrics/patterns.md.

struct ChainKernel {
  std::uint32_t work = 0;  // into WindowView::work
  bool reduces = false;    // sums, means, maxima: it reads what others wrote and writes far less
  // It works on what a reduction has left, or is a reduction of which it is not known how much it
  // reads: inside a chain, but never its end.
  bool between = false;
  double numbers = 0;  // of the largest tensor it reads or writes; 0: shapes were not recorded
  double threads = 0;  // of its grid along x
  int reads = 0;       // tensors of that size

  // Tensors of that size that it reads and writes. Where shapes do not say: two inputs, one output.
  int moves() const { return numbers > 0 ? reads + (reduces ? 0 : 1) : 3; }
};

// Answers for one window, each name and each signature examined once.
class ChainKernels {
 public:
  explicit ChainKernels(const WindowView& window);

  // Nothing for work that no chain has.
  std::optional<ChainKernel> kernel_of(std::uint32_t work);

 private:
  enum class Sort : std::uint8_t { kNotRead, kOther, kPass, kReduction };
  struct Tensors {
    double numbers = 0;
    int reads = 0;
  };
  Sort sort_of(base::StringId name);
  Tensors tensors_of(const Work& piece);
  double threads_of(const Work& piece) const;

  const WindowView& window_;
  const trace::Trace& trace_;
  std::vector<Sort> sorts_;                             // by name
  std::unordered_map<std::uint64_t, Tensors> tensors_;  // by the operator's name and signature
};

// Threads of kernels that work on equally many numbers differ by how many each takes: 1 to 8.
constexpr double kSameThreads = 4;
// A tensor that is spread over a larger one is read again and again, and from the cache.
constexpr double kSpread = 4;

// PyTorch's, on CUDA and HIP. Those that a compiler made are fused already, and so are norms and
// softmax that are one kernel.
bool names_pass(std::string_view kernel) {
  return kernel.substr(0, kernel.find('<')).find("elementwise_kernel") != std::string_view::npos;
}
bool names_reduction(std::string_view kernel) {
  return kernel.substr(0, kernel.find('<')).find("native::reduce_kernel") != std::string_view::npos;
}

double numbers_in(const Tensor& tensor) {
  double out = 1;
  for (const std::int64_t size : tensor.dims) out *= static_cast<double>(size);
  return out;
}

// Whether both work on equally many numbers.
bool works_on_as_much(const ChainKernel& one, const ChainKernel& other) {
  if (one.numbers > 0 && other.numbers > 0) return one.numbers == other.numbers;
  if (one.reduces || other.reduces) return false;  // it has threads for what it leaves
  return one.threads <= kSameThreads * other.threads && other.threads <= kSameThreads * one.threads;
}

// Whether the first works on far fewer.
bool works_on_less(const ChainKernel& one, const ChainKernel& other) {
  if (one.numbers > 0 && other.numbers > 0) return kSpread * one.numbers < other.numbers;
  return kSameThreads * one.threads < other.threads;
}

ChainKernels::ChainKernels(const WindowView& window)
    : window_(window), trace_(*window.trace), sorts_(window.trace->strings().size()) {}

std::optional<ChainKernel> ChainKernels::kernel_of(std::uint32_t work) {
  const Work& piece = window_.work[work];
  if (piece.work_class != WorkClass::kCompute || !window_.counts(piece)) return std::nullopt;
  if (window_.has_steps && piece.step < 0) return std::nullopt;  // nothing is gained
  const base::StringId name = trace_.name()[piece.row];
  if (name == base::kNoString) return std::nullopt;
  const Sort sort = sort_of(name);
  if (sort == Sort::kOther) return std::nullopt;
  const Tensors tensors = tensors_of(piece);
  return ChainKernel{.work = work,
                     .reduces = sort == Sort::kReduction,
                     .numbers = tensors.numbers,
                     .threads = threads_of(piece),
                     .reads = tensors.reads};
}

ChainKernels::Sort ChainKernels::sort_of(base::StringId name) {
  Sort& sort = sorts_[name];
  if (sort != Sort::kNotRead) return sort;
  const std::string_view text = trace_.text(name);
  sort = Sort::kOther;
  if (names_pass(text)) sort = Sort::kPass;
  if (names_reduction(text)) sort = Sort::kReduction;
  return sort;
}

ChainKernels::Tensors ChainKernels::tensors_of(const Work& piece) {
  if (piece.launch == trace::kNoRow) return {};
  const trace::LaunchTable& launches = trace_.launches();
  const std::uint32_t launch = launches.rows.find(piece.launch);
  if (launch == base::RowSet::kNone || launches.op[launch] == trace::kNoRow) return {};
  const trace::Row row = launches.op[launch];
  const std::uint32_t op = trace_.ops().rows.find(row);
  if (op == base::RowSet::kNone) return {};
  const auto signature = static_cast<std::uint64_t>(trace_.ops().signature[op]);
  const auto [at, fresh] = tensors_.try_emplace(
      (static_cast<std::uint64_t>(trace_.name()[row]) << 32U) | (signature & 0xffffffffU));
  Tensors& out = at->second;
  if (!fresh) return out;
  std::vector<double> sizes;
  for (const Input& input : inputs_of(trace_, row).inputs) {
    if (input.kind == InputKind::kTensor) sizes.push_back(numbers_in(input.tensor));
    for (const Tensor& one : input.list) sizes.push_back(numbers_in(one));
  }
  // The first is where it writes to, and is not read.
  const std::string_view name = trace_.name_text(row);
  const bool only_written = name == "aten::copy_" || name == "aten::fill_" || name == "aten::zero_";
  out.numbers = sizes.empty() ? 0 : std::ranges::max(sizes);
  for (std::size_t i = only_written ? 1 : 0; i < sizes.size(); ++i) {
    if (kSpread * sizes[i] >= out.numbers) ++out.reads;
  }
  return out;
}

double ChainKernels::threads_of(const Work& piece) const {
  const trace::KernelTable& kernels = trace_.kernels();
  const std::uint32_t entry = kernels.rows.find(piece.row);
  if (entry == base::RowSet::kNone) return 0;
  return static_cast<double>(kernels.grid_x[entry]) * static_cast<double>(kernels.block_x[entry]);
}

using base::Nanos;

// Between a reduction and the next pass over all numbers lie a few kernels on what it left: a root,
// a factor.
constexpr std::size_t kMostBetween = 16;

// What one kernel for each stretch of a chain would save at the least.
//
// A reduction ends a stretch: what follows needs its result, and so reads the numbers again. Inside
// a stretch no kernel needs to read again what the kernel before has just written or read, and what
// lies between two of its kernels is needed nowhere else; the first kernel's output may be needed
// elsewhere, and the last one's is. Where shapes do not say how many tensors a kernel moves, it is
// one tensor of three.
double surely_saved(std::span<const ChainKernel> chain, std::span<const Work> work) {
  double out = 0;
  std::size_t place = 0;  // in its stretch
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const ChainKernel& kernel = chain[i];
    if (kernel.between) {
      if (kernel.reduces) place = 0;
      continue;
    }
    const bool is_last = kernel.reduces || i + 1 == chain.size();
    const bool known = kernel.numbers > 0;
    const bool reads_again = place > 0 && (!known || kernel.reads > 0);  // a fill reads nothing
    if (reads_again) {
      const int saved = known && !is_last ? 2 : 1;
      const auto length = static_cast<double>(work[kernel.work].length());
      out += length * saved / kernel.moves();
    }
    place = kernel.reduces ? 0 : place + 1;
  }
  return out;
}

class ChainFinder {
 public:
  explicit ChainFinder(const WindowView& window)
      : window_(window), trace_(*window.trace), kernels_(window) {}

  std::vector<ElementwiseChain> find() {
    for (const StreamView& stream : window_.streams) {
      busy_ = busy_of(stream.device);
      for (const std::uint32_t index : stream.work) {
        // A reduction by several blocks has its counters set to zero.
        if (window_.work[index].work_class == WorkClass::kSet && !after_set_) {
          after_set_ = true;
          continue;
        }
        std::optional<ChainKernel> kernel = kernels_.kernel_of(index);
        if (!kernel || (after_set_ && !kernel->reduces)) end_run();
        after_set_ = false;
        if (kernel) add(*kernel);
      }
      end_run();
      after_set_ = false;
    }
    return std::move(out_);
  }

 private:
  Coverage busy_of(std::int32_t device) const {
    const auto at = std::ranges::find(window_.devices, device, &DeviceView::device);
    return at == window_.devices.end() ? Coverage() : Coverage(at->busy);
  }

  // Before a kernel that was launched already, when no other stream has work either. What the host
  // is late by is no matter of how many kernels there are on the GPU.
  Nanos idle_before(const Work& piece, Nanos from) const {
    if (piece.start <= from) return 0;
    if (piece.launch != trace::kNoRow && trace_.start()[piece.launch] > from) return 0;
    return piece.start - from - busy_.covered({from, piece.start});
  }

  const Work& work_of(const ChainKernel& kernel) const { return window_.work[kernel.work]; }

  void add(ChainKernel kernel) {
    while (!run_.empty() && !joins(kernel)) restart();
    if (run_.empty() && kernel.reduces && kernel.numbers == 0) return;  // of what is unknown
    since_pass_ = kernel.between ? since_pass_ + 1 : 0;
    has_reduction_ = has_reduction_ || kernel.reduces;
    run_.push_back(kernel);
  }

  // Marks what lies between two passes.
  bool joins(ChainKernel& kernel) const {
    if (work_of(kernel).step != work_of(run_.front()).step) return false;
    const ChainKernel& last = run_[run_.size() - 1 - since_pass_];
    if (works_on_as_much(kernel, last)) return true;
    if (since_pass_ == kMostBetween) return false;
    const bool is_unknown = kernel.reduces && (kernel.numbers == 0 || last.numbers == 0);
    kernel.between =
        is_unknown || (has_reduction_ && !kernel.reduces && works_on_less(kernel, last));
    return kernel.between;
  }

  // Ends the run. What lies after its last pass over all numbers was between nothing, and begins
  // another.
  void restart() {
    const auto after = run_.end() - static_cast<std::ptrdiff_t>(since_pass_);
    const std::vector<ChainKernel> rest(after, run_.end());
    run_.erase(after, run_.end());
    if (run_.size() > 1) add_chain();
    run_.clear();
    since_pass_ = 0;
    has_reduction_ = false;
    for (ChainKernel kernel : rest) {
      kernel.between = false;
      add(kernel);
    }
  }

  void end_run() {
    while (!run_.empty()) restart();
  }

  ElementwiseChain& row_of_run() {
    std::vector<std::string_view> key;
    key.reserve(run_.size());
    for (const ChainKernel& kernel : run_) {
      key.push_back(launching_operator(window_, work_of(kernel)));
    }
    const auto [at, fresh] = index_.try_emplace(key, out_.size());
    if (fresh) {
      ElementwiseChain chain;
      const bool known = std::ranges::any_of(key, [](auto name) { return !name.empty(); });
      if (known) chain.operators = joined_names(key);
      chain.within = range_around(window_, work_of(run_.front()));
      chain.kernels = static_cast<std::uint32_t>(run_.size());
      chain.reductions =
          static_cast<std::uint32_t>(std::ranges::count_if(run_, &ChainKernel::reduces));
      out_.push_back(std::move(chain));
    }
    return out_[at->second];
  }

  void add_chain() {
    ElementwiseChain& chain = row_of_run();
    const Work& first = work_of(run_.front());
    Nanos sum = 0;
    Nanos longest = 0;
    std::optional<Nanos> shortest;  // of those that read and write all numbers
    Nanos gap = 0;
    Nanos until = first.start;
    for (const ChainKernel& kernel : run_) {
      const Work& piece = work_of(kernel);
      sum += piece.length();
      longest = std::max(longest, piece.length());
      if (!kernel.between && !kernel.reduces) {
        shortest = std::min(shortest.value_or(piece.length()), piece.length());
      }
      gap += idle_before(piece, until);
      until = std::max(until, piece.end);
    }
    ++chain.count;
    chain.device += sum;
    chain.gap += gap;
    const auto surely = static_cast<Nanos>(surely_saved(run_, window_.work));
    chain.least += std::min(surely, sum - longest);
    chain.saves += sum - longest + gap;
    chain.most += sum - shortest.value_or(longest) + gap;
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
  ChainKernels kernels_;
  Coverage busy_;  // of the stream's device
  std::vector<ChainKernel> run_;
  std::size_t since_pass_ = 0;  // kernels of it after the last that works on all numbers
  bool has_reduction_ = false;
  bool after_set_ = false;
  std::map<std::vector<std::string_view>, std::size_t> index_;
  std::vector<ElementwiseChain> out_;
};

void merge_elementwise_chains(ElementwiseChain& into, const ElementwiseChain& other) {
  into.count += other.count;
  into.device += other.device;
  into.gap += other.gap;
  into.least += other.least;
  into.saves += other.saves;
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
        merge_elementwise_chains(out[at->second], chain);
      }
    }
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &ElementwiseChain::saves);
  return out;
}

}  // namespace stepscope::analysis
