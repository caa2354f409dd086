// Packets of Perfetto's format: tracks, slices, counters and their arguments.
#include "emit/perfetto/perfetto_packets.h"

#include <array>
#include <cmath>

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

namespace stepscope::emit::perfetto {
namespace {

constexpr std::uint32_t kPerfettoArgsNone = base::RowSet::kNone;
constexpr std::uint64_t kPerfettoArgsNoCommsId = ~std::uint64_t{0};

void real(Packets& packets, Arg arg, float value) {
  if (!std::isnan(value)) packets.real(arg, double{value});
}

void string_perfetto_args(Packets& packets, const Texts& texts, Arg arg, base::StringId id) {
  if (id != base::kNoString) packets.text(arg, texts.name(id));
}

template <class Int>
void triple_perfetto_args(Packets& packets, Arg arg, Int x, Int y, Int z) {
  if (x == 0 && y == 0 && z == 0) return;
  packets.list(arg, std::array<std::uint64_t, 3>{x, y, z});
}

void device_perfetto_args(Packets& packets, const trace::DeviceTable& table, std::uint32_t at) {
  packets.id(Arg::kDevice, table.device[at]);
  packets.id(Arg::kStream, table.stream[at]);
  packets.id(Arg::kContext, table.context[at]);
  packets.id(Arg::kCorrelation, table.correlation[at]);
  packets.id(Arg::kExternalId, table.external_id[at]);
}

void kernel_perfetto_args(Packets& packets, const trace::KernelTable& table, std::uint32_t at) {
  triple_perfetto_args(packets, Arg::kGrid, table.grid_x[at], table.grid_y[at], table.grid_z[at]);
  triple_perfetto_args(packets, Arg::kBlock, table.block_x[at], table.block_y[at],
                       table.block_z[at]);
  if (table.registers[at] != 0) packets.integer(Arg::kRegisters, table.registers[at]);
  packets.id(Arg::kSharedMemory, table.shared_memory[at]);
  real(packets, Arg::kBlocksPerSm, table.blocks_per_sm[at]);
  real(packets, Arg::kWarpsPerSm, table.warps_per_sm[at]);
  real(packets, Arg::kOccupancy, table.occupancy_percent[at]);
  packets.id(Arg::kGraphId, table.graph_id[at]);
  packets.id(Arg::kGraphNode, table.graph_node[at]);
}

void sync_perfetto_args(Packets& packets, const Texts& texts, const trace::SyncTable& table,
                        std::uint32_t at) {
  string_perfetto_args(packets, texts, Arg::kSyncKind, table.what[at]);
  packets.id(Arg::kWaitOnStream, table.wait_on_stream[at]);
  packets.id(Arg::kWaitOnRecord, table.wait_on_record[at]);
  packets.id(Arg::kEventId, table.event_id[at]);
}

void memory_perfetto_args(Packets& packets, const trace::MemoryTable& table, std::uint32_t at) {
  packets.unsigned_integer(Arg::kAddress, table.address[at]);
  packets.integer(Arg::kBytes, table.bytes[at]);
  packets.id(Arg::kTotalAllocated, table.total_allocated[at]);
  packets.id(Arg::kTotalReserved, table.total_reserved[at]);
  packets.id(Arg::kDeviceType, table.device_type[at]);
  packets.id(Arg::kDeviceId, table.device_id[at]);
}

void collective_perfetto_args(Packets& packets, const Texts& texts,
                              const trace::CollectiveTable& table, std::uint32_t at) {
  string_perfetto_args(packets, texts, Arg::kCollective, table.name[at]);
  string_perfetto_args(packets, texts, Arg::kDtype, table.dtype[at]);
  packets.id(Arg::kInElements, table.in_elements[at]);
  packets.id(Arg::kOutElements, table.out_elements[at]);
  string_perfetto_args(packets, texts, Arg::kGroupName, table.group_name[at]);
  string_perfetto_args(packets, texts, Arg::kGroupDescription, table.group_description[at]);
  string_perfetto_args(packets, texts, Arg::kGroupRanks, table.group_ranks[at]);
  packets.id(Arg::kGroupSize, table.group_size[at]);
  packets.id(Arg::kRank, table.rank[at]);
  packets.id(Arg::kCollectiveSequence, table.sequence[at]);
  if (table.comms_id[at] != kPerfettoArgsNoCommsId) {
    packets.unsigned_integer(Arg::kCommsId, table.comms_id[at]);
  }
  packets.id(Arg::kSourceRank, table.source_rank[at]);
  packets.id(Arg::kDestinationRank, table.destination_rank[at]);
  if (table.asynchronous[at] >= 0) packets.truth(Arg::kAsynchronous, table.asynchronous[at] != 0);
  string_perfetto_args(packets, texts, Arg::kInSplit, table.in_split[at]);
  string_perfetto_args(packets, texts, Arg::kOutSplit, table.out_split[at]);
}

}  // namespace

void add_args(Packets& packets, const trace::Trace& trace, const Texts& texts, trace::Row row) {
  const auto each = [&](const base::RowSet& rows, auto write) {
    if (const std::uint32_t at = rows.find(row); at != kPerfettoArgsNone) write(at);
  };
  packets.integer(Arg::kOrdinal, trace.ordinal()[row]);
  if ((trace.flags()[row] & trace::kUnclosed) != 0) packets.truth(Arg::kUnclosed, true);
  if ((trace.flags()[row] & trace::kBadDuration) != 0) packets.truth(Arg::kBadDuration, true);
  each(trace.ops().rows, [&](auto at) {
    packets.id(Arg::kExternalId, trace.ops().external_id[at]);
    packets.id(Arg::kSequence, trace.ops().sequence[at]);
    packets.id(Arg::kForwardThread, trace.ops().forward_thread[at]);
  });
  each(trace.launches().rows, [&](auto at) {
    packets.id(Arg::kCorrelation, trace.launches().correlation[at]);
    packets.id(Arg::kExternalId, trace.launches().external_id[at]);
  });
  each(trace.device().rows, [&](auto at) { device_perfetto_args(packets, trace.device(), at); });
  each(trace.kernels().rows, [&](auto at) { kernel_perfetto_args(packets, trace.kernels(), at); });
  each(trace.copies().rows, [&](auto at) {
    packets.id(Arg::kBytes, trace.copies().bytes[at]);
    real(packets, Arg::kBandwidth, trace.copies().bandwidth_gbps[at]);
  });
  each(trace.syncs().rows, [&](auto at) { sync_perfetto_args(packets, texts, trace.syncs(), at); });
  each(trace.memory_events().rows,
       [&](auto at) { memory_perfetto_args(packets, trace.memory_events(), at); });
  each(trace.collectives().rows,
       [&](auto at) { collective_perfetto_args(packets, texts, trace.collectives(), at); });
}

}  // namespace stepscope::emit::perfetto
