// Attention computed piece by piece: its scores, as large as the square of the length, are written
// to memory and read again by every piece, where one kernel never writes them.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advice/host_stall.h"
#include "advice/known.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kUnfusedAttentionNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 3> kUnfusedAttentionReads = {"attention", "launches",
                                                                    "stalls"};

// In a step.
struct PiecesOfStep {
  double device_ns = 0, products_ns = 0, softmax_ns = 0, between_ns = 0;
  double math_ns = 0;              // of device_ns: scaled_dot_product_attention's own backend
  double low_ns = 0, high_ns = 0;  // saved by one kernel
  // What one kernel does not do: it keeps scores in registers.
  double beside_ns() const { return softmax_ns + between_ns; }
};

// Fused kernels work on tiles of 64 places: of fewer it is not known how much they save.
constexpr std::int64_t kTile = 64;

// The last of "64×12×197×197"; nothing where sizes were not recorded.
std::optional<std::int64_t> last_size(std::string_view sizes) {
  if (sizes.empty()) return std::nullopt;
  constexpr std::string_view kTimes = "×";
  const std::size_t times = sizes.rfind(kTimes);
  if (times != std::string_view::npos) sizes.remove_prefix(times + kTimes.size());
  std::int64_t size = 0;
  std::from_chars(sizes.data(), sizes.data() + sizes.size(), size);
  return size;
}

PiecesOfStep attention_pieces_of(const Facts& facts, const RankSteps& rank) {
  PiecesOfStep out;
  const double faster = facts.threshold(kUnfusedAttention.id, "faster");
  const auto steps = static_cast<double>(rank.steps);
  for (const Line& line : facts.lines("attention", "pieces", rank.rank)) {
    out.device_ns += line.number("device_ns") / steps;
    out.products_ns += line.number("products_ns") / steps;
    out.softmax_ns += line.number("softmax_ns") / steps;
    out.between_ns += line.number("between_ns") / steps;
    if (line.whole("math") != 0) out.math_ns += line.number("device_ns") / steps;
    const double products = line.number("products_ns") / steps;
    const double beside = (line.number("softmax_ns") + line.number("between_ns")) / steps;
    out.high_ns += beside + faster * products;
    if (last_size(line.text("scores")).value_or(kTile) < kTile) continue;
    // One kernel computes the scores anew in the backward pass. In 32 bits without units for
    // products it takes twice as long for them as a library's.
    const double again = line.whole("plain_products") != 0 ? 1
                         : line.number("backward_ns") > 0
                             ? facts.threshold(kUnfusedAttention.id, "again")
                             : 0;
    out.low_ns += std::max(0.0, beside - again * products);
  }
  return out;
}

void add_attention_pieces(Finding& finding, const Facts& facts, const RankSteps& rank) {
  const auto steps = static_cast<double>(rank.steps);
  for (const Line& line : facts.lines("attention", "pieces", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) return;
    Evidence evidence{.text = {}, .rank = rank.rank, .window = line.whole("window")};
    std::string& form = evidence.text.form;
    std::vector<Figure>& figures = evidence.text.figures;
    form = "softmax";
    if (line.has_value("scores")) {
      form += " of {}";
      figures.emplace_back(line.text("scores"));
    }
    form +=
        " between two products, {} in {} steps: {} per step, of which softmax {}, products {}, "
        "{} in scaling, masks, dropout and copies";
    figures.push_back(count(line.number("calls")));
    figures.push_back(count(steps));
    figures.push_back(nanos(line.number("device_ns") / steps));
    figures.push_back(nanos(line.number("softmax_ns") / steps));
    figures.push_back(nanos(line.number("products_ns") / steps));
    figures.push_back(nanos(line.number("between_ns") / steps));
    if (line.has_value("within")) {
      form += "; in {}";
      figures.emplace_back(line.text("within"));
    }
    if (line.has_value("step")) evidence.step = line.whole("step");
    if (line.has_value("event")) evidence.event = line.whole("event");
    finding.evidence.push_back(std::move(evidence));
  }
}

std::vector<Change> attention_changes_for(const Facts& facts, bool is_math) {
  if (is_math) {
    return {
        {"scaled_dot_product_attention is called, and its slowest backend does the work. Forbid "
         "that one: the error then names what keeps the others away (double precision, a mask "
         "that needs a gradient, sizes of heads, layout), or nothing does, and a setting chose "
         "it.",
         "from torch.nn.attention import SDPBackend, sdpa_kernel\n"
         "with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):\n"
         "    train_step()  # once, to see the warnings\n"
         "# and search for sdpa_kernel(SDPBackend.MATH), enable_flash_sdp(False)"}};
  }
  constexpr std::string_view kCode =
      "# instead of softmax(q @ k.transpose(-2, -1) * scale + mask) @ v\n"
      "x = torch.nn.functional.scaled_dot_product_attention(\n"
      "    q, k, v, attn_mask=mask, dropout_p=dropout if self.training else 0.0)\n"
      "# where a token sees those before it: is_causal=True instead of attn_mask";
  return {
      {"One call for all of it; scores are no longer kept, so memory for a longer sequence or a "
       "larger batch becomes free, too. Weights of attention cannot be looked at then.",
       facts.by_framework(kCode, kCode,
                          "model = AutoModel.from_pretrained(name, "
                          "attn_implementation=\"sdpa\")\n"
                          "# in a model of your own:\n" +
                              std::string(kCode))}};
}

std::vector<Finding> judge_unfused_attention(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kUnfusedAttention.id, [&](const RankSteps& rank) {
    return attention_pieces_of(facts, rank).beside_ns();
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const PiecesOfStep pieces = attention_pieces_of(facts, rank);
  const double low = pieces.low_ns;
  const double high = pieces.high_ns;
  Finding finding = begin_finding(facts, kUnfusedAttention, ranks, let_through_ns(facts, rank, low),
                                  most_let_through_ns(facts, rank, high));
  // Not fused and measured yet.
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  const bool is_math = 2 * pieces.math_ns > pieces.device_ns;
  finding.title = {is_math ? "scaled_dot_product_attention runs piece by piece (backend math): {} "
                             "of each step"
                           : "Attention is computed piece by piece: {} of each step beside its "
                             "products",
                   {share(ranks.front().share)}};
  finding.measured.name = "softmax of attention and what is between its products, of the step";
  finding.detail = {
      "{} per step in attention, of which {} are its matrix products. The rest writes a number for "
      "every pair of places to the GPU's memory and reads it again: softmax, scaling, masks, "
      "dropout. Fused attention does all of it in one kernel, and never writes them.",
      {nanos(pieces.device_ns), nanos(pieces.products_ns)}};
  finding.about_gain.form +=
      has_backward(facts)
          ? " The smaller figure: a fused kernel computes the scores a second time in the backward "
            "pass. The larger: its products are faster than these, too."
          : " The larger figure: the products of a fused kernel are faster than these, too.";
  if (!has_shapes(facts)) {
    finding.detail.form +=
        " Shapes were not recorded: that it is attention follows from the order of operators, a "
        "softmax between two batched products.";
  }
  say_what_host_lets_through(finding, facts, rank, low, high);
  add_attention_pieces(finding, facts, rank);
  finding.changes = attention_changes_for(facts, is_math);
  finding.verify =
      "Record again: `stepscope analyze attention new.json` has rows under fused and none under "
      "pieces.";
  return {finding};
}

}  // namespace

const Rule kUnfusedAttention{
    .id = "unfused-attention",
    .cause = "attention",
    .asks = "Is attention computed piece by piece, where one kernel could?",
    .needs = kUnfusedAttentionNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_unfused_attention,
    .reads = kUnfusedAttentionReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
