// Attention that is computed piece by piece: a batched product, a softmax of what it gave, and a
// batched product with that, where one kernel does all three. Definition:
// docs/metrics/attention.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/costs/call_costs.h"
#include "analysis/device/fusible.h"
#include "analysis/key_columns.h"
#include "analysis/operators/op_calls.h"
#include "analysis/operators/tensor_cores.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;
using trace::Row;

constexpr std::array kPieceColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"scores", Type::kText, Unit::kNone, "sizes of what the softmax is of; null: not recorded"},
    {"types", Type::kText, Unit::kNone, "of the products' inputs; null: not recorded"},
    {"within", Type::kText, Unit::kNone,
     "the module or named range, else the outermost operator, the first product is started in"},
    {"math", Type::kBool, Unit::kNone,
     "whether it is scaled_dot_product_attention that runs so: its backend math"},
    {"calls", Type::kInt, Unit::kCount, "forward"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of all its kernels, both ways, added"},
    {"products_ns", Type::kInt, Unit::kNanos, "of it in the products"},
    {"softmax_ns", Type::kInt, Unit::kNanos, "of it in the softmax"},
    {"between_ns", Type::kInt, Unit::kNanos,
     "of it in the rest: scales, masks, dropout, conversions, copies"},
    {"backward_ns", Type::kInt, Unit::kNanos, "of device_ns in the backward pass"},
    {"kernels", Type::kInt, Unit::kCount, "of all calls, both ways"},
    {"plain_products", Type::kBool, Unit::kNone,
     "whether its products run without tensor cores, as names of kernels say"},
    {"window", Type::kInt, Unit::kId, "of the first softmax"},
    {"step", Type::kInt, Unit::kId, "of the first softmax; null: of none"},
    {"event", Type::kInt, Unit::kId, "place of the first softmax in the file"},
});
constexpr std::array kFusedColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"operator", Type::kText, Unit::kNone, "that computes attention in one kernel"},
    {"calls", Type::kInt, Unit::kCount, "how often"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of the kernels it launched itself, added"},
});
constexpr std::array<std::string_view, 3> kPieceBars = {"products_ns", "softmax_ns", "between_ns"};
constexpr std::array kAttentionTables = std::to_array<base::TableShape>({
    {"pieces",
     "attention in pieces over scores of one size, the longest first",
     kPieceColumns,
     {base::Chart::kStack, "scores", kPieceBars, "rank"}},
    {"fused", "an operator that computes attention in one kernel", kFusedColumns},
});

// What the names of operators say of attention.
enum class AttentionPart : std::uint8_t { kOther, kBatched, kProduct, kSoftmax, kSoftmaxBackward };

AttentionPart attention_part_of(std::string_view op) {
  constexpr std::array<std::string_view, 3> kBatched = {"aten::bmm", "aten::baddbmm",
                                                        "aten::baddbmm_"};
  constexpr std::array<std::string_view, 3> kSoftmax = {"aten::_softmax", "aten::_safe_softmax",
                                                        "aten::_masked_softmax"};
  constexpr std::array<std::string_view, 2> kBack = {"aten::_softmax_backward_data",
                                                     "aten::_masked_softmax_backward"};
  if (std::ranges::find(kBatched, op) != kBatched.end()) return AttentionPart::kBatched;
  if (std::ranges::find(kSoftmax, op) != kSoftmax.end()) return AttentionPart::kSoftmax;
  if (std::ranges::find(kBack, op) != kBack.end()) return AttentionPart::kSoftmaxBackward;
  // matmul and einsum only call others; what is left are products of two matrices and convolutions.
  constexpr std::array<std::string_view, 5> kAround = {"aten::matmul", "aten::linear",
                                                       "aten::einsum", "aten::linalg_matmul",
                                                       "aten::scaled_dot_product_attention"};
  if (std::ranges::find(kAround, op) != kAround.end()) return AttentionPart::kOther;
  return op.starts_with("aten::") && names_matrix_operator(op) ? AttentionPart::kProduct
                                                               : AttentionPart::kOther;
}

bool names_fused_attention(std::string_view op) {
  return op.find("_backward") == std::string_view::npos &&
         (op.starts_with("aten::_flash_attention_forward") ||
          op.starts_with("aten::_efficient_attention_forward") ||
          op.starts_with("aten::_cudnn_attention_forward") ||
          op == "aten::_scaled_dot_product_cudnn_attention" ||
          op.starts_with("aten::_scaled_dot_product_fused_attention") ||
          op.starts_with("flash_attn") || op.starts_with("xformers"));
}

constexpr std::string_view kMathAttention = "aten::_scaled_dot_product_attention_math";

std::vector<std::int64_t> attention_sizes_of(const OpInputs& in, std::size_t place) {
  if (place >= in.inputs.size() || in.inputs[place].kind != InputKind::kTensor) return {};
  return in.inputs[place].tensor.dims;
}

std::int64_t numbers_of_sizes(const std::vector<std::int64_t>& sizes) {
  std::int64_t out = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(out, size, &out)) return 0;
  }
  return out;
}

// Attention's three parts as calls of one thread.
struct Pieces {
  std::uint32_t first = 0, softmax = 0, last = 0, end = 0;  // calls; end: behind the last one's own
};

struct PieceSums {
  std::uint64_t calls = 0, kernels = 0;
  Nanos products = 0, plain = 0, softmax = 0, between = 0, backward = 0;
  std::uint32_t window = 0;
  std::int64_t step = -1;
  std::uint32_t event = 0;
  Nanos all() const { return products + softmax + between; }
};

struct PieceKey {
  std::string scores, types, within;
  bool math = false;
  auto operator<=>(const PieceKey&) const = default;
};

struct FusedSums {
  std::uint64_t calls = 0;
  Nanos device = 0;
};

struct AttentionSums {
  std::map<PieceKey, PieceSums> pieces;
  std::map<std::string, FusedSums, std::less<>> fused;
};

class AttentionFinder {
 public:
  explicit AttentionFinder(const WindowView& window)
      : window_(window), trace_(*window.trace), ops_(op_calls(window)) {}

  AttentionSums find() {
    read_names();
    if (has_fused_) add_fused();
    if (!has_softmax_ || !has_batched_) return std::move(out_);
    find_pieces();
    if (!pieces_.empty()) add_work();
    return std::move(out_);
  }

 private:
  void read_names() {
    parts_.assign(trace_.strings().size(), AttentionPart::kOther);
    fused_.assign(trace_.strings().size(), false);
    for (base::StringId name = 0; name < parts_.size(); ++name) {
      const std::string_view text = trace_.text(name);
      parts_[name] = attention_part_of(text);
      fused_[name] = names_fused_attention(text);
      has_softmax_ = has_softmax_ || parts_[name] == AttentionPart::kSoftmax;
      has_batched_ = has_batched_ || parts_[name] == AttentionPart::kBatched;
      has_fused_ = has_fused_ || fused_[name];
    }
  }

  base::StringId name_of_call(std::uint32_t call) const {
    return trace_.name()[ops_.calls[call].row];
  }

  void add_fused() {
    for (std::uint32_t call = 0; call < ops_.calls.size(); ++call) {
      if (!fused_[name_of_call(call)] || !ops_.counts(window_, call)) continue;
      ++out_.fused[std::string(trace_.text(name_of_call(call)))].calls;
    }
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const std::uint32_t call = ops_.of_work[i];
      if (call == OpCall::kNone || !fused_[name_of_call(call)]) continue;
      if (!window_.counts(window_.work[i])) continue;
      const auto at = out_.fused.find(trace_.text(name_of_call(call)));
      if (at != out_.fused.end()) at->second.device += window_.work[i].length();
    }
  }

  // Products and softmaxes of one thread in their order: a batched product, a softmax, and a
  // batched product, with no other product between them.
  void find_pieces() {
    constexpr std::uint32_t kNone = OpCall::kNone;
    std::uint32_t product = kNone, softmax = kNone;  // the latest, and the one after it
    bool is_batched = false;
    std::uint32_t track = kNone;
    for (std::uint32_t call = 0; call < ops_.calls.size(); ++call) {
      const Row row = ops_.calls[call].row;
      if (trace_.track()[row] != track) {
        track = trace_.track()[row];
        product = softmax = kNone;
      }
      const AttentionPart part = parts_[trace_.name()[row]];
      if (part == AttentionPart::kSoftmax && product != kNone && is_batched) {
        // A second one would be of something else.
        softmax = softmax == kNone ? call : kNone;
      }
      if (part != AttentionPart::kBatched && part != AttentionPart::kProduct) continue;
      const bool ends = part == AttentionPart::kBatched && softmax != kNone;
      if (ends && fits(product, softmax, call)) {
        pieces_.push_back({outermost_of(product), softmax, call, end_of(call)});
        product = softmax = kNone;
        continue;
      }
      product = call;
      softmax = kNone;
      is_batched = part == AttentionPart::kBatched;
    }
  }

  // Where shapes are there: the first product gives as many numbers as the softmax is of, in rows
  // as long, and the second takes them. It sees more than one place.
  bool fits(std::uint32_t first, std::uint32_t softmax, std::uint32_t second) const {
    const auto scores = attention_sizes_of(inputs_of(trace_, ops_.calls[softmax].row), 0);
    if (scores.empty()) return true;  // not recorded
    if (scores.back() < 2 || scores.size() < 3) return false;
    const std::size_t skip = is_added(first) ? 1 : 0;
    const OpInputs one = inputs_of(trace_, ops_.calls[first].row);
    const auto left = attention_sizes_of(one, skip), right = attention_sizes_of(one, skip + 1);
    const auto taken =
        attention_sizes_of(inputs_of(trace_, ops_.calls[second].row), is_added(second) ? 1 : 0);
    if (left.size() != 3 || right.size() != 3 || taken.size() != 3) return false;
    return right[2] == scores.back() && taken[2] == scores.back() &&
           left[0] * left[1] * right[2] == numbers_of_sizes(scores) &&
           numbers_of_sizes(taken) == numbers_of_sizes(scores);
  }
  bool is_added(std::uint32_t call) const {
    return trace_.text(name_of_call(call)).starts_with("aten::baddbmm");
  }

  // matmul and einsum copy what bmm cannot read.
  std::uint32_t outermost_of(std::uint32_t call) const {
    for (std::uint32_t up = ops_.calls[call].parent; up != OpCall::kNone;
         up = ops_.calls[up].parent) {
      const std::string_view name = trace_.text(name_of_call(up));
      if (name != "aten::matmul" && name != "aten::einsum") break;
      call = up;
    }
    return call;
  }
  // Behind the calls inside of it: they follow it.
  std::uint32_t end_of(std::uint32_t call) const {
    const Row row = ops_.calls[outermost_of(call)].row;
    const Nanos until = trace_.end(row);
    const std::uint32_t track = trace_.track()[row];
    std::uint32_t end = call + 1;
    while (end < ops_.calls.size() && trace_.track()[ops_.calls[end].row] == track &&
           trace_.start()[ops_.calls[end].row] < until) {
      ++end;
    }
    return end;
  }

  // The attention that a call lies in; kNone: in none. They follow each other.
  std::uint32_t piece_of(std::uint32_t call) const {
    auto after = std::ranges::upper_bound(pieces_, call, {}, &Pieces::first);
    if (after == pieces_.begin()) return OpCall::kNone;
    --after;
    return call < after->end ? static_cast<std::uint32_t>(after - pieces_.begin()) : OpCall::kNone;
  }

  // By call: the attention whose backward pass it is part of.
  std::vector<std::uint32_t> backward_pieces() const {
    std::vector<std::uint32_t> out(ops_.calls.size(), OpCall::kNone);
    const trace::BackwardTable& backward = trace_.backward();
    backward.rows.for_each([&](Row row, std::uint32_t entry) {
      const std::uint32_t call = ops_.find(row);
      const std::uint32_t forward = ops_.find(backward.forward[entry]);
      if (call != OpCall::kNone && forward != OpCall::kNone) out[call] = piece_of(forward);
    });
    for (std::uint32_t call = 0; call < out.size(); ++call) {
      const std::uint32_t parent = ops_.calls[call].parent;
      if (out[call] == OpCall::kNone && parent != OpCall::kNone) out[call] = out[parent];
    }
    return out;
  }

  bool is_math(const Pieces& one) const {
    for (std::uint32_t up = ops_.calls[one.softmax].parent; up != OpCall::kNone;
         up = ops_.calls[up].parent) {
      if (trace_.text(name_of_call(up)) == kMathAttention) return true;
    }
    return false;
  }

  PieceKey key_of(const Pieces& one) const {
    PieceKey key;
    const Row softmax = ops_.calls[one.softmax].row;
    const auto scores = attention_sizes_of(inputs_of(trace_, softmax), 0);
    for (const std::int64_t size : scores) {
      key.scores += (key.scores.empty() ? "" : "×") + std::to_string(size);
    }
    const OpInputs taken = inputs_of(trace_, ops_.calls[one.last].row);
    const std::size_t place = is_added(one.last) ? 1 : 0;
    if (place < taken.inputs.size() && taken.inputs[place].kind == InputKind::kTensor) {
      key.types = name_of(taken.inputs[place].tensor.dtype);
    }
    key.within = range_around(trace_, ops_.calls[one.first].row);
    key.math = is_math(one);
    return key;
  }

  void add_work() {
    std::vector<PieceSums*> sums;
    sums.reserve(pieces_.size());
    for (const Pieces& one : pieces_) {
      PieceSums& into = out_.pieces[key_of(one)];
      sums.push_back(&into);
      const Row softmax = ops_.calls[one.softmax].row;
      if (!ops_.counts(window_, one.softmax)) continue;
      if (into.calls++ > 0) continue;
      into.window = window_.window;
      const std::int32_t step = step_at(window_.steps, trace_.start()[softmax]);
      if (window_.has_steps && step >= 0) {
        into.step = window_.steps[static_cast<std::size_t>(step)].number;
      }
      into.event = trace_.ordinal()[softmax];
    }
    const std::vector<std::uint32_t> backward = backward_pieces();
    TensorCoreNames cores(window_);
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      const std::uint32_t call = ops_.of_work[i];
      if (call == OpCall::kNone || !window_.counts(piece)) continue;
      const std::uint32_t forward = piece_of(call);
      const std::uint32_t of = forward != OpCall::kNone ? forward : backward[call];
      if (of == OpCall::kNone) continue;
      add(*sums[of], piece, parts_[name_of_call(call)], cores.cores_of(piece),
          forward == OpCall::kNone);
    }
    std::erase_if(out_.pieces, [](const auto& one) { return one.second.kernels == 0; });
  }

  static void add(PieceSums& sums, const Work& piece, AttentionPart part, TensorCores cores,
                  bool is_back) {
    const Nanos length = piece.length();
    ++sums.kernels;
    if (is_back) sums.backward += length;
    if (part == AttentionPart::kBatched || part == AttentionPart::kProduct) {
      sums.products += length;
      if (cores == TensorCores::kPlain) sums.plain += length;
    } else if (part == AttentionPart::kSoftmax || part == AttentionPart::kSoftmaxBackward) {
      sums.softmax += length;
    } else {
      sums.between += length;
    }
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  const OpCalls& ops_;
  std::vector<AttentionPart> parts_;  // by name
  std::vector<bool> fused_;           // by name
  bool has_softmax_ = false, has_batched_ = false, has_fused_ = false;
  std::vector<Pieces> pieces_;  // by call
  AttentionSums out_;
};

void merge_attention(AttentionSums& into, const AttentionSums& other) {
  for (const auto& [key, sums] : other.pieces) {
    PieceSums& own = into.pieces[key];
    if (own.calls == 0 && sums.calls > 0) {
      own.window = sums.window;
      own.step = sums.step;
      own.event = sums.event;
    }
    own.calls += sums.calls;
    own.kernels += sums.kernels;
    own.products += sums.products;
    own.plain += sums.plain;
    own.softmax += sums.softmax;
    own.between += sums.between;
    own.backward += sums.backward;
  }
  for (const auto& [name, sums] : other.fused) {
    FusedSums& own = into.fused[name];
    own.calls += sums.calls;
    own.device += sums.device;
  }
}

void add_attention_rank(std::int32_t rank, const AttentionSums& sums, base::Table& pieces,
                        base::Table& fused) {
  std::vector<const decltype(sums.pieces)::value_type*> order;
  order.reserve(sums.pieces.size());
  for (const auto& one : sums.pieces) order.push_back(&one);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* one) { return one->second.all(); });
  for (const auto* one : order) {
    const auto& [key, of] = *one;
    pieces.add({rank, base::text_or_null(key.scores), base::text_or_null(key.types),
                base::text_or_null(key.within), key.math, of.calls, of.all(), of.products,
                of.softmax, of.between, of.backward, of.kernels, 2 * of.plain > of.products,
                of.window, of.step >= 0 ? Cell(of.step) : Cell(Null{}), of.event});
  }
  for (const auto& [name, of] : sums.fused) fused.add({rank, name, of.calls, of.device});
}

Answer run_attention(const RunView& view, const Options&) {
  const auto partials = per_window<AttentionSums>(
      view, [](const WindowView& window) { return AttentionFinder(window).find(); });
  std::map<std::int32_t, AttentionSums> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    merge_attention(ranks[view.windows[w].rank], partials[w]);
  }
  Answer answer;
  for (const base::TableShape& shape : kAttentionTables) answer.tables.emplace_back(shape);
  for (const auto& [rank, sums] : ranks) {
    add_attention_rank(rank, sums, answer.tables[0], answer.tables[1]);
  }
  if (!view.has_device_work()) {
    answer.remarks.push_back(why_no_device_work(view));
  } else if (answer.tables[0].rows() == 0 && answer.tables[1].rows() == 0) {
    answer.remarks.emplace_back("No operator of attention is in the trace.");
  }
  return answer;
}

}  // namespace

const Analysis kAttentionAnalysis{
    .name = "attention",
    .title = "Attention",
    .question = "Is attention computed piece by piece, and what does that take?",
    .parameters = {},
    .tables = kAttentionTables,
    .run = run_attention,
};

}  // namespace stepscope::analysis
