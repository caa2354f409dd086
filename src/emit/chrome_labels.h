// The metadata events of Chrome's format: names and sort positions of processes and threads, made
// anew from the tracks. They fill the positions that the original's metadata had, so that every
// other event keeps its own.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "emit/texts.h"
#include "trace/trace.h"

namespace stepscope::emit {

class ChromeLabels {
 public:
  ChromeLabels(const trace::Trace& trace, const Texts& texts);

  // An event of this track goes out now.
  void saw(std::uint32_t track) { introduced_ = track >= introduced_ ? track + 1 : introduced_; }

  // Appends the event for a position that nothing else needs. Readers number tracks as they meet
  // them, so a track is named only after those before it.
  void append_filler(std::string& out);

  // A track that has to be named now and has no label to do it: whatever stands on it and makes no
  // row will do. Of one process only, if one is given. Null when there is none.
  const trace::Track* take_introduction(const std::string* process);

  std::uint32_t last_track() const { return introduced_ == 0 ? 0 : introduced_ - 1; }

  bool empty() const { return labels_.empty(); }
  void append_next(std::string& out);

 private:
  struct Label {
    std::uint32_t track;
    std::string json;
    bool only_introduces;
  };

  void add_process_labels(const std::vector<std::uint32_t>& tracks, const std::vector<bool>& bare);
  void add_thread_labels(std::uint32_t track);
  void add(std::uint32_t track, std::string_view name, std::string_view key,
           const std::string& value);

  const trace::Trace& trace_;
  const Texts& texts_;
  std::deque<Label> labels_;      // by track
  std::uint32_t introduced_ = 0;  // tracks that are out already
};

}  // namespace stepscope::emit
