#include "emit/perfetto/perfetto_tracks.h"

#include <algorithm>

#include <fmt/format.h>

#include "emit/siphash.h"

namespace stepscope::emit::perfetto {

std::uint64_t Tracks::uuid_of(std::string_view kind, std::string_view name,
                              std::string_view more) const {
  const std::string identity = fmt::format("{}\x1f{}\x1f{}\x1f{}", title_.key, kind, name, more);
  const std::uint64_t uuid = siphash(0x7065726665747430, 0x747261636b757569, identity);
  return std::max<std::uint64_t>(uuid, 1);  // 0 is Perfetto's own
}

std::string Tracks::process_name(const trace::Track& track) const {
  if (track.is_device) {
    return track.device < 0 ? title_.title + " device"
                            : fmt::format("{} GPU {}", title_.title, track.device);
  }
  std::string name = title_.title;
  for (const std::string& part : {track.process_name, track.process}) {
    if (!part.empty()) name += ' ' + texts_.plain(part);
  }
  return name;
}

std::string Tracks::thread_name(const trace::Track& track) const {
  if (!track.thread_name.empty()) return texts_.plain(track.thread_name);
  if (track.is_device && track.stream >= 0) return fmt::format("stream {}", track.stream);
  return track.tid ? "thread " + track.thread : texts_.plain(track.thread);
}

std::uint64_t Tracks::process(const trace::Track& track) {
  const std::uint64_t uuid = track.is_device ? uuid_of("device", std::to_string(track.device), {})
                                             : uuid_of("process", track.process, {});
  const auto [known, is_new] = known_.try_emplace(uuid, 0);
  if (!is_new) return uuid;
  known->second = ++last_number_;
  std::string message;
  Builder<TrackDescriptor> descriptor(message);
  descriptor.add_uint64(TrackDescriptor::kUuid, uuid);
  if (track.is_device) descriptor.add_enum(TrackDescriptor::kChildOrdering, kExplicitOrder);
  {
    Builder<ProcessDescriptor> of(descriptor, TrackDescriptor::kProcess);
    of.add_int32(ProcessDescriptor::kPid, known->second);
    of.add_string(ProcessDescriptor::kProcessName, process_name(track));
  }
  packets_.descriptor(message);
  return uuid;
}

std::uint64_t Tracks::thread(const trace::Track& track) {
  const std::uint64_t uuid = uuid_of("thread", track.process, track.thread);
  const auto [known, is_new] = known_.try_emplace(uuid, 0);
  if (!is_new) return uuid;
  const std::uint64_t parent = process(track);
  std::string message;
  Builder<TrackDescriptor> descriptor(message);
  descriptor.add_uint64(TrackDescriptor::kUuid, uuid);
  descriptor.add_uint64(TrackDescriptor::kParentUuid, parent);
  if (track.is_device) {
    descriptor.add_string(TrackDescriptor::kName, thread_name(track));
    descriptor.add_int32(
        TrackDescriptor::kSiblingOrderRank,
        static_cast<std::int32_t>(std::clamp<std::int64_t>(track.stream, -1, 1 << 30)));
    descriptor.add_enum(TrackDescriptor::kSiblingMergeBehavior, kNeverMerge);
  } else {
    Builder<ThreadDescriptor> of(descriptor, TrackDescriptor::kThread);
    of.add_int32(ThreadDescriptor::kPid, known_[parent]);
    of.add_int64(ThreadDescriptor::kTid, ++last_number_);
    of.add_string(ThreadDescriptor::kThreadName, thread_name(track));
  }
  packets_.descriptor(message);
  return uuid;
}

std::uint64_t Tracks::child(std::uint64_t parent, std::string_view kind, const trace::Track& track,
                            std::string_view name) {
  const std::uint64_t uuid = uuid_of(fmt::format("{} {}", kind, name), track.process, track.thread);
  if (!known_.try_emplace(uuid, 0).second) return uuid;
  std::string message;
  Builder<TrackDescriptor> descriptor(message);
  descriptor.add_uint64(TrackDescriptor::kUuid, uuid);
  descriptor.add_uint64(TrackDescriptor::kParentUuid, parent);
  descriptor.add_string(TrackDescriptor::kName, name.data(), name.size());
  descriptor.add_enum(TrackDescriptor::kSiblingMergeBehavior, kNeverMerge);
  packets_.descriptor(message);
  return uuid;
}

std::uint64_t Tracks::lane(std::uint32_t track, std::uint32_t lane) {
  const trace::Track& of = trace_.tracks()[track];
  const std::uint64_t base = thread(of);
  if (lane == 0) return base;
  return child(base, "lane", of, fmt::format("{} overlap {}", thread_name(of), lane));
}

std::uint64_t Tracks::async_lane(std::uint32_t track, std::uint32_t lane) {
  const trace::Track& of = trace_.tracks()[track];
  return child(thread(of), "async", of, fmt::format("{} async {}", thread_name(of), lane));
}

std::uint64_t Tracks::counter(std::uint32_t track, std::string_view name, Unit unit) {
  const trace::Track& of = trace_.tracks()[track];
  const std::uint64_t uuid = uuid_of("counter", of.process, name);
  if (!known_.try_emplace(uuid, 0).second) return uuid;
  const std::uint64_t parent = process(of);
  std::string message;
  Builder<TrackDescriptor> descriptor(message);
  descriptor.add_uint64(TrackDescriptor::kUuid, uuid);
  descriptor.add_uint64(TrackDescriptor::kParentUuid, parent);
  descriptor.add_string(TrackDescriptor::kName, name.data(), name.size());
  std::string about;  // what makes it a counter, even when there is nothing to say about it
  if (unit == Unit::kBytes) {
    Builder<CounterDescriptor>(about).add_enum(CounterDescriptor::kUnit, kUnitBytes);
  }
  descriptor.add_message(TrackDescriptor::kCounter, about);
  packets_.descriptor(message);
  return uuid;
}

}  // namespace stepscope::emit::perfetto
