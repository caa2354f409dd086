// What the recorded program is made of: on which devices, compiled or eager, replayed as graphs or
// launched piece by piece, with which calls into the runtime; and what was recorded of it. Advice
// asks here before it names a call or a change. Definition: docs/metrics/program.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/name_sign.h"
#include "analysis/operators/op_calls.h"
#include "analysis/operators/program_names.h"
#include "analysis/operators/program_sizes.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;
using trace::Kind;
using trace::Row;

constexpr std::array kProgramColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"kernel_ns", Type::kInt, Unit::kNanos, "lengths of its computing kernels, added"},
    {"compiled_ns", Type::kInt, Unit::kNanos,
     "of it in kernels that torch.compile wrote, or launched inside of compiled code"},
    {"compiled_share", Type::kReal, Unit::kShare, "of kernel_ns"},
    {"compiled_calls", Type::kInt, Unit::kCount, "of compiled code"},
    {"graph_ns", Type::kInt, Unit::kNanos, "of kernel_ns in kernels that a graph launch started"},
    {"graph_share", Type::kReal, Unit::kShare, "of kernel_ns"},
    {"graph_launches", Type::kInt, Unit::kCount, "calls that launch a graph"},
    {"backward", Type::kBool, Unit::kNone, "whether autograd's backward pass is in it"},
    {"optimizers", Type::kText, Unit::kNone, "whose step is in it; null: none"},
    {"stacks", Type::kBool, Unit::kNone, "whether Python's frames were recorded"},
    {"shapes", Type::kBool, Unit::kNone, "whether shapes of inputs were recorded"},
    {"memory", Type::kBool, Unit::kNone, "whether allocations were recorded"},
});
constexpr std::array kProgramDeviceColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kDevice,
    {"name", Type::kText, Unit::kNone, "as the trace names it; null: it does not"},
    {"vendor", Type::kText, Unit::kNone,
     "nvidia, amd, intel, mtia, ascend: by the device's name, else by the calls; null: not known"},
    {"compute_major", Type::kInt, Unit::kNone,
     "compute capability of an NVIDIA device, its first number; null: not known"},
    {"compute_minor", Type::kInt, Unit::kNone, "and its second"},
    {"compute_from", Type::kText, Unit::kNone,
     "device: the trace says it of the device; kernels: the newest generation that names of "
     "kernels speak of"},
});
constexpr std::array kProgramCallColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"name", Type::kText, Unit::kNone, "of a call into the runtime or driver"},
    {"calls", Type::kInt, Unit::kCount, "how often it was called"},
    {"host_ns", Type::kInt, Unit::kNanos, "lengths of the calls, added"},
});
constexpr std::array kProgramSizeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"size", Type::kInt, Unit::kId, "of a dimension of tensors"},
    {"is", Type::kText, Unit::kNone,
     "what operators prove it to be: rows of an embedding, classes of a loss, width of a norm, "
     "channels of a norm"},
    {"calls", Type::kInt, Unit::kCount, "that prove it"},
});
constexpr std::array<std::string_view, 1> kProgramBar = {"host_ns"};
constexpr std::array kProgramTables = std::to_array<base::TableShape>({
    {"ranks", "one rank", kProgramColumns},
    {"devices", "one device of one rank that did something", kProgramDeviceColumns},
    {"calls",
     "one call into the runtime or driver, the longest first",
     kProgramCallColumns,
     {base::Chart::kBars, "name", kProgramBar, "rank"}},
    {"sizes", "what a size is, where shapes of inputs prove it", kProgramSizeColumns},
});

struct CallSums {
  std::uint64_t calls = 0;
  Nanos host = 0;
};

struct ProgramSums {
  Nanos kernels = 0, compiled = 0, graphs = 0;
  std::uint64_t compiled_calls = 0, graph_launches = 0;
  bool backward = false, stacks = false, shapes = false, memory = false;
  std::set<std::string, std::less<>> optimizers;
  std::map<std::string, CallSums, std::less<>> calls;
  ProvedSizes sizes;

  void merge(const ProgramSums& other) {
    kernels += other.kernels;
    compiled += other.compiled;
    graphs += other.graphs;
    compiled_calls += other.compiled_calls;
    graph_launches += other.graph_launches;
    backward |= other.backward;
    stacks |= other.stacks;
    shapes |= other.shapes;
    memory |= other.memory;
    optimizers.insert(other.optimizers.begin(), other.optimizers.end());
    for (const auto& [name, sums] : other.calls) {
      CallSums& own = calls[name];
      own.calls += sums.calls;
      own.host += sums.host;
    }
    for (const auto& [key, count] : other.sizes) sizes[key] += count;
  }
};

class ProgramCounting {
 public:
  explicit ProgramCounting(const WindowView& window)
      : window_(window),
        trace_(*window.trace),
        compiled_range_(trace_, names_compiled_code),
        compiled_kernel_(trace_, names_compiled_kernel),
        graph_launch_(trace_, names_graph_launch) {}

  ProgramSums count() {
    add_calls();
    mark_compiled();
    add_work();
    add_names();
    out_.shapes = std::ranges::any_of(trace_.signatures(), [](const trace::Signature& one) {
      return one.dims != base::kNoString;
    });
    out_.sizes = proved_sizes(window_);
    out_.memory = trace_.memory_events().rows.size() > 0;
    return std::move(out_);
  }

 private:
  void add_calls() {
    std::vector<CallSums> by_name(trace_.strings().size());
    const auto kinds = trace_.kind();
    for (Row row = 0; row < trace_.size(); ++row) {
      const Kind kind = kinds[row];
      if (kind == Kind::kPython) out_.stacks = true;
      if (!trace::is_api_call(kind) || !window_.counts_at(trace_.start()[row])) continue;
      const base::StringId name = trace_.name()[row];
      if (name >= by_name.size()) continue;
      ++by_name[name].calls;
      by_name[name].host += trace_.duration()[row];
    }
    out_.stacks = out_.stacks || trace_.stacks().rows.size() > 0;
    for (base::StringId name = 0; name < by_name.size(); ++name) {
      if (by_name[name].calls == 0) continue;
      const std::string_view text = trace_.text(name);
      out_.calls[std::string(text)] = by_name[name];
      if (names_graph_launch(text)) out_.graph_launches += by_name[name].calls;
    }
  }

  // By call: inside of compiled code, as its name or that of a range around it says.
  void mark_compiled() {
    const OpCalls& ops = op_calls(window_);
    inside_.assign(ops.calls.size(), false);
    for (std::uint32_t i = 0; i < ops.calls.size(); ++i) {
      const OpCall& call = ops.calls[i];
      const bool around =
          call.parent != OpCall::kNone ? inside_[call.parent] : has_compiled_range(call.row);
      inside_[i] = around || compiled_range_.matches_row(call.row);
      if (inside_[i] && !around && ops.counts(window_, i)) ++out_.compiled_calls;
    }
  }

  // Of an operator that no other is around: annotations are no operators.
  bool has_compiled_range(Row row) {
    for (Row up = trace_.parent()[row]; up != trace::kNoRow; up = trace_.parent()[up]) {
      if (trace_.kind()[up] == Kind::kAnnotation && compiled_range_.matches_row(up)) return true;
    }
    return false;
  }

  void add_work() {
    const OpCalls& ops = op_calls(window_);
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      if (piece.work_class != WorkClass::kCompute || !window_.counts(piece)) continue;
      out_.kernels += piece.length();
      const std::uint32_t call = ops.of_work[i];
      if ((call != OpCall::kNone && inside_[call]) || compiled_kernel_.matches_row(piece.row)) {
        out_.compiled += piece.length();
      }
      if (piece.launch != trace::kNoRow && graph_launch_.matches_row(piece.launch)) {
        out_.graphs += piece.length();
      }
    }
  }

  void add_names() {
    for (base::StringId name = 0; name < trace_.strings().size(); ++name) {
      const std::string_view text = trace_.text(name);
      out_.backward = out_.backward || names_backward(text);
      if (const std::string_view optimizer = optimizer_of(text); !optimizer.empty()) {
        out_.optimizers.emplace(optimizer);
      }
    }
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  NameSign compiled_range_, compiled_kernel_, graph_launch_;
  std::vector<bool> inside_;  // by OpCalls::calls
  ProgramSums out_;
};

struct ProgramDevice {
  std::string name;
  std::string_view vendor;
  std::int64_t major = 0, minor = 0;
  std::string_view from;
};

// The newest generation that computing kernels of a device name; 0: none does.
std::int64_t generation_of(const WindowView& window, const DeviceView& device) {
  const trace::Trace& trace = *window.trace;
  std::vector<bool> read(trace.strings().size());
  std::int64_t newest = 0;
  for (const Work& piece : window.work_of(device)) {
    const base::StringId name = trace.name()[piece.row];
    if (piece.work_class != WorkClass::kCompute || name >= read.size() || read[name]) continue;
    read[name] = true;
    newest = std::max(newest, generation_named(trace.text(name)));
  }
  return newest;
}

ProgramDevice program_device(const WindowView& window, const DeviceView& device,
                             std::string_view vendor_of_calls) {
  ProgramDevice out;
  out.name = device.name;
  const trace::DeviceProperties* about = trace::described(window.trace->header(), device.device);
  out.vendor = vendor_of_device(device.name);
  if (out.vendor.empty()) out.vendor = vendor_of_calls;
  // ROCm writes gfx numbers where CUDA writes compute capabilities.
  if (out.vendor != "nvidia") return out;
  if (about != nullptr && about->compute_major > 0) {
    out.major = about->compute_major;
    out.minor = about->compute_minor;
    out.from = "device";
  } else if (const std::int64_t major = generation_of(window, device); major > 0) {
    out.major = major;
    out.from = "kernels";
  }
  return out;
}

using ProgramDevices = std::map<std::pair<std::int32_t, std::int32_t>, ProgramDevice>;

void add_program_devices(const RunView& view, const std::vector<ProgramSums>& sums,
                         base::Table& table) {
  ProgramDevices devices;
  for (std::size_t w = 0; w < view.windows.size(); ++w) {
    const WindowView& window = view.windows[w];
    std::string_view vendor;
    for (const auto& [name, of] : sums[w].calls) {
      if (vendor.empty()) vendor = vendor_of_call(name);
    }
    for (const DeviceView& device : window.devices) {
      const auto [at, fresh] = devices.try_emplace({window.rank, device.device});
      if (fresh) at->second = program_device(window, device, vendor);
    }
  }
  for (const auto& [key, device] : devices) {
    const bool has_major = device.major > 0;
    const bool has_minor = device.from == "device";
    table.add({key.first, key.second, base::text_or_null(device.name),
               base::text_or_null(device.vendor), has_major ? Cell(device.major) : Cell(Null{}),
               has_minor ? Cell(device.minor) : Cell(Null{}), base::text_or_null(device.from)});
  }
}

void add_program_rank(std::int32_t rank, const ProgramSums& sums, base::Table& ranks,
                      base::Table& calls, base::Table& sizes) {
  std::string optimizers;
  for (const std::string& one : sums.optimizers) {
    optimizers += (optimizers.empty() ? "" : ", ") + one;
  }
  ranks.add({rank, sums.kernels, sums.compiled, share_of(sums.compiled, sums.kernels),
             sums.compiled_calls, sums.graphs, share_of(sums.graphs, sums.kernels),
             sums.graph_launches, sums.backward, base::text_or_null(optimizers), sums.stacks,
             sums.shapes, sums.memory});
  std::vector<const decltype(sums.calls)::value_type*> order;
  order.reserve(sums.calls.size());
  for (const auto& one : sums.calls) order.push_back(&one);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* one) { return one->second.host; });
  for (const auto* one : order) {
    calls.add({rank, one->first, one->second.calls, one->second.host});
  }
  for (const auto& [key, count] : sums.sizes) {
    sizes.add({rank, key.first, name_of(key.second), count});
  }
}

Answer run_program(const RunView& view, const Options&) {
  const auto partials = per_window<ProgramSums>(
      view, [](const WindowView& window) { return ProgramCounting(window).count(); });
  std::map<std::int32_t, ProgramSums> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) ranks[view.windows[w].rank].merge(partials[w]);
  Answer answer;
  for (const base::TableShape& shape : kProgramTables) answer.tables.emplace_back(shape);
  for (const auto& [rank, sums] : ranks) {
    add_program_rank(rank, sums, answer.tables[0], answer.tables[2], answer.tables[3]);
  }
  add_program_devices(view, partials, answer.tables[1]);
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  return answer;
}

}  // namespace

const Analysis kProgram{
    .name = "program",
    .title = "The recorded program",
    .question = "Is the program compiled, replayed as graphs, trained, and on which devices?",
    .parameters = {},
    .tables = kProgramTables,
    .run = run_program,
};

}  // namespace stepscope::analysis
