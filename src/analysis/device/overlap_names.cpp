#include "analysis/device/overlap_names.h"

#include <string_view>

#include "analysis/device/classes.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

bool carried_out_by_host(std::string_view range) {
  return range.starts_with("gloo:") || range.starts_with("mpi:");
}

}  // namespace

std::optional<CollectiveName> CollectiveNames::said_by(Row row) const {
  const trace::CollectiveTable& collectives = trace_->collectives();
  const std::uint32_t entry = collectives.rows.find(row);
  if (entry == base::RowSet::kNone) return std::nullopt;
  CollectiveName out{std::string(trace_->text(collectives.name[entry])), std::nullopt};
  if (const base::StringId group = collectives.group_name[entry]; group != base::kNoString) {
    out.group = std::string(trace_->text(group));
  }
  return out;
}

CollectiveName CollectiveNames::of(const Work& piece) const {
  if (auto name = said_by(piece.row)) return *name;
  std::string_view range;
  if (piece.launch != trace::kNoRow) {
    for (Row row = trace_->parent()[piece.launch]; row != trace::kNoRow;
         row = trace_->parent()[row]) {
      if (auto name = said_by(row)) return *name;
      const Kind kind = trace_->kind()[row];
      const bool named = kind == Kind::kCpuOp || kind == Kind::kAnnotation;
      if (range.empty() && named && names_communication_call(trace_->name_text(row))) {
        range = trace_->name_text(row);
      }
    }
  }
  return {std::string(range.empty() ? trace_->name_text(piece.row) : range), std::nullopt};
}

std::map<std::string, std::vector<Interval>> host_communication(const trace::Trace& trace) {
  std::map<std::string, std::vector<Interval>> out;
  std::vector<std::uint8_t> known(trace.strings().size());  // by name: 0 not asked, 1 no, 2 yes
  for (Row row = 0; row < trace.size(); ++row) {
    const Kind kind = trace.kind()[row];
    if (kind != Kind::kCollective && kind != Kind::kAnnotation && kind != Kind::kCpuOp) continue;
    if ((trace.flags()[row] & trace::kFarTime) != 0) continue;
    const base::StringId name = trace.name()[row];
    if (name == base::kNoString) continue;
    if (kind != Kind::kCollective) {
      if (known[name] == 0) known[name] = carried_out_by_host(trace.text(name)) ? 2 : 1;
      if (known[name] == 1) continue;
    }
    out[std::string(trace.text(name))].push_back({trace.start()[row], trace.end(row)});
  }
  return out;
}

}  // namespace stepscope::analysis
