#include "report/compare/sweep.h"

#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/table_line.h"
#include "report/tables/cell_text.h"
#include "report/tables/tables.h"
#include "report/writing/json_writer.h"
#include "report/writing/numbers.h"

namespace stepscope::report {
namespace {

using base::TableLine;

constexpr std::array<std::string_view, 13> kSweepColumns = {
    "num_workers", "persistent_workers", "pin_memory",      "non_blocking",     "prefetch_factor",
    "drop_last",   "batch_size",         "loading_time_ns", "training_time_ns", "outcome",
    "job",         "slower_share",       "peak_bytes"};
constexpr std::array<std::string_view, 7> kMore = {
    "setting", "loading_time_ns", "training_time_ns", "start_ns", "shared_bytes", "trials",
    "steps"};
constexpr std::array kSweepSettings = std::to_array<Part>({
    {.analysis = "loader-sweep", .table = "settings", .columns = kSweepColumns, .bars = false},
    {.analysis = "loader-sweep",
     .table = "settings",
     .shown = Shown::kChart,
     .columns = kMore,
     .caption = "time of a step: waiting for its batch, and what is done with it",
     .only_html = true},
});
constexpr std::array kSweepSections = std::to_array<Section>({
    {"Settings",
     "times are of one step: loading is what the loop waits for its batch, training what it does "
     "with it; slower is against the best, per sample where samples are known",
     kSweepSettings, ""},
});

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// "takes 12 % longer"; from twice the time on, how many times it takes.
std::string longer_text(double share) {
  return share < 1 ? fmt::format("takes {} longer", percent(share))
                   : fmt::format("takes {:.1f} times as long", 1 + share);
}

std::string share_of_confidence_text(double confidence) {
  return confidence > 0.99 ? "more than 99 %" : percent(confidence);
}

std::string sweep_step_text(const TableLine& row) {
  const double step = row.number("loading_time_ns") + row.number("training_time_ns");
  std::string text = fmt::format("{} per step", duration_text(std::llround(step)));
  if (row.has("training_time_ns")) {
    text += fmt::format(", {} of it waiting for data",
                        duration_text(std::llround(row.number("loading_time_ns"))));
  }
  return text;
}

std::string untried_text(std::int64_t count) {
  if (count == 0) return "";
  return fmt::format("; {} {} not tried: a larger --budget", count, count == 1 ? "was" : "were");
}

std::size_t measured_rows(const base::Table& settings) {
  std::size_t count = 0;
  for (std::size_t row = 0; row < settings.rows(); ++row) {
    count += TableLine(settings, row).has("loading_time_ns") ? 1 : 0;
  }
  return count;
}

}  // namespace

std::string sweep_sentence(const analysis::Answer& sweep) {
  const base::Table& settings = sweep.tables[0];
  const base::Table& chosen = sweep.tables[1];
  if (chosen.rows() == 0) return "no setting could be measured";
  const TableLine best(chosen, 0);
  const TableLine first(settings, 0);
  // As the others are named: by what differs. All keywords are in the line to paste.
  const std::string_view label =
      best.whole("tried") < 2 ? best.text("keywords") : first.text("setting");
  const std::string name =
      best.text("keywords").empty() ? "the target as it is" : std::string(label);
  const std::string step = sweep_step_text(first);
  const std::string untried = untried_text(best.whole("not_tried"));
  if (best.whole("tried") < 2) {
    const std::size_t runs = measured_rows(settings);
    if (runs > 1) {
      return fmt::format(
          "the {} runs have the same settings, so there is nothing to choose: {}, {}", runs, name,
          step);
    }
    return fmt::format(
        "{} is the only setting that was measured, so there is nothing to compare it with: {}{}",
        name, step, untried);
  }
  if (best.has("not_told_apart")) {
    return fmt::format(
        "not told apart: {}; the times of each vary more than they differ, so any may be the "
        "fastest (the first asks for least: {}), and more trials would tell{}",
        best.text("not_told_apart"), step, untried);
  }
  // Nothing is said about what was not tried.
  const bool is_all = best.whole("not_tried") + best.whole("left_out") == 0;
  const std::string of = is_all ? "" : fmt::format(" of the {} tried", best.whole("tried"));
  std::string out = best.whole("as_good") > 0
                        ? fmt::format("{} is the best{} that asks for least", name, of)
                        : fmt::format("{} is the fastest{}", name, of);
  out += fmt::format(": {}", step);
  if (best.whole("as_good") > 0) {
    out += fmt::format("; {} as fast and ask{} for more",
                       best.whole("as_good") == 1
                           ? "1 other setting is"
                           : fmt::format("{} other settings are", best.whole("as_good")),
                       best.whole("as_good") == 1 ? "s" : "");
  }
  if (best.has("next")) {
    out += fmt::format("; with {} a {} {}", best.text("next"),
                       best.whole("by_sample") != 0 ? "sample" : "step",
                       longer_text(best.number("next_slower_share")));
  }
  return out + untried;
}

Page make_sweep_page(const Answers& answers, std::vector<NamedText> facts,
                     std::vector<NamedText> next) {
  Page page;
  const analysis::Answer& sweep = answers.answers.front().answer;
  page.title = sweep_sentence(sweep);
  page.long_title = true;
  if (const base::Table& chosen = sweep.tables[1]; chosen.rows() > 0) {
    const TableLine best(chosen, 0);
    // What was not tried may be faster, whatever was found among the others.
    const bool is_sure =
        best.whole("tried") > 1 && !best.has("not_told_apart") && best.whole("not_tried") == 0;
    if (is_sure) {
      page.facts.push_back({.name = "Paste",
                            .text = fmt::format("DataLoader(..., {})", best.text("keywords")),
                            .is_code = true});
    }
    if (is_sure && best.has("confidence")) {
      page.facts.push_back(
          {"Confidence", fmt::format("{} that no other setting tried is faster by more than 2 %",
                                     share_of_confidence_text(best.number("confidence")))});
    }
  }
  for (NamedText& fact : facts) page.facts.push_back(std::move(fact));
  add_sections(kSweepSections, answers, page);
  page.one_rank = true;
  page.next = std::move(next);
  return page;
}

std::string sweep_json(const analysis::Answer& sweep) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.sweep/1");
  json.member("sentence", std::string_view(sweep_sentence(sweep)));
  write_answer(json, sweep);
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::report
