// The page of `stepscope sweep`, and the functions that its scheduler in Python uses.
#include "session/compare/sweeping.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "python/recording.h"
#include "report/page/page.h"
#include "report/writing/numbers.h"
#include "session/machine.h"

namespace stepscope::python {
namespace {

namespace nb = nanobind;
using base::Type;
using base::Unit;

constexpr std::array kSweepSettingColumns = std::to_array<base::ColumnShape>({
    {"setting", Type::kText, Unit::kNone, "what distinguishes it from the others"},
    {"num_workers", Type::kInt, Unit::kCount, "processes that make batches; 0: the loop itself"},
    {"persistent_workers", Type::kBool, Unit::kNone, "they stay from one pass to the next"},
    {"pin_memory", Type::kBool, Unit::kNone, "batches are copied to memory that GPUs read fast"},
    {"non_blocking", Type::kBool, Unit::kNone,
     "copies to the GPU are not waited for; not known of finished jobs"},
    {"prefetch_factor", Type::kInt, Unit::kCount, "batches each worker makes ahead"},
    {"drop_last", Type::kBool, Unit::kNone, "a last batch that is not full is left out"},
    {"batch_size", Type::kInt, Unit::kCount, "samples of a batch"},
    {"loading_time_ns", Type::kReal, Unit::kNanos,
     "per step: the loop waits for its batch, the beginning of passes shared out"},
    {"training_time_ns", Type::kReal, Unit::kNanos,
     "per step: what the loop does with the batch; empty: nothing"},
    {"samples_per_second", Type::kReal, Unit::kPerSecond, "empty: not known"},
    {"slower_share", Type::kReal, Unit::kShare,
     "takes longer than the best, per sample (per step where samples are not known)"},
    {"start_ns", Type::kReal, Unit::kNanos, "until the first batch of a pass came"},
    {"peak_bytes", Type::kInt, Unit::kBytes,
     "memory of all its processes, what they share counted once"},
    {"shared_bytes", Type::kInt, Unit::kBytes, "at most in /dev/shm, through which batches travel"},
    {"trials", Type::kInt, Unit::kCount, "processes that measured it"},
    {"steps", Type::kInt, Unit::kCount, "measured, without warm-up"},
    {"outcome", Type::kText, Unit::kNone,
     "best, as good, slower, not told apart; fastest tried, where others were not; or what went "
     "wrong"},
    {"job", Type::kText, Unit::kNone, "of the scheduler, or the run"},
});
constexpr std::array kSweepBestColumns = std::to_array<base::ColumnShape>({
    {"keywords", Type::kText, Unit::kNone,
     "to be given to the DataLoader (non_blocking: to copies)"},
    {"confidence", Type::kReal, Unit::kShare,
     "that no other setting is faster by more than 2 %; empty: no other was measured, or some were "
     "not tried for want of time"},
    {"next_slower_share", Type::kReal, Unit::kShare, "how much longer the next best takes"},
    {"next", Type::kText, Unit::kNone, "the next best that is not as good"},
    {"as_good", Type::kInt, Unit::kCount,
     "settings that cannot be told apart from it, and ask for more"},
    {"by_sample", Type::kBool, Unit::kNone, "times were compared per sample, not per step"},
    {"not_told_apart", Type::kText, Unit::kNone,
     "settings of which any may be the fastest, this one first; empty: the best is sure enough"},
    {"tried", Type::kInt, Unit::kCount, "settings that were measured"},
    {"not_tried", Type::kInt, Unit::kCount, "settings that there was no time for"},
    {"left_out", Type::kInt, Unit::kCount,
     "combinations that were never meant to be tried: settings were varied one after the other"},
});
constexpr std::array<std::string_view, 2> kSweepTimes = {"loading_time_ns", "training_time_ns"};
constexpr std::array kSweepTables = std::to_array<base::TableShape>({
    {"settings",
     "one setting, the best first",
     kSweepSettingColumns,
     {base::Chart::kStack, "setting", kSweepTimes}},
    {"best", "the setting to take", kSweepBestColumns},
});
// Only its name and tables are used: nothing is asked about it.
const analysis::Analysis kSweepAnswer{
    .name = "loader-sweep",
    .title = "Settings of the loader",
    .question = "Which settings of the DataLoader are fastest?",
    .parameters = {},
    .tables = kSweepTables,
    .run = nullptr,
    .needs = analysis::Needs::kRecording,
};

constexpr std::array<std::string_view, 13> kSweepColumns = {
    "num_workers", "persistent_workers", "pin_memory",      "non_blocking",     "prefetch_factor",
    "drop_last",   "batch_size",         "loading_time_ns", "training_time_ns", "outcome",
    "job",         "slower_share",       "peak_bytes"};
constexpr std::array<std::string_view, 7> kSweepMoreColumns = {
    "setting", "loading_time_ns", "training_time_ns", "start_ns", "shared_bytes", "trials",
    "steps"};
constexpr std::array kSweepParts = std::to_array<report::Part>({
    {.analysis = "loader-sweep", .table = "settings", .columns = kSweepColumns, .bars = false},
    {.analysis = "loader-sweep",
     .table = "settings",
     .shown = report::Shown::kChart,
     .columns = kSweepMoreColumns,
     .caption = "time of a step: waiting for its batch, and what is done with it",
     .only_html = true},
});
constexpr std::array kSweepSections = std::to_array<report::Section>({
    {"Settings",
     "times are of one step: loading is what the loop waits for its batch, training what it does "
     "with it; slower is against the best, per sample where samples are known",
     kSweepParts, ""},
});

base::Cell cell_of(const nb::handle& value, Type type, std::string& text) {
  if (value.is_none()) return base::Null{};
  switch (type) {
    case Type::kBool:
      return nb::cast<bool>(value);
    case Type::kInt:
      return nb::cast<std::int64_t>(value);
    case Type::kReal:
      return nb::cast<double>(value);
    default:
      text = nb::cast<std::string>(value);
      return text;
  }
}

// Rows are dictionaries; what they lack is null.
base::Table table_of(const base::TableShape& shape, const nb::list& rows) {
  base::Table table(shape);
  for (const nb::handle row : rows) {
    std::vector<std::string> texts(shape.columns.size());  // which the cells point to
    std::vector<base::Cell> cells;
    for (const base::ColumnShape& column : shape.columns) {
      const nb::object value = row.attr("get")(nb::cast(std::string(column.name)));
      cells.push_back(cell_of(value, column.type, texts[cells.size()]));
    }
    table.add(cells);
  }
  return table;
}

class SweepPage {
 public:
  using Fact = std::tuple<std::string, std::string, bool>;  // name, text, whether it is code

  SweepPage(std::string title, const std::vector<Fact>& facts, std::vector<std::string> remarks,
            const nb::list& settings, const nb::list& best)
      : title_(std::move(title)) {
    for (const auto& [name, text, is_code] : facts) facts_.push_back({name, text, is_code});
    analysis::Answer answer;
    answer.tables.push_back(table_of(kSweepTables[0], settings));
    answer.tables.push_back(table_of(kSweepTables[1], best));
    for (std::string& remark : remarks) answer.remarks.emplace_back(std::move(remark));
    answers_.answers.push_back({&kSweepAnswer, std::move(answer)});
  }

  std::vector<AnsweredTable> tables() const {
    std::vector<AnsweredTable> out;
    for (const base::Table& table : answers_.answers.front().answer.tables) {
      out.push_back({std::make_shared<const base::Table>(table)});
    }
    return out;
  }

  // `has_html`: the page with a chart was asked for.
  report::Page page(bool has_html) const {
    report::Page page;
    page.title = title_;
    page.long_title = true;
    page.facts = facts_;
    report::add_sections(kSweepSections, answers_, page);
    page.one_rank = true;
    page.next.push_back(
        {"stepscope analyze loader RUN", "what the workers of a recorded run spend their time on"});
    if (!has_html) {
      page.next.push_back(
          {"stepscope sweep dataloader --html sweep.html …", "this page with a chart"});
    }
    return page;
  }

 private:
  std::string title_;
  std::vector<report::NamedText> facts_;
  report::Answers answers_;
};

void bind_page(nb::module_& module) {
  nb::class_<SweepPage>(module, "SweepPage")
      .def(nb::init<std::string, const std::vector<SweepPage::Fact>&, std::vector<std::string>,
                    const nb::list&, const nb::list&>(),
           nb::arg("title"), nb::arg("facts"), nb::arg("remarks"), nb::arg("settings"),
           nb::arg("best"))
      .def("tables", &SweepPage::tables)
      .def(
          "text",
          [](const SweepPage& self, std::size_t width, bool colour, bool has_html) {
            return report::page_text(self.page(has_html), {.colour = colour, .width = width});
          },
          nb::arg("width"), nb::arg("colour"), nb::arg("has_html"))
      .def(
          "md",
          [](const SweepPage& self, bool has_html) { return report::page_md(self.page(has_html)); },
          nb::arg("has_html"))
      .def("html", [](const SweepPage& self) {
        return report::page_html(self.page(true), cli::version_line());
      });
}

}  // namespace

void bind_sweeping(nb::module_& module) {
  bind_page(module);
  module.def("available_memory", [] { return session::available_memory({}); });
  module.def("bytes_text", report::bytes_text, nb::arg("count"));
  module.def("duration_text", report::duration_text, nb::arg("ns"));
  module.def("warmup_steps", session::warmup_steps, nb::arg("steps"));
  module.def(
      "mean_estimate",
      [](const std::vector<double>& settled) {
        const session::MeanStep found = session::mean_step(settled);
        return std::pair(found.value, found.variance);
      },
      nb::arg("settled"));
  module.def("student_tail", session::student_tail, nb::arg("t"), nb::arg("freedom"));
}

}  // namespace stepscope::python
