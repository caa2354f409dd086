// Matrix products in 32 bits that miss the tensor cores.
#include <algorithm>
#include <array>
#include <string>

#include "advice/host_stall.h"
#include "advice/known.h"
#include "advice/rule.h"
#include "advice/step_time.h"

namespace stepscope::advice {
namespace {

constexpr std::array kPrecisionNeeds =
    std::to_array<Need>({{"steps", "times"}, {"operators", "tensor_cores"}});
constexpr std::array<std::string_view, 4> kPrecisionReads = {"autotuning", "overlap", "launches",
                                                             "stalls"};

struct PrecisionProducts {
  double device_ns = 0, used_ns = 0, plain_ns = 0, unknown_ns = 0, others_ns = 0;
  // Around the products, in the same operators: turning layouts round, Fourier transforms, sums of
  // parts. Another precision has other algorithms, which may do without.
  double around_ns = 0;
};

bool is_recurrent(std::string_view op) { return op.find("cudnn_rnn") != std::string_view::npos; }

// In a step, of recurrent cells. What is around their products is gates and states, which any
// precision computes.
double recurrent_ns(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("operators", "operators", rank.rank)) {
    if (is_recurrent(line.text("name"))) sum += line.number("device_self_ns");
  }
  return sum / static_cast<double>(rank.steps);
}

PrecisionProducts products_of(const Facts& facts, const RankSteps& rank) {
  PrecisionProducts out;
  const auto steps = static_cast<double>(rank.steps);
  for (const Line& line : facts.lines("operators", "tensor_cores", rank.rank)) {
    if (line.text("operators") != "matrix products") {
      out.others_ns += line.number("device_ns") / steps;
      continue;
    }
    out.device_ns = line.number("device_ns") / steps;
    out.used_ns = line.number("used_ns") / steps;
    // What only turns layouts round or adds parts up becomes no faster by another precision.
    out.plain_ns = line.number("plain_ns") / steps;
    out.unknown_ns = line.number("unknown_ns") / steps;
    const double not_used = line.number("not_used_ns") / steps;
    out.around_ns = std::max(0.0, not_used - out.plain_ns) + out.unknown_ns;
  }
  const double tried = tried_out_ns(facts, rank);
  out.plain_ns = std::max(0.0, out.plain_ns - tried);
  out.device_ns = std::max(0.0, out.device_ns - tried);
  return out;
}

// Time in which a device of the rank computes, per step: kernels that communicate move as many
// bytes in 16 bits, since gradients stay in 32. The step where it is not known.
double computing_of(const Facts& facts, const RankSteps& rank) {
  const auto computing = mean_of(facts, "overlap", "devices", rank.rank, "compute_ns");
  return computing ? *computing / static_cast<double>(rank.steps) : rank.step_ns;
}

// In a step: what mixed precision leaves in 32 bits, as far as it is among the longest operators.
// torch.autocast has norms but batch norm, softmax and losses in 32 bits, and the optimizer knows
// nothing of it.
double stays_wide_ns(const Facts& facts, const RankSteps& rank) {
  static constexpr std::array<std::string_view, 6> kWide = {
      "layer_norm", "group_norm", "softmax", "_loss", "_fused_adam", "_foreach_"};
  double sum = 0;
  for (const Line& line : facts.lines("operators", "operators", rank.rank)) {
    const std::string_view name = line.text("name");
    const bool is_wide = std::ranges::any_of(
        kWide, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
    if (is_wide) sum += line.number("device_self_ns") / static_cast<double>(rank.steps);
  }
  return sum;
}

// Compute capability 7: tensor cores for fp16 alone. TF32 and bf16 begin with 8.
bool has_half_only(const Facts& facts) { return compute_major(facts) == 7; }

// Which of PyTorch's two switches governs the products: cuDNN's convolutions and recurrent cells
// have their own.
struct Slow {
  double cudnn_ns = 0, others_ns = 0;
};

bool is_of_cudnn(std::string_view op) {
  return is_recurrent(op) || op.find("conv") != std::string_view::npos;
}

// Some kernels of a recurrent cell have names that say nothing.
bool is_slow(const Line& line) {
  const std::string_view use = line.text("tensor_cores");
  return use == "no" || (use == "unknown" && is_recurrent(line.text("name")));
}

Slow slow_of(const Facts& facts, const RankSteps& rank) {
  Slow out;
  for (const Line& line : facts.lines("operators", "operators", rank.rank)) {
    if (!is_slow(line)) continue;
    (is_of_cudnn(line.text("name")) ? out.cudnn_ns : out.others_ns) +=
        line.number("device_self_ns");
  }
  return out;
}

bool has_recurrent(const Facts& facts, const RankSteps& rank) {
  const auto lines = facts.lines("operators", "operators", rank.rank);
  return std::ranges::any_of(
      lines, [](const Line& line) { return is_slow(line) && is_recurrent(line.text("name")); });
}

std::vector<Change> precision_changes_for(const Facts& facts, const RankSteps& rank) {
  if (has_half_only(facts)) {
    return {
        {"Mixed precision in fp16, with a scaled loss: the tensor cores of this GPU (compute "
         "capability 7) know neither TF32 nor bf16.",
         facts.by_framework("scaler = torch.amp.GradScaler(\"cuda\")\n"
                            "with torch.autocast(\"cuda\", dtype=torch.float16):\n"
                            "    loss = model(x, y)\n"
                            "scaler.scale(loss).backward(); scaler.step(optimizer); "
                            "scaler.update()",
                            "Trainer(..., precision=\"16-mixed\")",
                            "TrainingArguments(..., fp16=True)")}};
  }
  // A forward pass alone: inference, or validation.
  const bool trains = has_backward(facts) || facts.table("program", "ranks") == nullptr;
  const Change mixed = {
      "More speed (up to the larger figure) and half the memory for activations: mixed precision "
      "in bf16.",
      facts.by_framework(trains ? "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
                                  "    loss = loss_of(model(x), y)  # forward and loss\n"
                                  "loss.backward()  # outside"
                                : "with torch.inference_mode(), torch.autocast(\"cuda\", "
                                  "dtype=torch.bfloat16):\n"
                                  "    y = model(x)",
                         "Trainer(..., precision=\"bf16-mixed\")",
                         "TrainingArguments(..., bf16=True)")};
  if (!may_have_tf32(facts)) {
    return {{"Mixed precision in bf16: half the memory for activations, too.", mixed.code}};
  }
  const Slow slow = slow_of(facts, rank);
  constexpr std::string_view kProducts = "torch.set_float32_matmul_precision(\"high\")";
  constexpr std::string_view kConvolutions =
      "torch.backends.cudnn.allow_tf32 = True  # convolutions, LSTM, GRU; the default: search for "
      "where it is set to False";
  std::string code(slow.cudnn_ns > slow.others_ns ? kConvolutions : kProducts);
  if (slow.cudnn_ns > 0 && slow.others_ns > 0) {
    code = std::string(kProducts) + "\n" + std::string(kConvolutions);
  }
  Change tensor_float = {
      "The smallest change, the model stays in 32 bits: allow TF32 (the smaller figure of the "
      "gain).",
      facts.by_framework(code, code, "TrainingArguments(..., tf32=True)")};
  if (compute_major(facts) == 0) {
    tensor_float.why +=
        " The trace does not name the GPU: TF32 and bf16 need compute capability 8 (A100, 2020) or "
        "later.";
  }
  return {tensor_float, mixed};
}

std::vector<Finding> judge_precision(const Facts& facts) {
  // Before compute capability 7 there are no tensor cores to miss.
  if (compute_major(facts) > 0 && compute_major(facts) < 7) return {};
  const auto ranks = worst_ranks(facts, kPrecision.id, [&](const RankSteps& rank) {
    return products_of(facts, rank).plain_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const PrecisionProducts products = products_of(facts, rank);
  const double slow = std::min(products.plain_ns, rank.step_ns);
  const double left = std::max(0.0, computing_of(facts, rank) - slow);
  const double around = std::clamp(products.around_ns - recurrent_ns(facts, rank), 0.0, left);
  const double gates = products.around_ns - around;
  const double others = std::min(products.used_ns + products.others_ns + gates, left - around);
  const double stays = std::min(stays_wide_ns(facts, rank), others);
  const double rest = others - stays;
  // TF32 alone, at the least speed-up; all that mixed precision has in 16 bits at the most, where
  // the rest moves half the bytes.
  const double low = slow * (1 - 1 / facts.threshold(kPrecision.id, "tf32_speedup"));
  const double high =
      slow * (1 - 1 / facts.threshold(kPrecision.id, "half_speedup")) + around + rest / 2;
  Finding finding = begin_finding(facts, kPrecision, ranks, let_through_ns(facts, rank, low),
                                  most_let_through_ns(facts, rank, high));
  const Slow slow_by_kind = slow_of(facts, rank);
  const std::string_view products_word =
      slow_by_kind.cudnn_ns > slow_by_kind.others_ns && !has_recurrent(facts, rank)
          ? "Convolutions"
          : "Matrix products";
  const std::string units(product_units(facts));
  finding.title = {std::string(products_word) + " do not use the " + units + ": {} of each step",
                   {share(ranks.front().share)}};
  if (products.plain_ns > rank.step_ns) {
    finding.title = {
        std::string(products_word) + " do not use the " + units + ": {} in a step of {}",
        {nanos(products.plain_ns), nanos(rank.step_ns)}};
  }
  finding.measured.name = "matrix products and convolutions without " + units + ", of the step";
  finding.detail = {
      "{} of {} of matrix products and convolutions per step run in full 32-bit precision, "
      "without the GPU's " +
          units + ", which do the same several times as fast, in ",
      {nanos(products.plain_ns), nanos(products.device_ns)}};
  finding.detail.form += has_half_only(facts) ? "fp16."
                         : !may_have_tf32(facts)
                             ? "bf16."
                             : "TF32 (32-bit values, of which products see three decimal digits) "
                               "or in bf16.";
  if (products.plain_ns > rank.step_ns) {
    finding.detail.form +=
        " They add up to more than the step, since some run at the same time as others.";
  }
  if (rest > 0) {
    finding.detail.form +=
        " In 16 bits the rest of the GPU's work moves half the bytes: the larger figure of the "
        "gain assumes that";
    if (stays > 0) {
      finding.detail.form += ", but for {} in what mixed precision leaves in 32 bits";
      finding.detail.figures.push_back(nanos(stays));
    }
    finding.detail.form += '.';
  }
  if (around >= 2 * kNoise * rank.median_ns) {
    finding.detail.form +=
        " The same operators spend {} in other kernels, around the products; the larger figure "
        "counts them as gone, since other algorithms may do without.";
    finding.detail.figures.push_back(nanos(around));
  }
  say_what_host_lets_through(finding, facts, rank, low, high);
  const auto steps = static_cast<double>(rank.steps);
  for (const Line& line : facts.lines("operators", "operators", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) break;
    if (!is_slow(line)) continue;
    finding.evidence.push_back(
        {.text = {line.text("tensor_cores") == "no"
                      ? "{}: {} per step on the GPU, no " + units + "; {} calls in {} steps"
                      : "{}: {} per step on the GPU, some of it in products without " + units +
                            "; {} calls in {} steps",
                  {line.text("name"), nanos(line.number("device_self_ns") / steps),
                   count(line.number("calls")), count(steps)}},
         .rank = rank.rank});
  }
  finding.changes = precision_changes_for(facts, rank);
  finding.verify =
      "Record again: `stepscope analyze operators --table tensor_cores new.json` shows the time of "
      "matrix "
      "products under 'used'. Compare the loss curves of the two runs.";
  if (products.unknown_ns > products.plain_ns) finding.confidence = Confidence::kLow;
  // The bounds were measured on GPUs that have TF32.
  if (!may_have_tf32(facts)) finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  return {finding};
}

}  // namespace

const Rule kPrecision{
    .id = "precision",
    .cause = "precision",
    .asks = "Do matrix products miss the tensor cores?",
    .needs = kPrecisionNeeds,
    .wanted = Wanted::kShapes,
    .judge = judge_precision,
    .reads = kPrecisionReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
