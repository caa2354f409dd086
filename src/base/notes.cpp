// The notes of a reader: their ids and meanings, and how they are counted.
#include "base/notes.h"

#include <array>

namespace stepscope::base {
namespace {

constexpr Severity kInfo = Severity::kInfo;
constexpr Severity kLoss = Severity::kDataLoss;

constexpr std::array<NoteInfo, static_cast<std::size_t>(Note::kCount)> kNotes = {{
    {"truncated", kLoss, "the file ends in the middle; everything complete before that was kept"},
    {"damaged_compression", kLoss,
     "the compressed stream is damaged or cut; what could be unpacked was kept, and where a "
     "checksum is wrong, values in it may be, too"},
    {"endless_event", kLoss,
     "an event goes on for more than 64 MiB: it and all behind it were not read"},
    {"no_closing_bracket", kInfo, "the list of events is not closed; some tools never close it"},
    {"unreadable_metadata", kInfo, "a header value is not valid JSON and was skipped"},
    {"metadata_too_large", kInfo, "a header value is too large to keep and was skipped"},
    {"more_behind_the_end", kLoss,
     "another document, or another list of events: a file holds one trace, and this was not read"},
    {"words_behind_the_end", kInfo, "text behind the end of the trace that is none of it"},
    {"unreadable_event", kLoss, "text between events could not be understood and was skipped"},
    {"not_an_object", kLoss, "an entry of the event list is not an object"},
    {"without_phase", kLoss, "an event has no 'ph'"},
    {"without_timestamp", kLoss, "an event has no usable 'ts'"},
    {"without_name", kInfo, "an event has no name"},
    {"unknown_phase", kInfo, "an event of a phase we do not know was kept as an instant"},
    {"broken_utf8", kInfo, "text that is not UTF-8 was repaired"},
    {"control_character", kInfo, "a string holds an unescaped control character; it was kept"},
    {"unescaped_quote", kInfo, "a string holds an unescaped quote; the event was recovered"},
    {"bare_word", kInfo, "a value such as N/A, NaN or Infinity that JSON does not have"},
    {"stray_comma", kInfo, "a comma before a closing bracket, or two in a row"},
    {"missing_comma", kInfo, "two members without a comma between them"},
    {"bad_escape", kInfo, "a backslash that escapes nothing; it was kept as it stands"},
    {"number_as_text", kInfo, "a time was written as a string"},
    {"sub_nanosecond", kInfo, "a time has digits below the nanosecond; it was rounded"},
    {"time_out_of_range", kLoss, "a time is more than 146 years from zero"},
    {"without_duration", kInfo, "a complete event has no duration; 0 was taken"},
    {"negative_duration", kInfo, "a duration below zero; not summed"},
    {"absurd_duration", kInfo, "a duration of more than 30 days; not summed"},
    {"far_from_the_rest", kInfo, "a time more than a day away from the rest; not in the span"},
    {"unclosed_begin", kInfo, "a span was still open when the recording stopped"},
    {"end_without_begin", kInfo, "a span ended that was not seen to begin"},
    {"unclosed_async", kInfo, "an asynchronous span was still open when the recording stopped"},
    {"async_end_without_begin", kInfo, "an asynchronous span ended that was not seen to begin"},
    {"callee_outlives_caller", kInfo,
     "a call ends up to 1 us after its caller: clock noise, kept as a call"},
    {"overlapping_spans", kInfo, "spans of one thread overlap without nesting; they are siblings"},
    {"without_launch", kInfo, "device work whose launch is not in the file"},
    {"shared_correlation", kInfo,
     "launches that share a correlation id; the nearest before was taken"},
    {"before_its_launch", kInfo, "device work that starts before its launch: clock noise"},
    {"unknown_action", kInfo, "an allocator event of a kind we do not know; kept under its name"},
    {"incomplete_record", kInfo, "an allocator event lacks its address or size; 0 was taken"},
    {"unknown_value", kInfo, "a part of the snapshot that we do not know was skipped"},
    {"records_dropped", kLoss, "the process recorded faster than it could be written"},
    {"not_finished", kInfo,
     "the process did not finish its recording: killed, or still running: up to half a second may "
     "be missing; or its disk was full: all since then is"},
    {"clock_was_set", kInfo, "somebody set the wall clock meanwhile; it was not followed"},
    {"rank_from_file_name", kInfo, "the file does not say its rank; taken from its name"},
    {"rank_from_order", kInfo,
     "neither file nor name says the rank; numbered in order of the names"},
    {"rank_conflict", kInfo, "files of different processes say the same rank"},
    {"ranks_apart", kInfo,
     "ranks were recorded at different times: separate runs, most likely; open each by itself"},
    {"several_windows", kInfo, "several files of one rank: separate recording windows of it"},
    {"partial_file", kInfo, "a file its writer had not finished; read as far as it goes"},
    {"earlier_attempts", kInfo,
     "the run was started again: its last attempt was read, the others were left out"},
    {"no_device_events", kInfo,
     "no work on any device was recorded; see docs/start/no-gpu-events.md"},
    {"without_base_time", kInfo, "no baseTimeNanoseconds: times are as the file has them"},
    {"unreadable_file", kLoss, "a file of the folder could not be read; the others were"},
    {"skipped_file", kInfo, "a file of the folder was left out, for the reason given"},
}};

}  // namespace

const NoteInfo& info_of(Note note) { return kNotes[static_cast<std::size_t>(note)]; }

bool loses_the_end(Note note) {
  return note == Note::kTruncated || note == Note::kDamagedCompression ||
         note == Note::kEndlessEvent;
}

void ImportLog::add(Note note, std::uint64_t offset, std::string_view detail, std::uint64_t count) {
  entries_.resize(static_cast<std::size_t>(Note::kCount));
  Entry& entry = entries_[static_cast<std::size_t>(note)];
  if (entry.count == 0 || offset < entry.offset) {
    entry.offset = offset;
    entry.detail = detail;
  }
  entry.count += count;
}

const ImportLog::Entry& ImportLog::operator[](Note note) const {
  static const Entry kNone;
  return entries_.empty() ? kNone : entries_[static_cast<std::size_t>(note)];
}

void ImportLog::merge(const ImportLog& other) {
  for (std::size_t i = 0; i < other.entries_.size(); ++i) {
    const Entry& theirs = other.entries_[i];
    if (theirs.count != 0) add(static_cast<Note>(i), theirs.offset, theirs.detail, theirs.count);
  }
}

bool ImportLog::lost_data() const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].count != 0 && kNotes[i].severity == Severity::kDataLoss) return true;
  }
  return false;
}

bool ImportLog::lost_the_end() const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].count != 0 && loses_the_end(static_cast<Note>(i))) return true;
  }
  return false;
}

}  // namespace stepscope::base
