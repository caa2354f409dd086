// Findings as JSON and as a table.
#include <algorithm>
#include <array>
#include <utility>

#include "report/findings/advice.h"
#include "report/tables/cell_text.h"

namespace stepscope::report {
namespace {

using base::Type;
using base::Unit;

template <class T>
void optional_member(JsonWriter& json, std::string_view name, const std::optional<T>& value) {
  json.key(name);
  if (value) {
    json.value(*value);
  } else {
    json.null();
  }
}

void gain_member(JsonWriter& json, std::string_view name, const std::optional<advice::Gain>& gain) {
  json.key(name);
  if (!gain) return json.null();
  json.begin_object();
  json.member("low_ns", gain->low);
  json.member("high_ns", gain->high);
  json.end_object();
}

void write_finding(JsonWriter& json, const advice::Advice& advice, const advice::Finding& finding) {
  json.begin_object();
  json.member("rule", finding.rule);
  json.member("cause", finding.cause);
  json.member("level", advice::name_of(finding.level));
  json.member("title", sentence_text(finding.title));
  json.member("detail", detail_text(finding));
  json.key("measured");
  json.begin_object();
  json.member("name", finding.measured.name);
  json.member("value", finding.measured.value);
  json.member("whole_ns", finding.measured.whole_ns);
  json.member("threshold", finding.measured.threshold);
  json.member("unit", unit_name(finding.measured.unit));
  json.end_object();
  gain_member(json, "gain_per_step", finding.gain);
  gain_member(json, "recorded_gain_per_step", finding.here);
  gain_member(json, "remaining_gain_per_step", finding.remaining);
  if (finding.untraced_step_ns > 0) {
    json.member("untraced_step_ns", finding.untraced_step_ns);
  }
  json.member("confidence", advice::name_of(finding.confidence));
  json.key("ranks");
  json.begin_list();
  for (const std::int32_t rank : finding.ranks) json.value(rank);
  json.end_list();
  json.key("evidence");
  json.begin_list();
  for (const advice::Evidence& evidence : finding.evidence) {
    json.begin_object();
    json.member("text", sentence_text(evidence.text));
    optional_member(json, "rank", evidence.rank);
    optional_member(json, "window", evidence.window);
    optional_member(json, "step", evidence.step);
    optional_member(json, "event", evidence.event);
    json.key("kernels");  // by their whole names, which the text shortens
    json.begin_list();
    for (const advice::Figure& figure : evidence.text.figures) {
      if (figure.is_kernel) json.value(figure.text);
    }
    json.end_list();
    json.end_object();
  }
  json.end_list();
  json.key("changes");
  json.begin_list();
  for (const advice::Change& change : finding.changes) {
    json.begin_object();
    json.member("why", change.why);
    json.member("code", change.code);
    json.end_object();
  }
  json.end_list();
  // The same wherever it is read: a server knows the run by another path.
  json.member("verify", verify_text(advice, finding, {}));
  json.member("page", finding.page());
  json.end_object();
}

constexpr std::array kFindingColumns = std::to_array<base::ColumnShape>({
    {"rule", Type::kText, Unit::kNone, "stable name of the rule"},
    {"cause", Type::kText, Unit::kNone, "input, transfer, launch, sync and the like"},
    {"level", Type::kText, Unit::kNone, "info, notice, warning or critical"},
    {"title", Type::kText, Unit::kNone, "the finding in one sentence"},
    {"value", Type::kReal, Unit::kNone, "what was measured"},
    {"threshold", Type::kReal, Unit::kNone, "what it was held against"},
    {"unit", Type::kText, Unit::kNone, "of the two; empty: a number as it is"},
    {"gain_low_ns", Type::kInt, Unit::kNanos, "a step gains at least this; null: not about time"},
    {"gain_high_ns", Type::kInt, Unit::kNanos, "and at most this"},
    {"remaining_low_ns", Type::kInt, Unit::kNanos,
     "of the gain, once the findings above are mended; null: it is the first"},
    {"remaining_high_ns", Type::kInt, Unit::kNanos, "the same, at most"},
    {"confidence", Type::kText, Unit::kNone, "low, medium or high"},
    {"ranks", Type::kIntList, Unit::kId, "that show it, the worst first"},
    {"change", Type::kText, Unit::kNone, "what to try first"},
    {"verify", Type::kText, Unit::kNone, "how to see that it helped"},
    {"page", Type::kText, Unit::kNone, "where it is explained"},
});
constexpr base::TableShape kShape{"findings", "one finding, the gravest first", kFindingColumns};

base::Cell bound(const std::optional<advice::Gain>& gain, bool low) {
  return gain ? base::Cell(low ? gain->low : gain->high) : base::Cell(base::Null{});
}

}  // namespace

void write_advice(JsonWriter& json, const advice::Advice& advice) {
  // Neither healthy nor with a fault: not known.
  const bool faulty = std::ranges::any_of(advice.findings, [](const advice::Finding& one) {
    return one.level >= advice::Level::kWarning;
  });
  json.key("healthy");
  if (advice.healthy || faulty) {
    json.value(advice.healthy);
  } else {
    json.null();
  }
  json.member("step_ns", advice.step_ns);
  json.member("steps_guessed", advice.left_out_by_guess.has_value());
  json.key("verdict");
  json.begin_list();
  for (const advice::Sentence& sentence : advice.verdict) json.value(sentence_text(sentence));
  json.end_list();
  json.key("findings");
  json.begin_list();
  for (const advice::Finding& finding : advice.findings) write_finding(json, advice, finding);
  json.end_list();
  json.key("not_judged");
  json.begin_list();
  for (const advice::NotJudged& one : advice.not_judged) {
    json.begin_object();
    json.member("rule", one.rule);
    json.member("why", one.why);
    json.member("wanted", advice::name_of(one.wanted));
    json.member("record", one.record);
    json.end_object();
  }
  json.end_list();
}

std::string advice_json(const advice::Advice& advice) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.advice/1");
  write_advice(json, advice);
  json.end_object();
  return std::move(json).finish();
}

base::Table findings_table(const advice::Advice& advice) {
  base::Table table(kShape);
  for (const advice::Finding& finding : advice.findings) {
    const std::vector<std::int64_t> ranks(finding.ranks.begin(), finding.ranks.end());
    const std::string change =
        finding.changes.empty() ? std::string() : finding.changes.front().why;
    table.add({finding.rule, finding.cause, advice::name_of(finding.level),
               sentence_text(finding.title), finding.measured.value, finding.measured.threshold,
               unit_name(finding.measured.unit), bound(finding.gain, true),
               bound(finding.gain, false), bound(finding.remaining, true),
               bound(finding.remaining, false), advice::name_of(finding.confidence),
               std::span<const std::int64_t>(ranks), change, verify_text(advice, finding, {}),
               finding.page()});
  }
  return table;
}

}  // namespace stepscope::report
