// The tracks of one window: described to Perfetto the first time something stands on them.
// Processes and threads get numbers of our own, because ranks of several hosts share theirs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "emit/perfetto/perfetto_packets.h"
#include "trace/trace.h"

namespace stepscope::emit::perfetto {

struct WindowTitle {
  std::string key;    // for uuids: the same window gives the same ones in every export
  std::string title;  // "rank 3", or "rank 3 window 1" where there are several
};

class Tracks {
 public:
  // `next_number` is the last pid or tid given away in this file.
  Tracks(Packets& packets, const trace::Trace& trace, const Texts& texts, WindowTitle title,
         std::int32_t& last_number)
      : packets_(packets),
        trace_(trace),
        texts_(texts),
        title_(std::move(title)),
        last_number_(last_number) {}

  // Lane 0 of a track is its thread or stream; the others lie below it and hold what overlaps.
  std::uint64_t lane(std::uint32_t track, std::uint32_t lane);
  std::uint64_t async_lane(std::uint32_t track, std::uint32_t lane);
  // A counter belongs to the process of its track.
  enum class Unit : std::uint8_t { kNone, kBytes };
  std::uint64_t counter(std::uint32_t track, std::string_view name, Unit unit);

 private:
  std::uint64_t uuid_of(std::string_view kind, std::string_view name, std::string_view more) const;
  std::uint64_t process(const trace::Track& track);
  std::uint64_t thread(const trace::Track& track);
  std::uint64_t child(std::uint64_t parent, std::string_view kind, const trace::Track& track,
                      std::string_view name);
  std::string process_name(const trace::Track& track) const;
  std::string thread_name(const trace::Track& track) const;

  Packets& packets_;
  const trace::Trace& trace_;
  const Texts& texts_;
  WindowTitle title_;
  std::int32_t& last_number_;
  std::unordered_map<std::uint64_t, std::int32_t> known_;  // described tracks, pid of processes
};

}  // namespace stepscope::emit::perfetto
