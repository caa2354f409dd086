// What a reader met and could not take at face value. Bad data is counted, never silent: every
// report ends with the nonzero rows, and a row of severity kDataLoss makes the command exit with 4.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::base {

enum class Severity : std::uint8_t { kInfo, kDataLoss };

enum class Note : std::uint8_t {
  // the file
  kTruncated,
  kDamagedCompression,
  kEndlessEvent,
  kNoClosingBracket,
  kUnreadableMetadata,
  kMetadataTooLarge,
  kMoreBehind,
  kWordsBehind,
  // an event as a whole
  kUnreadableEvent,
  kNotAnObject,
  kWithoutPhase,
  kWithoutTimestamp,
  kWithoutName,
  kUnknownPhase,
  // text that is not JSON but was understood
  kBrokenUtf8,
  kControlCharacter,
  kUnescapedQuote,
  kBareWord,
  kStrayComma,
  kMissingComma,
  kBadEscape,
  // times
  kNumberAsText,
  kSubNanosecond,
  kTimeOutOfRange,
  kWithoutDuration,
  kNegativeDuration,
  kAbsurdDuration,
  kFarFromTheRest,
  // spans and links
  kUnclosedBegin,
  kEndWithoutBegin,
  kUnclosedAsync,
  kAsyncEndWithoutBegin,
  kCalleeOutlivesCaller,
  kOverlappingSpans,
  kWithoutLaunch,
  kSharedCorrelation,
  kBeforeItsLaunch,
  // a memory snapshot
  kUnknownAction,
  kIncompleteRecord,
  kUnknownValue,
  // a recording of our own
  kRecordsDropped,
  kNotFinished,
  kClockWasSet,
  // the run
  kRankFromFileName,
  kRankFromOrder,
  kRankConflict,
  kRanksApart,
  kSeveralWindows,
  kPartialFile,
  kEarlierAttempts,
  kNoDeviceEvents,
  kWithoutBaseTime,
  kUnreadableFile,
  kSkippedFile,
  kCount
};

struct NoteInfo {
  std::string_view id;  // stable, as in --json and docs/formats/notes.md
  Severity severity;
  std::string_view meaning;  // one line for the person who reads the report
};

const NoteInfo& info_of(Note note);

// Whether nothing after the place of this note was read.
bool loses_the_end(Note note);

// Counts per kind with one example position each: the first in the file.
class ImportLog {
 public:
  static constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

  struct Entry {
    std::uint64_t count = 0;
    std::uint64_t offset = kNowhere;  // byte in the decompressed text
    std::string detail;               // of that example; may be empty
  };

  void add(Note note, std::uint64_t offset = kNowhere, std::string_view detail = {},
           std::uint64_t count = 1);
  void merge(const ImportLog& other);

  const Entry& operator[](Note note) const;
  std::uint64_t count(Note note) const { return (*this)[note].count; }
  bool lost_data() const;
  bool lost_the_end() const;  // nothing after some place was read

 private:
  // One for each note once there is any: every piece of a file has a log, and most stay empty.
  std::vector<Entry> entries_;
};

}  // namespace stepscope::base
