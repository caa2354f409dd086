#include "emit/perfetto/perfetto_packets.h"

#include <array>

namespace stepscope::emit::perfetto {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Arg::kCount)> kArgNames = {
    "ordinal",
    "dur_ns",
    "unclosed",
    "bad_duration",
    "external_id",
    "sequence",
    "forward_thread",
    "correlation",
    "device",
    "stream",
    "context",
    "grid",
    "block",
    "registers",
    "shared_memory",
    "blocks_per_sm",
    "warps_per_sm",
    "occupancy_percent",
    "graph_id",
    "graph_node",
    "bytes",
    "bandwidth_gbps",
    "sync",
    "wait_on_stream",
    "wait_on_record",
    "event_id",
    "address",
    "total_allocated",
    "total_reserved",
    "device_type",
    "device_id",
    "collective",
    "dtype",
    "in_elements",
    "out_elements",
    "group_name",
    "group_description",
    "group_ranks",
    "group_size",
    "rank",
    "collective_sequence",
    "comms_id",
    "source_rank",
    "destination_rank",
    "asynchronous",
    "in_split",
    "out_split",
};

}  // namespace

Packets::Packets(Output& out, std::uint32_t sequence, const trace::Trace& trace, const Texts& texts)
    : out_(out),
      sequence_(sequence),
      texts_(texts),
      known_names_(trace.strings().size()),
      known_categories_(trace.categories().size()),
      known_args_(static_cast<std::size_t>(Arg::kCount)) {}

void Packets::descriptor(std::string_view message) {
  send_packet(message, TracePacket::kTrackDescriptor, false);
}

void Packets::start(EventType type, std::uint64_t track, std::uint64_t time) {
  event_.clear();
  time_ = time;
  Builder<TrackEvent> event(event_);
  event.add_enum(TrackEvent::kType, static_cast<std::int32_t>(type));
  event.add_uint64(TrackEvent::kTrackUuid, track);
}

void Packets::name(base::StringId name) {
  if (name == base::kNoString) return;
  intern(known_names_, name, InternedData::kEventNames, texts_.name(name));
  Builder<TrackEvent>(event_).add_uint64(TrackEvent::kNameIid, std::uint64_t{name} + 1);
}

void Packets::category(std::uint16_t number) {
  const std::string_view text = texts_.category(number);
  if (text.empty()) return;
  intern(known_categories_, number, InternedData::kEventCategories, text);
  Builder<TrackEvent>(event_).add_uint64(TrackEvent::kCategoryIids, std::uint64_t{number} + 1);
}

void Packets::flows(std::span<const std::uint64_t> starting,
                    std::span<const std::uint64_t> ending) {
  Builder<TrackEvent> event(event_);
  for (const std::uint64_t id : starting) event.add_fixed64(TrackEvent::kFlowIds, id);
  for (const std::uint64_t id : ending) event.add_fixed64(TrackEvent::kTerminatingFlowIds, id);
}

void Packets::counter_value(double value) {
  Builder<TrackEvent>(event_).add_double(TrackEvent::kDoubleCounterValue, value);
}

void Packets::integer(Arg arg, std::int64_t value) {
  const std::uint64_t name = name_of(arg);
  Builder<TrackEvent> event(event_);
  Builder<DebugAnnotation> note(event, TrackEvent::kDebugAnnotations);
  note.add_uint64(DebugAnnotation::kNameIid, name);
  note.add_int64(DebugAnnotation::kInt, value);
}

void Packets::unsigned_integer(Arg arg, std::uint64_t value) {
  const std::uint64_t name = name_of(arg);
  Builder<TrackEvent> event(event_);
  Builder<DebugAnnotation> note(event, TrackEvent::kDebugAnnotations);
  note.add_uint64(DebugAnnotation::kNameIid, name);
  note.add_uint64(DebugAnnotation::kUint, value);
}

void Packets::real(Arg arg, double value) {
  const std::uint64_t name = name_of(arg);
  Builder<TrackEvent> event(event_);
  Builder<DebugAnnotation> note(event, TrackEvent::kDebugAnnotations);
  note.add_uint64(DebugAnnotation::kNameIid, name);
  note.add_double(DebugAnnotation::kDouble, value);
}

void Packets::truth(Arg arg, bool value) {
  const std::uint64_t name = name_of(arg);
  Builder<TrackEvent> event(event_);
  Builder<DebugAnnotation> note(event, TrackEvent::kDebugAnnotations);
  note.add_uint64(DebugAnnotation::kNameIid, name);
  note.add_bool(DebugAnnotation::kBool, value);
}

void Packets::text(Arg arg, std::string_view value) {
  const std::uint64_t name = name_of(arg);
  Builder<TrackEvent> event(event_);
  Builder<DebugAnnotation> note(event, TrackEvent::kDebugAnnotations);
  note.add_uint64(DebugAnnotation::kNameIid, name);
  note.add_string(DebugAnnotation::kString, value.data(), value.size());
}

void Packets::list(Arg arg, std::span<const std::uint64_t> values) {
  const std::uint64_t name = name_of(arg);
  Builder<TrackEvent> event(event_);
  Builder<DebugAnnotation> note(event, TrackEvent::kDebugAnnotations);
  note.add_uint64(DebugAnnotation::kNameIid, name);
  for (const std::uint64_t value : values) {
    Builder<DebugAnnotation> element(note, DebugAnnotation::kArray);
    element.add_uint64(DebugAnnotation::kUint, value);
  }
}

void Packets::send() { send_packet(event_, TracePacket::kTrackEvent, true); }

void Packets::send_packet(std::string_view payload, TracePacket field, bool has_time) {
  packet_.clear();
  Builder<TracePacket> packet(packet_);
  if (has_time) packet.add_uint64(TracePacket::kTimestamp, time_);
  packet.add_uint32(TracePacket::kSequenceId, sequence_);
  packet.add_uint32(TracePacket::kSequenceFlags, is_first_ ? kStateCleared : kNeedsState);
  is_first_ = false;
  if (!interned_.empty()) packet.add_message(TracePacket::kInternedData, interned_);
  interned_.clear();
  packet.add_message(field, payload.data(), payload.size());
  Builder<Trace>(out_.text()).add_message(Trace::kPacket, packet_);
  out_.settle();
}

void Packets::intern(std::vector<bool>& known, std::size_t number, InternedData kind,
                     std::string_view text) {
  if (known[number]) return;
  known[number] = true;
  Builder<InternedData> data(interned_);
  Builder<InternedString> entry(data, kind);
  entry.add_uint64(InternedString::kIid, number + 1);
  entry.add_string(InternedString::kName, text.data(), text.size());
}

std::uint64_t Packets::name_of(Arg arg) {
  const auto number = static_cast<std::size_t>(arg);
  intern(known_args_, number, InternedData::kAnnotationNames, kArgNames[number]);
  return number + 1;
}

}  // namespace stepscope::emit::perfetto
