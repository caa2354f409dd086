// Findings as people and machines read them: text, Markdown, HTML, JSON, a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advice/finding.h"
#include "base/table.h"
#include "report/writing/json_writer.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

std::string sentence_text(const advice::Sentence& sentence);
// "2.65 s to 2.95 s per step (88.0 % to 97.8 %)"; empty where a finding is not about time.
std::string gain_text(const advice::Advice& advice, const advice::Finding& finding);
// How to see that it is mended: what the rule says, and what a comparison of the two recordings
// must show; path: of this one, as it is to be typed.
std::string verify_text(const advice::Advice& advice, const advice::Finding& finding,
                        std::string_view path);
// "high", and what that does not say.
// What the bounds of the gain leave out and count; empty where nothing is to be said.
std::string about_gain_text(const advice::Finding& finding);
// All that is said about the finding, for forms that have one place for it.
std::string detail_text(const advice::Finding& finding);
std::string confidence_text(const advice::Finding& finding);
// "rank 0, step 5, event 1234"; empty where nothing is known.
std::string place_text(const advice::Evidence& evidence);
std::string measure_text(const advice::Measure& measure);
// What shows the first event of a finding's evidence, to be typed: "stepscope serve a.json --event
// 0.0.12"; empty where there is no event, or no path was typed.
std::string open_command(const advice::Advice& advice, const advice::Finding& finding);
// What to type for a change, with the path of this run in a command.
std::string code_text(const advice::Advice& advice, const advice::Change& change);
// What shows the page of its rule, wherever the program was installed: "stepscope advise --explain
// host-sync".
std::string explain_command(const advice::Finding& finding);
// "Shapes were not recorded. Record: …."
std::string missing_text(const advice::NotJudged& missing);

// Rules that could not judge, by what to record for them.
struct RulesByWanted {
  advice::Wanted wanted;
  std::vector<std::string_view> rules;
};
std::vector<RulesByWanted> rules_by_wanted(const advice::Advice& advice);

// A finding shows why, what to change and the gain. kFirst: only the first does, the others take a
// few lines. kEverything: also how each was measured, where to look and how to check a change, and
// for each rule that could not judge the reason.
enum class AdviceLength : unsigned char { kAll, kFirst, kEverything };

// The section of a page, without its heading.
std::string advice_text(const advice::Advice& advice, const Look& look,
                        AdviceLength length = AdviceLength::kAll);
// The first finding and as many others as `most` lines have room for.
std::string brief_advice_text(const advice::Advice& advice, const Look& look, std::size_t most);
std::string advice_md(const advice::Advice& advice, AdviceLength length = AdviceLength::kAll);
std::string advice_html(const advice::Advice& advice);

// "stepscope.advice/1", described in docs/cli/advise.md.
std::string advice_json(const advice::Advice& advice);
// The members of its object but the schema.
void write_advice(JsonWriter& json, const advice::Advice& advice);

// The rules with what they ask, and all thresholds.
std::string rules_text(const Look& look);

std::vector<std::string_view> rule_names();
// One rule: what it asks and needs, what to record for it, its thresholds; empty for another name.
std::string rule_text(std::string_view id, const Look& look);

// SARIF 2.1.0, for code-review tools; `version` is the program's, `recording` the path of what was
// read, seen from where reviewers look.
std::string advice_sarif(const advice::Advice& advice, std::string_view version,
                         std::string_view recording);

// A row per finding, for those who compute with them.
base::Table findings_table(const advice::Advice& advice);

}  // namespace stepscope::report
