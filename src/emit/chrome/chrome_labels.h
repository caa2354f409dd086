// The metadata events of Chrome's format: names and sort positions of processes and threads, made
// anew from the tracks. They fill the positions that the original's metadata had, so that every
// other event keeps its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "emit/redaction/texts.h"
#include "trace/trace.h"

namespace stepscope::emit {

// How the reader of the file will learn of a track.
enum class Naming : std::uint8_t {
  kByItself,      // from a label or an event of its own
  kAnyTime,       // only if we name it, whenever
  kBeforeOthers,  // only if we name it, before an event of a track that comes after it
};

class ChromeLabels {
 public:
  ChromeLabels(const trace::Trace& trace, const Texts& texts);

  // An event of this track goes out now.
  void saw(std::uint32_t track) {
    introduced_ = std::max(introduced_, track + 1);
    seen_ = std::max(seen_, track + 1);
  }

  // All events are out: whatever is left may go, in any order.
  void saw_all() { introduced_ = static_cast<std::uint32_t>(trace_.tracks().size()); }

  // Appends the event for a position that nothing else needs. Readers number tracks as they meet
  // them, so a track is named only after those before it.
  void append_filler(std::string& out);

  // The next track that has to be named and has no label to do it: whatever stands on it and makes
  // no row will do. Of one process only, if one is given. Null when there is none.
  const trace::Track* take_introduction(const std::string* process);
  bool must_introduce();  // a track waits to be named, and others come after it

  // One that is out already.
  std::uint32_t last_track() const { return seen_ == 0 ? 0 : seen_ - 1; }

  bool empty() const { return oldest_ == labels_.size(); }

 private:
  struct Label {
    std::uint32_t track;
    std::string json;
    Naming naming;  // kByItself for what says more than that there is such a track
    bool is_out = false;
  };

  // The label of the next track, where one that comes after it needs to be named in time; else the
  // oldest that may go out; else null.
  Label* next();
  void take(Label& label);
  void add_process_labels(const std::vector<std::uint32_t>& tracks,
                          const std::vector<Naming>& naming);
  void add_thread_labels(std::uint32_t track);
  void add(std::uint32_t track, std::string_view name, std::string_view key,
           const std::string& value);

  const trace::Trace& trace_;
  const Texts& texts_;
  std::vector<Label> labels_;     // by track
  std::size_t oldest_ = 0;        // the first label that is not out
  std::uint32_t introduced_ = 0;  // tracks that are out already, or may come in any order
  std::uint32_t seen_ = 0;        // tracks that are out already
  std::uint32_t hurry_ = 0;       // tracks before this one are named as soon as they can be
};

}  // namespace stepscope::emit
