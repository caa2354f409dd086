// An analysis is a pure function of a prepared view, plus the row that describes it: the question
// it answers, its parameters, and the tables it returns. Commands, docs and bindings are made from
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "base/units.h"

namespace stepscope::analysis {

struct RunView;

enum class ParameterType : std::uint8_t {
  kCount,     // a whole number, 0 or more
  kNumber,    // 0 or more, with decimals: "380.5"
  kDuration,  // "30us", "1.5ms", "200" (ns)
  kShare,     // 0 to 1, or "20%"
  kText,
  kChoice,
  kSwitch,
  kSize,  // of a memory: "80GiB", "80GB", "85899345920" (bytes); may be left unset
};

struct Parameter {
  std::string_view name;  // "min-gap": --min-gap on the command line, min_gap in Python
  ParameterType type = ParameterType::kText;
  std::string_view default_value = {};  // the default, as it would be written; empty: not set
  std::string_view about = {};
  std::span<const std::string_view> choices = {};
};

// Values of an analysis' parameters, checked against its row: every parameter has a value, but
// for sizes that are not known.
class Options {
 public:
  std::int64_t count(std::string_view name) const { return whole_.at(std::string(name)); }
  base::Nanos duration(std::string_view name) const { return whole_.at(std::string(name)); }
  // Not set: not known.
  std::optional<base::Bytes> size(std::string_view name) const {
    const auto found = whole_.find(std::string(name));
    return found == whole_.end() ? std::nullopt : std::optional(found->second);
  }
  double number(std::string_view name) const { return real_.at(std::string(name)); }
  double share(std::string_view name) const { return real_.at(std::string(name)); }
  std::string_view text(std::string_view name) const { return text_.at(std::string(name)); }
  bool on(std::string_view name) const { return whole_.at(std::string(name)) != 0; }

 private:
  friend base::Result<Options> parse_options(std::span<const Parameter> parameters,
                                             const std::map<std::string, std::string>& given);
  std::map<std::string, std::int64_t> whole_;
  std::map<std::string, double> real_;
  std::map<std::string, std::string> text_;
};

// Errors name the parameter and what it takes.
base::Result<Options> parse_options(std::span<const Parameter> parameters,
                                    const std::map<std::string, std::string>& given);

// A plain sentence: what could not be answered, and why.
struct Remark {
  // Most are about the whole answer and are nothing but their text.
  Remark(std::string said) : text(std::move(said)) {}
  static Remark on_table(std::string_view table, std::string said) {
    Remark remark(std::move(said));
    remark.table = table;
    return remark;
  }
  static Remark on_limit(std::string said) {
    Remark remark(std::move(said));
    remark.of_limit = true;
    return remark;
  }

  std::string text;
  std::string_view table = {};  // the only one it is about; empty: the whole answer
  bool of_limit = false;        // about rows that a parameter leaves out, and how to see them
};

struct Answer {
  std::vector<base::Table> tables;  // in the order of Analysis::tables, all of them
  std::vector<Remark> remarks;
};

// What must have been recorded for an analysis to have anything to say.
enum class Needs : std::uint8_t {
  kTrace,
  kSnapshot,            // of an allocator's memory
  kSnapshotOrTimeline,  // or what export_memory_timeline wrote
  kSnapshotOrStats,     // or what torch.cuda.memory_stats said
  kRecording,           // what a process recorded of itself
  kEither,              // says itself what it makes of what there is
  kSystem,              // what was sampled of the machines
};
// Whether it is of what an allocator recorded, and not of a trace.
inline bool is_of_memory(Needs needs) {
  return needs == Needs::kSnapshot || needs == Needs::kSnapshotOrTimeline ||
         needs == Needs::kSnapshotOrStats;
}

struct Analysis {
  std::string_view name;      // "idle-time"
  std::string_view title;     // "Idle time"
  std::string_view question;  // "Why is the GPU waiting?"
  std::span<const Parameter> parameters;
  std::span<const base::TableShape> tables;
  Answer (*run)(const RunView& view, const Options& options);
  Needs needs = Needs::kTrace;
};

// The sentence for a recording that lacks what the analysis needs; empty where it has it.
std::string why_not_answered(const Analysis& analysis, const RunView& view);
// Every table of the analysis without rows, and the sentence.
Answer unanswered(const Analysis& analysis, std::string why);

// Every analysis, in the order a person asks.
std::span<const Analysis* const> analyses();
const Analysis* find_analysis(std::string_view name);

// Of an answer: the table of this name, nothing where it has none.
inline const base::Table* table_of(const Answer& answer, std::string_view name) {
  const auto found = std::ranges::find(answer.tables, name, &base::Table::name);
  return found == answer.tables.end() ? nullptr : &*found;
}

}  // namespace stepscope::analysis
