// What was odd while reading, as text and JSON.
#include "report/info/notes.h"

#include <fmt/format.h>

#include "base/each_note.h"
#include "base/standard_input.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {

std::vector<NoteInfoRow> notes_of(const base::ImportLog& log, const std::string& path) {
  std::vector<NoteInfoRow> rows;
  base::for_each_note(
      log, [&](base::Note note, const base::NoteInfo&, const base::ImportLog::Entry& entry) {
        rows.push_back({note, entry.count, path, entry.offset, entry.detail});
      });
  return rows;
}

std::string notes_text(std::span<const NoteInfoRow> notes, const std::string& folder,
                       const Look& look) {
  std::string text;
  for (const base::Severity severity : {base::Severity::kDataLoss, base::Severity::kInfo}) {
    const bool loss = severity == base::Severity::kDataLoss;
    TextTable table({{loss ? "Data was lost" : "Odd things met"},
                     {"count", Align::kRight},
                     {"", Align::kLeft, Fit::kWrap}});
    for (const NoteInfoRow& note : notes) {
      const base::NoteInfo& about = base::info_of(note.note);
      if (about.severity != severity) continue;
      table.add({Cell(std::string(about.id), loss ? Style::kBad : Style::kPlain),
                 count_text(note.count), std::string(about.meaning)});
      if (const std::string place = place_of(note, folder); !place.empty()) {
        table.add({"", "", Cell(fmt::format("first: {}", place), Style::kFaint)});
      }
    }
    if (!table.empty()) text += fmt::format("\n{}", table.render(look));
  }
  return text;
}

std::string nothing_odd_text(const Look& look, bool nothing_else) {
  const std::string_view text = nothing_else ? "Nothing else odd was met." : "Nothing odd was met.";
  return fmt::format("\n{}\n", styled(text, Style::kFaint, look));
}

std::string place_of(const NoteInfoRow& note, const std::string& folder) {
  constexpr std::size_t kMostDetail = 120;  // names of kernels go on for lines
  std::string_view path = note.path;        // of a memory snapshot it may lie elsewhere
  if (path.starts_with(folder)) path.remove_prefix(folder.size());
  std::string place = printable(base::name_of_input(path));
  if (note.offset != base::ImportLog::kNowhere) place += fmt::format(":{}", note.offset);
  std::string detail = printable(note.detail);
  // Notes of the run as a whole have their files in the detail, which must stay complete.
  if (note.path.empty()) {
    for (std::size_t at = 0; !folder.empty() && (at = detail.find(folder, at)) != detail.npos;) {
      detail.erase(at, folder.size());
    }
  } else {
    detail = cut_end(detail, kMostDetail);
  }
  if (!place.empty() && !detail.empty()) place += ", ";
  return place + detail;
}

void write_notes(JsonWriter& json, std::span<const NoteInfoRow> notes, bool with_path) {
  json.begin_list();
  for (const NoteInfoRow& note : notes) {
    const base::NoteInfo& about = base::info_of(note.note);
    json.begin_object();
    json.member("id", about.id);
    json.member("severity", about.severity == base::Severity::kDataLoss ? "data_loss" : "info");
    json.member("count", note.count);
    if (with_path) {
      json.key("path");
      note.path.empty() ? json.null() : json.value(note.path);
    }
    json.key("text_offset");
    note.offset == base::ImportLog::kNowhere ? json.null() : json.value(note.offset);
    json.member("detail", note.detail);
    json.member("meaning", about.meaning);
    json.end_object();
  }
  json.end_list();
}

}  // namespace stepscope::report
