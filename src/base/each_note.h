// One walk over what a log holds, for everybody who shows it.
#pragma once

#include <cstddef>

#include "base/notes.h"

namespace stepscope::base {

// Calls f(note, about, entry) for every kind that was met, in the order of the notes.
template <class F>
void for_each_note(const ImportLog& log, F&& f) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Note::kCount); ++i) {
    const auto note = static_cast<Note>(i);
    if (log.count(note) != 0) f(note, info_of(note), log[note]);
  }
}

// The same of one severity.
template <class F>
void for_each_note(const ImportLog& log, Severity severity, F&& f) {
  for_each_note(log, [&](Note note, const NoteInfo& about, const ImportLog::Entry& entry) {
    if (about.severity == severity) f(note, about, entry);
  });
}

}  // namespace stepscope::base
