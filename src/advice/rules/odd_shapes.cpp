// Matrix products and convolutions in 16 bits whose sizes are no multiples of 8: tensor cores pad
// them, or slower kernels take over.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "advice/host_stall.h"
#include "advice/known.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kOddShapesNeeds =
    std::to_array<Need>({{"steps", "times"}, {"roofline", "operators"}});
constexpr std::array<std::string_view, 4> kOddShapesReads = {"kernels", "launches", "stalls",
                                                             "attention"};

// The same products with even sizes reach at least this share of the best rate of the run's own.
constexpr double kOfBest = 0.6;
// And at most this share of the device's peak: the largest products of our recordings come to 0.86.
constexpr double kOfPeak = 0.9;

// What cuDNN runs to fill channels up to a number that tensor cores take; no even number needs it.
constexpr std::array<std::string_view, 1> kFills = {"AddPaddingKernel"};
// What turns tensors round before a convolution and after it does so for even channels, too; its
// memory is what limits it, and at most half of its time could be saved.
constexpr std::array<std::string_view, 2> kTurns = {"nchwToNhwcKernel", "nhwcToNchwKernel"};
constexpr double kTurnsStay = 0.5;

using Sizes = std::vector<std::int64_t>;

// "2 of 64×1023, 1023×512": the sizes of each tensor.
std::vector<Sizes> odd_shapes_sizes_of(std::string_view inputs) {
  constexpr std::string_view kTimes = "×";
  std::vector<Sizes> out;
  while (!inputs.empty()) {
    std::string_view tensor = inputs.substr(0, inputs.find(", "));
    inputs.remove_prefix(std::min(tensor.size() + 2, inputs.size()));
    std::size_t count = 1;
    if (const std::size_t of = tensor.find(" of "); of != std::string_view::npos) {
      std::from_chars(tensor.data(), tensor.data() + of, count);
      tensor.remove_prefix(of + 4);
    }
    Sizes sizes;
    while (!tensor.empty()) {
      const std::string_view one = tensor.substr(0, tensor.find(kTimes));
      tensor.remove_prefix(std::min(one.size() + kTimes.size(), tensor.size()));
      std::int64_t size = 0;
      std::from_chars(one.data(), one.data() + one.size(), size);
      sizes.push_back(size);
    }
    constexpr std::size_t kMostOperands = 3;
    for (std::size_t i = 0; i < std::min(count, kMostOperands); ++i) out.push_back(sizes);
  }
  return out;
}

// What the trace proves a size to be; the first that holds is said.
enum class Role : std::uint8_t { kVocabulary, kClasses, kLength, kWidth, kOther, kNone };

struct OddSize {
  std::int64_t size = 0;        // 0: all are even
  std::string_view where = {};  // in which operand
  Role role = Role::kNone;
};

class SizeRoles {
 public:
  SizeRoles(const Facts& facts, std::int32_t rank) {
    for (const Line& line : facts.lines("program", "sizes", rank)) {
      const std::string_view is = line.text("is");
      Known& known = sizes_[line.whole("size")];
      known.embeds |= is == "rows of an embedding";
      known.classes |= is == "classes of a loss";
      known.width |= is == "width of a norm" || is == "channels of a norm";
    }
    // Attention's scores: the last two sizes are the places that see and are seen.
    for (const Line& line : facts.lines("attention", "pieces", rank)) {
      const std::vector<Sizes> scores = odd_shapes_sizes_of(line.text("scores"));
      if (scores.empty() || scores.front().size() < 2) continue;
      for (std::size_t i = scores.front().size() - 2; i < scores.front().size(); ++i) {
        sizes_[scores.front()[i]].length = true;
      }
    }
  }

  Role of(std::int64_t size) const {
    const auto found = sizes_.find(size);
    if (found == sizes_.end()) return Role::kOther;
    const Known& known = found->second;
    if (known.embeds && known.classes) return Role::kVocabulary;
    if (known.classes) return Role::kClasses;
    if (known.length) return Role::kLength;
    if (known.width) return Role::kWidth;
    return known.embeds ? Role::kVocabulary : Role::kOther;
  }

 private:
  struct Known {
    bool embeds = false, classes = false, length = false, width = false;
  };
  std::unordered_map<std::int64_t, Known> sizes_;
};

// Of a product of two matrices, or of many pairs: the size of most meaning that is no multiple of
// 8, of each the last two sizes.
OddSize odd_operand(const std::vector<Sizes>& tensors, std::string_view op,
                    const SizeRoles& roles) {
  std::vector<const Sizes*> matrices;
  for (const Sizes& sizes : tensors) {
    if (sizes.size() >= 2) matrices.push_back(&sizes);
  }
  OddSize out;
  const auto look = [&](std::int64_t size, std::string_view where) {
    if (size <= 1 || size % 8 == 0) return;
    const Role role = roles.of(size);
    if (role < out.role) out = {size, where, role};
  };
  if (matrices.size() < 2) {
    for (const Sizes* const one : matrices) {
      look((*one)[one->size() - 2], "a size of its matrix");
      look(one->back(), "a size of its matrix");
    }
    return out;
  }
  const Sizes& left = *matrices[matrices.size() - 2];
  const Sizes& right = *matrices.back();
  const bool is_weight = op == "aten::linear";  // its second is out×in
  look(is_weight ? right[right.size() - 2] : right.back(),
       "columns of the second operand and of the result");
  look(left.back(), "the size in which the two meet");
  look(left[left.size() - 2], "rows of the first operand and of the result");
  return out;
}

// Channels that come out of a convolution or go into it, by its weights (out×in×height×width), the
// last of its tensors with so many sizes. Eight or fewer are given: colours, classes, groups.
std::int64_t odd_channels(const std::vector<Sizes>& tensors) {
  std::int64_t odd = 0;
  for (const Sizes& sizes : tensors) {
    if (sizes.size() < 3) continue;
    odd = 0;
    for (const std::int64_t size : {sizes[0], sizes[1]}) {
      if (size > 8 && size % 8 != 0) odd = size;
    }
  }
  return odd;
}

bool is_convolution(const Line& line) { return line.text("family") == "convolution"; }

bool is_product(const Line& line) {
  const std::string_view arithmetic = line.text("arithmetic");
  return (line.text("family") == "matrix product" || is_convolution(line)) &&
         (arithmetic == "bf16" || arithmetic == "fp16");
}

OddSize odd_size(const Line& line, const SizeRoles& roles) {
  if (!is_product(line)) return {};
  const std::vector<Sizes> tensors = odd_shapes_sizes_of(line.text("inputs"));
  if (!is_convolution(line)) return odd_operand(tensors, line.text("operator"), roles);
  return {odd_channels(tensors), "channels of its weights", Role::kOther};
}

// Of all steps: their time, and how much less it may be at least and at most.
struct OddShapesProducts {
  double device_ns = 0, low_ns = 0, high_ns = 0;
  double filling_ns = 0;       // only to fill up channels
  double convolutions_ns = 0;  // of device_ns
  std::array<double, static_cast<std::size_t>(Role::kNone)> by_role = {};  // of device_ns
  Role role() const {
    const auto most = std::ranges::max_element(by_role);
    return static_cast<Role>(most - by_role.begin());
  }
  bool fills() const { return filling_ns > 0 && filling_ns >= low_ns; }
  bool convolves() const { return 2 * convolutions_ns > device_ns; }
};

// At most what the device could do; at least what the run's own products of even sizes show.
OddShapesProducts odd_products(const Facts& facts, const RankSteps& rank) {
  const std::vector<Line> lines = facts.lines("roofline", "operators", rank.rank);
  const SizeRoles roles(facts, rank.rank);
  double best_product = 0, best_convolution = 0;
  for (const Line& line : lines) {
    if (!is_product(line) || odd_size(line, roles).size > 0 || !line.has_value("tflop_per_second"))
      continue;
    double& best = is_convolution(line) ? best_convolution : best_product;
    best = std::max(best, line.number("tflop_per_second"));
  }
  OddShapesProducts sum;
  for (const Line& line : lines) {
    const OddSize odd = odd_size(line, roles);
    if (odd.size == 0) continue;
    const double own = line.number("device_ns");
    sum.device_ns += own;
    sum.by_role[static_cast<std::size_t>(odd.role)] += own;
    if (is_convolution(line)) sum.convolutions_ns += own;
    sum.high_ns +=
        line.has_value("roof_ns") ? std::max(0.0, own - line.number("roof_ns") / kOfPeak) : own;
    const double best = is_convolution(line) ? best_convolution : best_product;
    if (best <= 0 || !line.has_value("tflop_per_second")) continue;
    const double speed = line.number("tflop_per_second") / (kOfBest * best);
    sum.low_ns += own * std::max(0.0, 1 - speed);
  }
  if (sum.convolves()) {
    const auto steps = static_cast<double>(rank.steps);
    sum.filling_ns = named_kernels_ns(facts, rank, kFills) * steps;
    const double turning = named_kernels_ns(facts, rank, kTurns) * steps;
    sum.high_ns = std::max(0.0, sum.high_ns - kTurnsStay * turning);
  }
  sum.low_ns = std::min(std::max(sum.low_ns, sum.filling_ns), sum.high_ns);
  return sum;
}

std::string_view words_of_role(Role role) {
  switch (role) {
    case Role::kVocabulary:
      return ", rows of an embedding: a vocabulary";
    case Role::kClasses:
      return ", the classes that the loss tells apart";
    case Role::kLength:
      return ", the places that attention sees: tokens or patches";
    case Role::kWidth:
      return ", the width of a norm";
    default:
      return "";
  }
}

void add_odd_products(Finding& finding, const Facts& facts, const RankSteps& rank) {
  const SizeRoles roles(facts, rank.rank);
  for (const Line& line : facts.lines("roofline", "operators", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) return;
    const OddSize odd = odd_size(line, roles);
    if (odd.size == 0) continue;
    finding.evidence.push_back(
        {.text = {"{} of {}: {} is no multiple of 8 (" + std::string(odd.where) +
                      std::string(words_of_role(odd.role)) + "); {} per step",
                  {line.text("operator"),
                   line.text("inputs"),
                   {static_cast<double>(odd.size), base::Unit::kId},
                   nanos(line.number("device_ns") / static_cast<double>(rank.steps))}},
         .rank = rank.rank});
  }
}

Change change_for_length(const Facts& facts, const RankSteps& rank) {
  const auto pieces = facts.lines("attention", "pieces", rank.rank);
  if (!pieces.empty()) {
    constexpr std::string_view kCode =
        "x = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)\n"
        "# instead of softmax(q @ k.transpose(-2, -1) * scale + mask) @ v";
    return {
        "These products are attention's, over as many places as a sequence or a picture has. "
        "Fused attention needs none of them, and takes any length.",
        facts.by_framework(kCode, kCode,
                           "model = AutoModel.from_pretrained(name, "
                           "attn_implementation=\"sdpa\")")};
  }
  return {
      "As many places as a sequence or a picture has: pad sequences to a multiple of 8, with a "
      "mask; of pictures the size of the patches decides it.",
      facts.by_framework(
          "tokens = torch.nn.functional.pad(tokens, (0, -tokens.shape[1] % 8), value=pad)",
          "tokens = torch.nn.functional.pad(tokens, (0, -tokens.shape[1] % 8), value=pad)",
          "DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8)")};
}

// kNone: of convolutions.
std::vector<Change> odd_changes_for(const Facts& facts, const RankSteps& rank, Role role) {
  constexpr std::string_view kVocabulary =
      "import math\nvocabulary = 64 * math.ceil(vocabulary / 64)  # before the model is made";
  switch (role) {
    case Role::kVocabulary:
      return {
          {"Round the vocabulary up where the model is made, of its Embedding and of the last "
           "Linear: to a multiple of 64, at least of 8. Entries that are never used cost only a "
           "little memory; checkpoints of the old sizes do not fit.",
           facts.by_framework(
               kVocabulary, kVocabulary,
               "model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)")}};
    case Role::kClasses:
      return {
          {"Round the outputs of the last Linear up to a multiple of 8, and give the loss those "
           "that mean something.",
           "head = torch.nn.Linear(width, 8 * math.ceil(classes / 8))\n"
           "loss = cross_entropy(head(x)[..., :classes], targets)"}};
    case Role::kLength:
      return {change_for_length(facts, rank)};
    case Role::kWidth:
      return {
          {"Choose widths that are multiples of 64, at least of 8, where the model is made; "
           "sizes of heads, too. Checkpoints of the old sizes do not fit.",
           "width = 64 * math.ceil(width / 64)"}};
    case Role::kNone:
      return {
          {"Round the numbers of channels up where the model is made, to a multiple of 8, better "
           "of 64. There is a little more to compute then, and it is done faster. Checkpoints of "
           "the old sizes do not fit.",
           "import math\nchannels = 64 * math.ceil(channels / 64)  # each, before the model is "
           "made"}};
    case Role::kOther:
      break;
  }
  return {
      {"Round the sizes named under 'where' up to a multiple of 8, better of 64: where the model "
       "is made if they are its own, in the loader if they are of the batch. What they are, the "
       "trace does not say.",
       "import math\nsize = 64 * math.ceil(size / 64)"}};
}

std::vector<Finding> judge_odd_shapes(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kOddShapes.id, [&](const RankSteps& rank) {
    return odd_products(facts, rank).device_ns / static_cast<double>(rank.steps);
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const auto steps = static_cast<double>(rank.steps);
  const OddShapesProducts odd = odd_products(facts, rank);
  const double low = odd.low_ns / steps;
  Finding finding = begin_finding(facts, kOddShapes, ranks, let_through_ns(facts, rank, low),
                                  most_let_through_ns(facts, rank, odd.high_ns / steps));
  // Some kernels do not mind: a warning only where even sizes are seen to be faster.
  const auto sure = facts.level(kOddShapes.id, odd.low_ns / steps / rank.step_ns);
  finding.level = std::min(finding.level, std::max(Level::kNotice, sure.value_or(Level::kNotice)));
  finding.measured.threshold = facts.threshold_of(kOddShapes.id, finding.level);
  if (!sure) finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  const bool convolves = odd.convolves();
  finding.title = {std::string(convolves ? "Convolutions with numbers of channels"
                                         : "Matrix products with sizes") +
                       " that are no multiples of 8 take {} of each step",
                   {share(ranks.front().share)}};
  finding.measured.name = convolves ? "16-bit convolutions with such channels, of the step"
                                    : "16-bit matrix products with such sizes, of the step";
  finding.detail = {
      "The GPU's units for matrix products (" + std::string(product_units(facts)) +
      ") work on blocks of 8 values. A size such as those named makes them work with padding, or "
      "slower kernels take over."};
  if (odd.fills()) {
    finding.about_gain.form +=
        " The smaller figure: nothing has to fill the channels up before a convolution any more "
        "({} of each step, in kernels named AddPadding). The larger: these convolutions become as "
        "fast as the GPU can.";
    finding.about_gain.figures.push_back(nanos(odd.filling_ns / steps));
  } else if (low > 0) {
    finding.about_gain.form += " The smaller figure: these " +
                               std::string(convolves ? "convolutions" : "products") +
                               " become as fast as this run's others. The larger: as fast as the "
                               "GPU can.";
  } else {
    finding.about_gain.form +=
        " It assumes that these " + std::string(convolves ? "convolutions" : "products") +
        " become as fast as the GPU can. This run's others are no faster than these, so it may be "
        "less.";
  }
  say_what_host_lets_through(finding, facts, rank, low, odd.high_ns / steps);
  add_odd_products(finding, facts, rank);
  finding.changes = odd_changes_for(facts, rank, convolves ? Role::kNone : odd.role());
  finding.verify =
      "Record again with record_shapes=True: `stepscope analyze roofline --table operators "
      "--columns "
      "operator,inputs,tflop_per_second new.json` shows the rounded sizes and a higher rate.";
  return {finding};
}

std::string why_not_odd_shapes(const Facts& facts) {
  const auto lines = facts.lines("roofline", "operators");
  const bool any =
      std::ranges::any_of(lines, [](const Line& line) { return line.has_value("inputs"); });
  return any ? std::string() : "Shapes of inputs were not recorded";
}

}  // namespace

const Rule kOddShapes{
    .id = "odd-shapes",
    .cause = "precision",
    .asks = "Are sizes of matrix products, or channels, no multiples of 8?",
    .needs = kOddShapesNeeds,
    .wanted = Wanted::kShapes,
    .judge = judge_odd_shapes,
    .why_not = why_not_odd_shapes,
    .reads = kOddShapesReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
