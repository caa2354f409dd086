// Writes the sentences above the findings.
#include <algorithm>
#include <optional>
#include <utility>

#include "advice/advise.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

const Finding* first_gain(const Advice& advice) {
  const auto first = std::ranges::find_if(
      advice.findings, [](const Finding& one) { return one.gain && one.gain->high > 0; });
  return first == advice.findings.end() ? nullptr : &*first;
}

// The others' are then of other steps than its own.
bool starts_with_untraced(const Advice& advice) {
  const Finding* const first = first_gain(advice);
  return first != nullptr && first->untraced_step_ns > 0;
}

base::Nanos largest_remaining(const Advice& advice) {
  base::Nanos out = 0;
  for (const Finding& finding : advice.findings) {
    if (finding.remaining) out = std::max(out, finding.remaining->high);
  }
  return out;
}

// How long a step takes, of the slowest rank, and how much steps differ.
Sentence step_text(const Facts& facts, const Advice& advice) {
  Sentence out{"A recorded step takes {}", {nanos(static_cast<double>(advice.step_ns))}};
  const auto slowest = std::ranges::max_element(facts.ranks(), {}, &RankSteps::step_ns);
  if (slowest == facts.ranks().end()) return out;
  if (facts.untraced(*slowest)) out.form = "A traced step takes {}";
  if (slowest->steps > 1) out.form += " on average";
  if (facts.ranks().size() > 1) {
    out.form += " on rank {}, the slowest";
    out.figures.push_back({static_cast<double>(slowest->rank), base::Unit::kId});
  }
  if (slowest->steps < 2 || slowest->long_ns <= 0) return out;
  constexpr double kAlike = 0.01;  // such steps need no range
  if (slowest->short_ns > 0 && slowest->long_ns - slowest->short_ns < kAlike * slowest->median_ns) {
    return out;
  }
  constexpr std::int64_t kEnoughForNineInTen = 20;
  const bool many = slowest->steps >= kEnoughForNineInTen;
  out.figures.push_back(nanos(slowest->median_ns));
  if (slowest->short_ns <= 0) {
    out.form += " (median {}; 19 of 20 take at most {})";
  } else {
    const bool both = slowest->steps == 2;
    out.form += many   ? " (median {}; 9 of 10 take {} to {})"
                : both ? " (median {}; both take {} to {})"
                       : " (median {}; all {} take {} to {})";
    if (!many && !both) out.figures.push_back(count(static_cast<double>(slowest->steps)));
    out.figures.push_back(nanos(slowest->short_ns));
  }
  out.figures.push_back(nanos(slowest->long_ns));
  return out;
}

void add_first_fix(const Facts& facts, const Advice& advice, std::vector<Sentence>& out) {
  const Finding* const first = first_gain(advice);
  if (first == nullptr) return;
  const bool untraced = first->untraced_step_ns > 0;
  const base::Nanos step = untraced ? first->untraced_step_ns : advice.step_ns;
  const Gain gain = first->here.value_or(*first->gain);  // the step shown is of the recording
  const auto percent = [&](base::Nanos part) {
    return share(static_cast<double>(part) / static_cast<double>(step));
  };
  const auto after = [&](base::Nanos part) {
    return nanos(static_cast<double>(std::max<base::Nanos>(0, step - part)));
  };
  Sentence first_fix = untraced ? Sentence{"A step that was not traced takes {} on average",
                                           {nanos(static_cast<double>(step))}}
                                : step_text(facts, advice);
  first_fix.form += ". Without the first finding it would take between {} and {} ({} to {} less).";
  for (const Figure& figure :
       {after(gain.high), after(gain.low), percent(gain.low), percent(gain.high)}) {
    first_fix.figures.push_back(figure);
  }
  out.push_back(std::move(first_fix));
  const base::Nanos more = largest_remaining(advice);
  if (more > 0 && untraced) {
    out.push_back(
        {"The other findings are of the traced steps, which take {} on average: the "
         "largest of them would bring at most {} of that.",
         {nanos(static_cast<double>(advice.step_ns)), nanos(static_cast<double>(more))}});
  } else if (more > 0) {
    out.push_back(
        {gain.high + more <= advice.step_ns
             ? "What remains then: the largest of the other findings would bring at most {} more."
             : "What remains then: the largest of the other findings would bring at most {}; a "
               "part "
               "of that may be gone with the first.",
         {nanos(static_cast<double>(more))}});
  }
}

// Its arithmetic, of what the device can do; false: not known.
bool add_utilisation(const Facts& facts, std::vector<Sentence>& out) {
  for (const Line& line : facts.lines("mfu", "steps")) {
    if (line.has_value("step") && facts.lines("mfu", "steps").size() > 1)
      continue;  // the row of all
    if (!line.has_value("mfu_share") || line.number("mfu_share") <= 0) continue;
    Sentence text{"Its arithmetic runs at {} of the peak in {} (MFU)",
                  {share(line.number("mfu_share")), line.text("arithmetic")}};
    const double known = line.number("known_share");
    if (known < 0.8) {
      text.form += ", a lower bound: of {} of the kernels' time the arithmetic is known";
      text.figures.push_back(share(known));
    }
    constexpr double kWellTuned = 0.4;
    text.form += line.number("mfu_share") < kWellTuned
                     ? ". Well-tuned large models reach 40 to 60 %; small ones, and work that "
                       "moves more than it computes, far less: no fault of the loop."
                     : ". Well-tuned large models reach 40 to 60 %; beyond that only a cheaper "
                       "model or a faster GPU helps.";
    out.push_back(std::move(text));
    return true;
  }
  return false;
}

// What the operators that take longest would take at the limits of arithmetic and memory.
void add_roofline(const Facts& facts, std::vector<Sentence>& out) {
  if (facts.ranks().empty()) return;
  double taken = 0;
  double roof = 0;
  double all = 0;
  for (const Line& line : facts.lines("roofline", "operators", facts.ranks().front().rank)) {
    if (!line.has_value("roof_ns")) continue;
    taken += line.number("device_ns");
    roof += std::min(line.number("roof_ns"), line.number("device_ns"));
    all += line.number("share");
  }
  if (taken <= 0) return;
  out.push_back(
      {"At the GPU's limits of arithmetic and memory (roofline) the operators that take longest "
       "({} of the kernels' time) could at best shrink to {} of their present time, which is "
       "rarely reached; faster kernels (torch.compile is worth a try) bring a part of it.",
       {share(all), share(roof / taken)}});
}

void add_busy(const Facts& facts, std::vector<Sentence>& out) {
  for (const Line& line : facts.lines("overview", "devices")) {
    if (!line.has_value("busy_share")) continue;
    out.push_back({"The GPU is busy {} of the time.", {share(line.number("busy_share"))}});
    return;
  }
}

// Waits that are no rule's: a training has them once, and a short recording consists of them.
void add_once(const Facts& facts, std::vector<Sentence>& out) {
  constexpr double kMuch = 0.2;  // of the time of all steps
  for (const RankSteps& rank : facts.ranks()) {
    if (facts.share_waited_once(rank) <= kMuch) continue;
    Line longest = facts.lines("stalls", "places", rank.rank).front();
    for (const Line& place : facts.lines("stalls", "places", rank.rank)) {
      if (facts.waited_once_ns(place) > facts.waited_once_ns(longest)) longest = place;
    }
    Sentence text{
        "{} of the time recorded the GPU waits for what seems to come once in a training: "
        "libraries start and are loaded, code is compiled. The longest wait takes {}",
        {share(facts.share_waited_once(rank)), nanos(longest.number("longest_ns"))}};
    for (const std::string_view where : {"op", "call"}) {
      if (!longest.has_value(where)) continue;
      text.form += ", in {}";
      text.figures.emplace_back(longest.text(where));
    }
    text.form += ". Record later steps.";
    out.push_back(std::move(text));
    return;
  }
}

// How far the run is from what the device can do.
void add_ceiling(const Facts& facts, std::vector<Sentence>& out) {
  add_busy(facts, out);
  if (add_utilisation(facts, out)) {
    add_roofline(facts, out);
    return;
  }
  if (facts.ranks().empty()) return;  // no trace, and none is expected
  const std::string why = facts.remark("mfu");
  const std::string shapes =
      "Record shapes too: " + how_to_record(Wanted::kShapes, facts.recorder()) + ".";
  out.push_back({"How near it comes to the GPU's limits (MFU, roofline) is not known. {}",
                 {why.empty() ? std::string_view(shapes) : std::string_view(why)}});
}

void add_verdict_untraced(const Facts& facts, const Advice& advice, std::vector<Sentence>& out) {
  if (advice.findings.empty() || starts_with_untraced(advice)) return;  // no figures of those
  const auto slowest = std::ranges::max_element(facts.ranks(), {}, &RankSteps::step_ns);
  if (slowest == facts.ranks().end()) return;
  const auto others = facts.untraced(*slowest);
  if (!others) return;
  if (others->given) {
    out.push_back(
        {"These figures are of traced steps. Without a profiler one takes {}, as was "
         "said.",
         {nanos(others->step_ns)}});
    return;
  }
  Sentence text{
      slowest->steps == 1 ? "These figures are of {} traced step"
                          : "These figures are of {} traced steps",
      {count(static_cast<double>(slowest->steps)), count(others->steps), nanos(others->step_ns)}};
  const bool one = others->steps == 1;
  text.form += others->step_ns > slowest->step_ns
                   ? one ? ". {} other, without warm-up, took longer: {}."
                         : ". {} others, without warm-up, took longer: {} on average."
               : one ? ", which tracing may slow: {} other, without warm-up, takes {}."
                     : ", which tracing may slow: {} others, without warm-up, take {} on average.";
  out.push_back(std::move(text));
}

// That the times are not to be relied on stands above them, and not only in a finding of its own,
// which comes last.
void say_if_too_few(const Advice& advice, std::vector<Sentence>& out, std::size_t place) {
  const auto found = std::ranges::find(advice.findings, kFewSteps.id, &Finding::rule);
  if (found == advice.findings.end() || found == advice.findings.begin()) return;
  Sentence text = found->title;
  const bool of_traced = text.form.starts_with("Too few steps were traced");
  text.form += of_traced ? ". Trace more of them." : ". Record more of them.";
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(std::min(place, out.size())),
             std::move(text));
}

// Whether it says that time could be saved, if only a little.
bool offers_time(const Finding& finding) {
  return finding.level >= Level::kNotice && finding.gain && finding.gain->high > 0;
}

// "Healthy" is for runs that nothing can be gained of: others have no grave fault.
Sentence health_of(const Advice& advice) {
  const Figure judged = count(static_cast<double>(advice.judged));
  const auto offers = std::ranges::count_if(advice.findings, offers_time);
  constexpr double kLarge = 0.2;  // of the step
  const auto step = static_cast<double>(advice.step_ns);
  const auto first = std::ranges::find_if(advice.findings, offers_time);
  if (step > 0 && first != advice.findings.end() &&
      static_cast<double>(first->gain->high) >= kLarge * step) {
    Sentence out{"None of {} rules gives a warning, but the first finding below may save ",
                 {judged}};
    if (first->gain->low > 0) {
      out.form += "{} to ";
      out.figures.push_back(share(static_cast<double>(first->gain->low) / step));
    } else {
      out.form += "up to ";
    }
    out.form += "{} of the step.";
    out.figures.push_back(share(static_cast<double>(first->gain->high) / step));
    return out;
  }
  if (offers > 0) {
    return {offers == 1 ? "No grave fault: none of {} rules gives a warning. {} finding below may "
                          "still save time, unless you want it as it is."
                        : "No grave fault: none of {} rules gives a warning. {} findings below may "
                          "still save time, unless you want it as it is.",
            {judged, count(static_cast<double>(offers))}};
  }
  return {
      advice.findings.empty()
          ? "Healthy, as far as it was recorded: {} rules looked and found nothing to mend."
          : "Healthy: none of the {} rules that could judge found a fault. What is below is good "
            "to know and costs no time that could be saved.",
      {judged}};
}

}  // namespace

std::vector<Sentence> verdict(const Facts& facts, const Advice& advice, const Scope& scope) {
  const std::string& lost = scope.lost;
  std::vector<Sentence> out;
  if (!lost.empty()) {
    out.push_back(
        {"{} What follows is about the part that was read; what is missing may hold a fault, so "
         "whether the run is healthy cannot be said.",
         {std::string_view(lost)}});
  }
  const bool no_device_work = !facts.no_device_work().empty();
  if (advice.judged == 0 && !no_device_work) {
    out.push_back({"Nothing could be judged: the recording holds none of what the rules read."});
    return out;
  }
  if (advice.healthy) {
    out.push_back(health_of(advice));
    add_ceiling(facts, out);
  }
  const Figure judged = count(static_cast<double>(advice.judged));
  const bool faulty = std::ranges::any_of(
      advice.findings, [](const Finding& one) { return one.level >= Level::kWarning; });
  if (!faulty && lost.empty() && !no_device_work && !advice.doubt.empty()) {
    out.push_back(
        {"Whether the run is healthy cannot be said: {}. None of {} rules gives a warning.",
         {std::string_view(advice.doubt), judged}});
    add_busy(facts, out);
  }
  const Figure asked = count(static_cast<double>(advice.judged + advice.not_judged.size()));
  if (no_device_work && advice.judged == 0 && lost.empty()) {
    out.push_back(
        {"No GPU work was recorded, so that none of {} rules could judge: whether the run is "
         "healthy cannot be said.",
         {asked}});
  } else if (no_device_work) {
    out.push_back({lost.empty()
                       ? "No GPU work was recorded, so that only {} of {} rules could judge: "
                         "whether the run is healthy cannot be said."
                       : "No GPU work is in it, so that only {} of {} rules could judge.",
                   {judged, asked}});
  } else if (!advice.healthy && advice.findings.empty() && advice.doubt.empty()) {
    out.push_back({lost.empty()
                       ? "Too little was recorded to call the run healthy: {} of {} rules could "
                         "judge, and found nothing."
                       : "{} of {} rules could judge, and found nothing.",
                   {judged, asked}});
  }
  if (advice.step_ns > 0) add_first_fix(facts, advice, out);
  if (!advice.findings.empty() && out.size() == (lost.empty() ? 0 : 1)) {
    const Figure findings = count(static_cast<double>(advice.findings.size()));
    const bool one = advice.findings.size() == 1;
    Sentence text;
    if (advice.step_ns > 0) {
      text = step_text(facts, advice);
      text.form += ". ";
    }
    text.form += one ? "{} finding; no gain in time is known of it."
                     : "{} findings, the gravest first; no gain in time is known of them.";
    text.figures.push_back(findings);
    out.push_back(std::move(text));
  }
  std::int64_t steps = 0;  // of the rank with the most; all of an empty trace is no step
  for (const auto& rank : facts.ranks()) {
    if (rank.step_ns > 0) steps = std::max(steps, rank.steps);
  }
  const bool of_traced = std::ranges::any_of(
      facts.ranks(), [&](const RankSteps& rank) { return facts.untraced(rank).has_value(); });
  if (!facts.ranks().empty() && steps < 2) {
    out.push_back({steps == 0           ? "No step was recorded: record four or more."
                   : scope.chosen_steps ? "Only one step was chosen, so that nothing is known "
                                          "about how steps differ."
                   : of_traced          ? "Only one step was traced, so that nothing is known "
                                          "about how steps differ: trace four or more."
                                        : "Only one step was recorded, so that nothing is known "
                                          "about how steps differ: record four or more."});
  }
  if (scope.left_out_by_guess) {
    out.push_back(
        {"What is called a step here is a guess: what repeats on the device, which leaves out {} "
         "of the recording. Mark steps with profiler.step(), or name them with --steps.",
         {share(*scope.left_out_by_guess)}});
  }
  add_once(facts, out);
  add_verdict_untraced(facts, advice, out);
  say_if_too_few(advice, out, (lost.empty() ? 0U : 1U) + (advice.healthy ? 1U : 0U));
  return out;
}

}  // namespace stepscope::advice
