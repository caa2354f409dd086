// Elementwise kernels in a row, and reductions between them, each of which reads again what the one
// before has written.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "advice/host_stall.h"
#include "advice/known.h"
#include "advice/rule.h"
#include "advice/tracing.h"

namespace stepscope::advice {
namespace {

constexpr std::array kUnfusedChainsNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 3> kUnfusedChainsReads = {"patterns", "roofline",
                                                                 "launches"};
// Work that is not done is not launched.
constexpr std::array<std::string_view, 1> kUnfusedChainsExplains = {"launch-bound"};

struct ChainSum {
  double kernels = 0, reductions = 0, device_ns = 0;
  double least_ns = 0, saves_ns = 0, most_ns = 0;
  double optimizer_ns = 0;  // of saves_ns
  double launches = 0;      // saved by one kernel for each chain
};

ChainSum per_step(const Facts& facts, const RankSteps& rank) {
  ChainSum sum;
  const auto steps = static_cast<double>(rank.steps);
  for (const Line& line : facts.lines("patterns", "chains", rank.rank)) {
    sum.kernels += line.number("kernels") * line.number("count") / steps;
    sum.device_ns += line.number("device_ns") / steps;
    sum.launches += std::max(0.0, line.number("kernels") - 1) * line.number("count") / steps;
    sum.reductions += line.number("reductions") * line.number("count") / steps;
    sum.least_ns += line.number("saves_least_ns") / steps;
    sum.saves_ns += line.number("saves_ns") / steps;
    sum.most_ns += line.number("saves_most_ns") / steps;
    if (line.text("within").starts_with("Optimizer.step#")) {
      sum.optimizer_ns += line.number("saves_ns") / steps;
    }
  }
  return sum;
}

// Where the host cannot keep up, a step is as long as its launches take: what counts is how many of
// them are the chains', and what the host spends on each.
struct ChainLaunches {
  double saved = 0, all = 0;         // of a step
  double least_ns = 0, most_ns = 0;  // that the host saves
  double share() const { return all > 0 ? saved / all : 0; }
};

ChainLaunches launches_of_chains(const Facts& facts, const RankSteps& rank, const ChainSum& sum) {
  ChainLaunches out{.saved = sum.launches};
  for (const Line& line : facts.lines("launches", "ranks", rank.rank)) {
    out.all += line.number("work") / static_cast<double>(rank.steps);
  }
  if (out.all <= 0) return out;
  // An elementwise operator takes the host at least half as long as operators do on average.
  constexpr double kShort = 0.5;
  const TracingCost recording = tracing_cost_of_step(facts, rank);
  out.least_ns = kShort * out.saved * std::max(0.0, rank.step_ns - recording.most) / out.all;
  out.most_ns = out.saved * std::max(0.0, rank.step_ns - recording.least) / out.all;
  return out;
}

// Few chains among the launches of a step are not why the host is late: launch-bound says what is.
bool launches_chains(const Facts& facts, const ChainLaunches& launches) {
  return launches.share() >= facts.threshold(kUnfusedChains.id, "launches");
}

// In a step.
double chains_weigh_ns(const Facts& facts, const RankSteps& rank) {
  const ChainSum sum = per_step(facts, rank);
  // What kernels this short take is their start and end, no memory: gpu-idle says so.
  if (sum.device_ns < facts.threshold(kGpuIdle.id, "kernel") * sum.kernels) return 0;
  if (!waits_for_launches(facts, rank)) return sum.saves_ns;
  const ChainLaunches launches = launches_of_chains(facts, rank, sum);
  return launches_chains(facts, launches) ? std::min(sum.saves_ns, launches.most_ns) : 0;
}

void add_chains(Finding& finding, const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("patterns", "chains", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) return;
    Evidence evidence{.text = {"{} kernels in a row, {} times in {} steps",
                               {count(line.number("kernels")), count(line.number("count")),
                                count(static_cast<double>(rank.steps))}},
                      .rank = rank.rank,
                      .window = line.whole("window")};
    if (line.has_value("within")) {
      evidence.text.form += ", in {}";
      evidence.text.figures.emplace_back(line.text("within"));
    }
    evidence.text.form += ": {} per step";
    evidence.text.figures.push_back(
        nanos(line.number("device_ns") / static_cast<double>(rank.steps)));
    if (line.has_value("operators")) {
      evidence.text.form += "; {}";
      evidence.text.figures.emplace_back(line.text("operators"));
    }
    if (line.has_value("step")) evidence.step = line.whole("step");
    if (line.has_value("event")) evidence.event = line.whole("event");
    finding.evidence.push_back(std::move(evidence));
  }
}

bool has_inputs(const Facts& facts, const RankSteps& rank) {
  const auto lines = facts.lines("roofline", "operators", rank.rank);
  return std::ranges::any_of(lines, [](const Line& line) { return line.has_value("inputs"); });
}

// Functions that do what the operators of a chain look like.
std::string one_kernel_for(const Facts& facts, const RankSteps& rank) {
  struct Function {
    std::string_view code;
    std::vector<std::string_view> all_of;        // what its parts are called in a chain
    std::vector<std::string_view> none_of = {};  // what another function has besides
  };
  static const std::vector<Function> kFunctions = {
      {"torch.nn.functional.gelu(x, approximate=\"tanh\")  # instead of 0.5 * x * (1 + tanh(...))",
       {"aten::tanh", "aten::mul"}},
      {"torch.nn.functional.silu(x)  # instead of x * sigmoid(x)", {"aten::sigmoid", "aten::mul"}},
      {"torch.nn.functional.silu(x)  # instead of x / (1 + exp(-x))",
       {"aten::neg", "aten::exp", "aten::add"}},
      {"torch.nn.functional.softplus(x)  # instead of log(1 + exp(x))",
       {"aten::exp", "aten::add", "aten::log"}},
      {"torch.nn.functional.scaled_dot_product_attention(q, k, v)", {"aten::div", "aten::softmax"}},
      {"torch.nn.functional.scaled_dot_product_attention(q, k, v)", {"aten::mul", "aten::softmax"}},
      {"torch.nn.RMSNorm(dim)  # instead of pow, mean, rsqrt and mul",
       {"aten::rsqrt", "aten::mul"},
       {"aten::sub"}},
      {"torch.nn.LayerNorm(dim)  # or GroupNorm, BatchNorm2d: instead of mean, sub, mean and rsqrt",
       {"aten::mean", "aten::sub", "aten::rsqrt"}},
      {"torch.nn.LayerNorm(dim)  # or GroupNorm, BatchNorm2d: instead of mean, sub, mean and sqrt",
       {"aten::mean", "aten::sub", "aten::sqrt"}},
      {"torch.softmax(x, dim)  # instead of exp(x) / exp(x).sum()",
       {"aten::exp", "aten::sum", "aten::div"}},
  };
  std::string out;
  for (const Line& line : facts.lines("patterns", "chains", rank.rank)) {
    const std::string_view operators = line.text("operators");
    for (const Function& function : kFunctions) {
      const auto is_in = [&](std::string_view part) {
        return operators.find(part) != std::string_view::npos;
      };
      const bool fits = std::ranges::all_of(function.all_of, is_in) &&
                        std::ranges::none_of(function.none_of, is_in);
      if (!fits || out.find(function.code) != std::string::npos) continue;
      out += (out.empty() ? "" : "\n") + std::string(function.code);
    }
  }
  return out;
}

std::vector<Finding> judge_unfused_chains(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kUnfusedChains.id, [&](const RankSteps& rank) {
    return chains_weigh_ns(facts, rank);
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const ChainSum sum = per_step(facts, rank);
  const bool on_host = waits_for_launches(facts, rank);
  const ChainLaunches launches = launches_of_chains(facts, rank, sum);
  // A step is as long as the slower of host and GPU, and both are saved.
  const double low = on_host ? std::min(sum.least_ns, launches.least_ns) : sum.least_ns;
  const double high = on_host ? std::max(sum.most_ns, launches.most_ns) : sum.most_ns;
  Finding finding = begin_finding(facts, kUnfusedChains, ranks, low, high);
  finding.confidence =
      std::min(finding.confidence, Confidence::kMedium);  // not fused and measured yet
  finding.title = {"Simple arithmetic is done in many passes over memory: {} of each step",
                   {share(ranks.front().share)}};
  finding.measured.name =
      "consecutive elementwise kernels, less the longest of each chain, of the step";
  finding.detail = {
      "{} kernels of each step do elementwise arithmetic (add, mul, tanh, casts) directly one "
      "after the other. Each reads from the GPU's memory what the one before has just written. "
      "One kernel for the whole chain does the same in a single pass.",
      {count(sum.kernels)}};
  if (sum.reductions >= 1) {
    finding.measured.name =
        "consecutive elementwise kernels and the sums between them, less the longest of each "
        "chain, of the step";
    finding.detail = {
        "{} kernels of each step do elementwise arithmetic (add, mul, tanh, casts) or sum its "
        "results up ({} of them: sums, means, maxima), directly one after the other on tensors of "
        "the same size. Each reads from the GPU's memory what the one before has just written or "
        "read. One kernel can do the same in a single pass. The smaller figure of the gain: "
        "what lies between two sums becomes one kernel. The larger: all of a norm or a softmax "
        "does.",
        {count(sum.kernels), count(sum.reductions)}};
  }
  if (on_host) {
    finding.detail.form +=
        " The GPU also waits for the CPU in this run, and {} of the {} launches of a step are of "
        "such chains.";
    finding.detail.figures.push_back(count(launches.saved));
    finding.detail.figures.push_back(count(launches.all));
    finding.about_gain.form +=
        " A step is as long as the slower of CPU and GPU: the smaller figure is what both save at "
        "the least, the larger what the CPU saves in launches.";
  }
  if (!has_inputs(facts, rank)) {
    finding.about_gain.form +=
        " Shapes were not recorded, so it is not known how much each kernel moves: the smaller "
        "figure counts a third of what follows another. Record them too, and it is nearer.";
  }
  add_chains(finding, facts, rank);
  Change compile = {
      "Let the compiler make one kernel of each chain: the first steps take a "
      "minute or more then.",
      facts.by_framework("model = torch.compile(model)",
                         "model = torch.compile(model)  # before fit()",
                         "TrainingArguments(..., torch_compile=True)")};
  if (is_compiled(facts, rank.rank)) {
    compile = {
        "A part of the program is compiled, and these kernels are not of it: compile the function "
        "that launches them, too, or see what breaks the graph there.",
        "TORCH_LOGS=graph_breaks python train.py\n"
        "@torch.compile  # on the function that has the operators named under 'where'"};
  }
  const Change optimizer = {
      "Most of it is the optimizer: let it update all parameters at once.",
      facts.by_framework("torch.optim.AdamW(model.parameters(), lr=..., fused=True)",
                         "torch.optim.AdamW(self.parameters(), lr=..., fused=True)  # in "
                         "configure_optimizers()",
                         "TrainingArguments(..., optim=\"adamw_torch_fused\")")};
  if (2 * sum.optimizer_ns > sum.saves_ns) {
    finding.changes = {optimizer, compile};
  } else {
    finding.changes = {compile};
    if (const std::string code = one_kernel_for(facts, rank); !code.empty()) {
      finding.changes.push_back(
          {"Call the function of PyTorch that does it in one kernel, in the code that has the "
           "operators named under 'where'.",
           code});
    }
  }
  finding.verify =
      "Record again: `stepscope analyze patterns --table chains --columns "
      "operators,kernels,count,saves_least_ns,saves_ns new.json` shows less to save.";
  return {finding};
}

}  // namespace

const Rule kUnfusedChains{
    .id = "unfused-chains",
    .cause = "fusion",
    .asks = "Is elementwise arithmetic done in more passes over memory than needed?",
    .needs = kUnfusedChainsNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_unfused_chains,
    .reads = kUnfusedChainsReads,
    .runs_dry = false,
    .explains = kUnfusedChainsExplains,
};

}  // namespace stepscope::advice
