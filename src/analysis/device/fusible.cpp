#include "analysis/device/fusible.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_map>

namespace stepscope::analysis {
namespace {

using base::Nanos;

constexpr std::uint32_t kNotSeen = 0xffffffff;
constexpr std::uint32_t kBreak = 0xfffffffe;

// Parts of names, in small letters.
constexpr std::array kMatrixNames = std::to_array<std::string_view>({
    "gemm",        "gemv",        "matmul",    "_mm_",         "bmm_",          "triton_mm",
    "tem_fused",   "cutlass",     "cublas",    "nvjet",        "xmma",          "cijk_",
    "mfma",        "splitk",      "flash_fwd", "flash_bwd",    "flash_attn",    "fmha",
    "attention",   "attn",        "sdpa",      "convolve",     "conv1d",        "conv2d",
    "conv3d",      "convolution", "_conv_",    "implicit_con", "fprop",         "dgrad",
    "wgrad",       "winograd",    "scudnn",    "cask_",        "cudnn::fusion", "cudnn_generated",
    "ck::kernel_",
});

// The kernels between two breaks of one stream, on their way into the text.
class FusibleWriter {
 public:
  explicit FusibleWriter(FusibleText& out) : out_(out) {}

  void kernel(std::uint32_t symbol, Nanos joining, Nanos gap, FusibleText::Kernel kernel) {
    out_.text.symbols.push_back(symbol);
    out_.text.joining.push_back(joining);
    out_.gap.push_back(gap);
    out_.kernels.push_back(kernel);
    ++run_;
  }

  // A kernel alone has nothing to be fused with.
  void end() {
    if (run_ == 1) drop();
    if (run_ > 1) {
      // Their final numbers are known when all names are.
      out_.text.symbols.push_back(kBreak);
      out_.text.joining.push_back(0);
      out_.gap.push_back(0);
      out_.kernels.push_back({});
    }
    run_ = 0;
  }

  bool is_first() const { return run_ == 0; }

 private:
  void drop() {
    out_.text.symbols.pop_back();
    out_.text.joining.pop_back();
    out_.gap.pop_back();
    out_.kernels.pop_back();
  }

  FusibleText& out_;
  std::size_t run_ = 0;
};

class Text {
 public:
  explicit Text(const FusionLimits& limits) : limits_(limits) {}

  FusibleText of(std::span<const WindowView> windows) {
    for (std::uint32_t w = 0; w < windows.size(); ++w) {
      symbols_.assign(windows[w].trace->strings().size(), kNotSeen);
      for (const StreamView& stream : windows[w].streams) add(windows[w], w, stream);
    }
    RepeatText& text = out_.text;
    text.names = static_cast<std::uint32_t>(out_.names.size());
    for (std::uint32_t& symbol : text.symbols) {
      if (symbol == kBreak) symbol = text.names + text.breaks++;
    }
    return std::move(out_);
  }

 private:
  void add(const WindowView& window, std::uint32_t number, const StreamView& stream) {
    FusibleWriter writer(out_);
    Nanos busy_until = 0;
    std::int32_t step = -1;
    // Steps that were found by repetition are no more than a guess about the kernels themselves.
    const bool has_borders =
        window.has_steps && window.trace->steps().source != trace::StepSource::kRepetition;
    for (const std::uint32_t index : stream.work) {
      const Work& piece = window.work[index];
      if (has_borders && piece.step != step) writer.end();
      step = piece.step;
      const std::uint32_t symbol = symbol_of(window, piece);
      if (symbol == kBreak) {
        writer.end();
        continue;
      }
      const Nanos gap = writer.is_first() ? 0 : std::max<Nanos>(piece.start - busy_until, 0);
      const Nanos joining =
          std::min(gap, limits_.most_gap) + std::min(piece.length(), limits_.kernel_cost);
      busy_until = writer.is_first() ? piece.end : std::max(busy_until, piece.end);
      writer.kernel(symbol, joining, gap, {number, index});
    }
    writer.end();
  }

  std::uint32_t symbol_of(const WindowView& window, const Work& piece) {
    if (piece.work_class != WorkClass::kCompute || !window.counts(piece)) return kBreak;
    if (limits_.longest_kernel > 0 && piece.length() > limits_.longest_kernel) return kBreak;
    const base::StringId name = window.trace->name()[piece.row];
    if (name == base::kNoString) return kBreak;
    if (symbols_[name] == kNotSeen) symbols_[name] = new_symbol(window.trace->text(name));
    return symbols_[name];
  }

  std::uint32_t new_symbol(std::string_view name) {
    if (names_matrix_kernel(name)) return kBreak;
    const auto [at, fresh] =
        by_name_.try_emplace(name, static_cast<std::uint32_t>(out_.names.size()));
    if (fresh) out_.names.push_back(name);
    return at->second;
  }

  const FusionLimits& limits_;
  FusibleText out_;
  std::vector<std::uint32_t> symbols_;  // of this window's names
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
};

}  // namespace

bool names_matrix_kernel(std::string_view kernel) {
  // Arguments of templates say what a kernel is made of, not what it is.
  std::string small(kernel.substr(0, kernel.find('<')));
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(
      kMatrixNames, [&](std::string_view part) { return small.find(part) != std::string::npos; });
}

FusibleText fusible_text(std::span<const WindowView> windows, const FusionLimits& limits) {
  return Text(limits).of(windows);
}

}  // namespace stepscope::analysis
