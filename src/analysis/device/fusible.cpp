// Writes the kernels of a rank as a text in which repeats worth fusing are looked for.
#include "analysis/device/fusible.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "trace/step_names.h"

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

  FusibleText write_kernels(std::span<const WindowView> windows) {
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
    const bool has_borders = window.has_steps && !trace::is_guessed(window.trace->steps().source);
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
  return Text(limits).write_kernels(windows);
}

namespace {

using trace::Kind;
using trace::Row;

constexpr std::string_view kModule = "nn.Module: ";

// "nn.Module: LayerNorm_12" is one of many LayerNorms.
std::string_view without_instance(std::string_view module) {
  const std::size_t end = module.find_last_not_of("0123456789");
  const bool numbered = end != std::string_view::npos && end + 1 < module.size();
  return numbered && module[end] == '_' ? module.substr(0, end) : module;
}

}  // namespace

std::string_view launching_operator(const WindowView& window, const Work& piece) {
  const trace::LaunchTable& launches = window.trace->launches();
  if (piece.launch == trace::kNoRow) return {};
  const std::uint32_t entry = launches.rows.find(piece.launch);
  if (entry == base::RowSet::kNone || launches.op[entry] == trace::kNoRow) return {};
  return window.trace->name_text(launches.op[entry]);
}

std::string_view range_around(const WindowView& window, const Work& piece) {
  return range_around(*window.trace, piece.launch);
}

std::string_view range_around(const trace::Trace& trace, Row row) {
  std::string_view outermost;
  for (; row != trace::kNoRow; row = trace.parent()[row]) {
    const std::string_view name = trace.name_text(row);
    const Kind kind = trace.kind()[row];
    if (kind == Kind::kAnnotation && !trace::names_a_step(name)) return name;
    if (kind == Kind::kPython && name.starts_with(kModule)) return without_instance(name);
    if (kind == Kind::kCpuOp) outermost = name;
  }
  return outermost;
}

std::string joined_names(std::span<const std::string_view> names) {
  constexpr std::size_t kMostNames = 32;
  std::string out;
  std::size_t written = 0;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t end = i + 1;
    while (end < names.size() && names[end] == names[i]) ++end;
    if (!out.empty()) out += " | ";
    if (written++ == kMostNames) return out + fmt::format("and {} more", names.size() - i);
    if (end - i > 1) out += fmt::format("{} x ", end - i);
    out += names[i].empty() ? std::string_view("unknown") : names[i];
    i = end;
  }
  return out;
}

bool RepeatOwners::knows(const Repeat::Place& place) const {
  for (std::uint32_t i = 0; i < place.count; ++i) {
    if (!operator_of(place.first + i).empty()) return true;
  }
  return false;
}

std::string_view RepeatOwners::operator_of(std::uint32_t place) const {
  const FusibleText::Kernel& kernel = text_.kernels[place];
  const WindowView& window = windows_[kernel.window];
  return launching_operator(window, window.work[kernel.work]);
}

std::string_view RepeatOwners::around(std::uint32_t place) const {
  const FusibleText::Kernel& kernel = text_.kernels[place];
  const WindowView& window = windows_[kernel.window];
  return range_around(window, window.work[kernel.work]);
}

std::optional<std::string> RepeatOwners::around(const Repeat& repeat) const {
  struct Found {
    std::string_view name;
    std::size_t count = 0;
  };
  std::vector<Found> found;
  std::unordered_map<std::string_view, std::size_t> index;
  for (const Repeat::Place& place : repeat.places) {
    const std::string_view name = around(place.first);
    if (name.empty()) continue;
    const auto [at, fresh] = index.try_emplace(name, found.size());
    if (fresh) found.push_back({name, 0});
    ++found[at->second].count;
  }
  if (found.empty()) return std::nullopt;
  return std::string(std::ranges::max_element(found, {}, &Found::count)->name);
}

}  // namespace stepscope::analysis
