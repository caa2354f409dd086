// The outcome of `stepscope check` as text, Markdown, JSON, JUnit and annotations.
#include <algorithm>

#include <fmt/format.h>

#include "report/charts/svg_chart.h"
#include "report/compare/compare.h"
#include "report/tables/cell_text.h"
#include "report/tables/tables.h"
#include "report/writing/json_writer.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using analysis::Judged;
using analysis::Outcome;
using analysis::RunSamples;
using analysis::StepKind;

Style gate_forms_style_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFailed:
      return Style::kBad;
    case Outcome::kUnsure:
      return Style::kWarning;
    case Outcome::kBetter:
    case Outcome::kPassed:
      return Style::kGood;
    case Outcome::kNotJudged:
      break;
  }
  return Style::kFaint;
}

std::size_t count_steps(std::span<const RunSamples> runs, StepKind kind) {
  std::size_t count = 0;
  for (const RunSamples& run : runs) {
    if (const analysis::Sample* steps = steps_of(run, kind)) count += steps->values.size();
  }
  return count;
}

// "66 steps", "487 steps outside of trace windows": where one may ask which.
std::string gate_forms_steps_text(std::span<const RunSamples> runs, StepKind kind) {
  std::string out = counted(count_steps(runs, kind), "step");
  const auto all_are = [&](StepKind wanted) {
    return !runs.empty() && std::ranges::all_of(runs, [&](const RunSamples& run) {
      const analysis::Sample* steps = steps_of(run, kind);
      return steps != nullptr && steps->kind == wanted;
    });
  };
  if (all_are(StepKind::kUntraced)) out += " outside of trace windows";
  const bool left_out = std::ranges::any_of(runs, [&](const RunSamples& run) {
    return steps_of(run, kind) != steps_of(run, StepKind::kUntold);
  });
  if (left_out) out += " that were traced";
  return out;
}

// "run.json: 66 steps (4 of warm-up left out)"
std::string gate_forms_run_text(const RunSamples& run, StepKind kind) {
  std::string out =
      fmt::format("{}: {}", printable(run.name), gate_forms_steps_text(std::span(&run, 1), kind));
  if (steps_of(run, kind) == steps_of(run, StepKind::kUntold)) {
    out += left_out_steps_text(run.warmup, run.in_windows);
  }
  if (!run.bad_end.empty()) out += fmt::format("; it {}", printable(run.bad_end));
  return out;
}

std::string runs_text(std::span<const RunSamples> runs, const GateReport& report) {
  const StepKind kind = choose_steps(report.before, report.after).kind;
  if (runs.size() == 1) return gate_forms_run_text(runs.front(), kind);
  return fmt::format("{} with {}", counted(runs.size(), "run"), gate_forms_steps_text(runs, kind));
}

// What GitHub takes for the end of a message or of a property.
std::string command_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\n') {
      out += "%0A";
    } else if (c == '\r') {
      out += "%0D";
    } else {
      out += c;
    }
  }
  return out;
}

void write_figures(JsonWriter& json, const Judged& one) {
  const auto optional = [&](std::string_view name, std::optional<double> value) {
    json.key(name);
    value ? json.value(*value) : json.null();
  };
  const analysis::Difference& change = one.change;
  const bool judged = one.outcome != Outcome::kNotJudged && !one.about_run;
  optional("before", one.has_before ? std::optional(change.before) : std::nullopt);
  optional("after", judged ? std::optional(change.after) : std::nullopt);
  optional("change_share", one.has_before ? change.share() : std::nullopt);
  optional("change_low", change.bounds ? std::optional(change.bounds->low) : std::nullopt);
  optional("change_high", change.bounds ? std::optional(change.bounds->high) : std::nullopt);
  optional("smallest_seen", change.bounds ? std::optional(change.smallest_seen) : std::nullopt);
  optional("allowed_share", one.limit.worse_share);
  optional("allowed_change", one.limit.worse_by);
  optional("bound", one.limit.bound);
  json.key("enough");
  if (!change.enough) return json.null();
  json.begin_object();
  json.member("steps", change.enough->steps);
  json.member("runs", change.enough->runs);
  json.end_object();
}

void write_runs(JsonWriter& json, std::string_view name, std::span<const RunSamples> runs,
                const GateReport& report) {
  const StepKind kind = choose_steps(report.before, report.after).kind;
  json.key(name);
  json.begin_list();
  for (const RunSamples& run : runs) json.value(std::string_view(gate_forms_run_text(run, kind)));
  json.end_list();
}

}  // namespace

std::string gate_text(const GateReport& report, const Look& look) {
  std::string out =
      styled(gate_verdict(report), report.failed() ? Style::kBad : Style::kStrong, look) + "\n\n";
  if (!report.before.empty())
    out += fmt::format("  baseline  {}\n", runs_text(report.before, report));
  out += fmt::format("  run       {}\n\n", runs_text(report.after, report));
  constexpr std::string_view kIndent = "              ";
  for (const Judged& one : report.judged) {
    const std::size_t room = look.width > 60 ? look.width - kIndent.size() : 0;
    std::string_view margin;
    for (const std::string& line : wrapped(judged_text(one), room)) {
      out += margin.empty()
                 ? fmt::format("  {}", styled(fmt::format("{:<12}", name_of(one.outcome)),
                                              gate_forms_style_of(one.outcome), look))
                 : std::string(margin);
      out += line + "\n";
      margin = kIndent;
    }
  }
  return out;
}

std::string gate_md(const GateReport& report) {
  std::string out = fmt::format("## stepscope check: {}\n\n", markdown_text(gate_verdict(report)));
  if (!report.before.empty()) {
    out += fmt::format("- baseline: {}\n", markdown_text(runs_text(report.before, report)));
  }
  out += fmt::format("- run: {}\n\n| outcome | limit |\n|---|---|\n",
                     markdown_text(runs_text(report.after, report)));
  for (const Judged& one : report.judged) {
    const bool failed = fails(one, report.rules) || is_overlooked(one);
    out += fmt::format("| {}{}{} | {} |\n", failed ? "**" : "", name_of(one.outcome),
                       failed ? "**" : "", markdown_text(judged_text(one)));
  }
  return out;
}

std::string gate_json(const GateReport& report) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.check/1");
  json.member("failed", report.failed());
  json.member("verdict", std::string_view(gate_verdict(report)));
  write_runs(json, "baseline", report.before, report);
  write_runs(json, "runs", report.after, report);
  json.key("limits");
  json.begin_list();
  for (const Judged& one : report.judged) {
    json.begin_object();
    json.member("limit", std::string_view(one.limit.name));
    json.member("outcome", name_of(one.outcome));
    json.member("text", std::string_view(judged_text(one)));
    json.member("unit", std::string_view(unit_name(one.limit.unit)));
    write_figures(json, one);
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return std::move(json).finish();
}

std::string gate_junit(const GateReport& report) {
  const auto overlooked =
      static_cast<std::size_t>(std::ranges::count_if(report.judged, analysis::is_overlooked));
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "<testsuite name=\"stepscope check\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\">\n",
      report.judged.size(),
      std::ranges::count_if(report.judged,
                            [&](const Judged& one) { return fails(one, report.rules); }),
      overlooked, report.count(Outcome::kNotJudged) - overlooked);
  for (const Judged& one : report.judged) {
    const std::string text = html_text(printable(judged_text(one)));
    out += fmt::format("<testcase classname=\"stepscope.check\" name=\"{}\">",
                       html_text(printable(one.limit.name)));
    if (fails(one, report.rules)) {
      out += fmt::format("<failure message=\"{0}\">{0}</failure>", text);
    } else if (is_overlooked(one)) {
      out += fmt::format("<error message=\"{0}\">{0}</error>", text);
    } else if (one.outcome == Outcome::kNotJudged) {
      out += fmt::format("<skipped message=\"{}\"/>", text);
    } else {
      out += fmt::format("<system-out>{}: {}</system-out>", name_of(one.outcome), text);
    }
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n</testsuites>\n";
}

std::string gate_github(const GateReport& report) {
  std::string out;
  for (const Judged& one : report.judged) {
    const bool failed = fails(one, report.rules) || is_overlooked(one);
    if (!failed && (one.outcome == Outcome::kPassed || one.outcome == Outcome::kNotJudged))
      continue;
    const std::string_view level = failed                            ? "error"
                                   : one.outcome == Outcome::kUnsure ? "warning"
                                                                     : "notice";
    out += fmt::format("::{} title=stepscope check {}::{}\n", level, name_of(one.outcome),
                       command_text(judged_text(one)));
  }
  return out;
}

}  // namespace stepscope::report
