// What was odd while reading, as rows, as text and as JSON; the same for traces and memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/notes.h"
#include "report/info/info.h"
#include "report/writing/json_writer.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

// Of one file, by kind.
std::vector<NoteInfoRow> notes_of(const base::ImportLog& log, const std::string& path);

// A table of what was lost and one of the rest; nothing when nothing was met. Paths are shown
// without `folder`.
std::string notes_text(std::span<const NoteInfoRow> notes, const std::string& folder,
                       const Look& look);
std::string nothing_odd_text(const Look& look, bool nothing_else = false);

// Where a note's example is: "rank0.json:81920, aten::add".
std::string place_of(const NoteInfoRow& note, const std::string& folder);

void write_notes(JsonWriter& json, std::span<const NoteInfoRow> notes, bool with_path);

}  // namespace stepscope::report
