// The tables of member and argument names, and their perfect hash.
#include "ingest/kineto/keys.h"

#include <algorithm>

namespace stepscope::ingest::kineto {
namespace {

struct ArgInfo {
  std::string_view key;
  Arg arg;
};

constexpr std::array kArgs = std::to_array<ArgInfo>({
    {"External id", Arg::kExternalId},
    {"external id", Arg::kExternalId},
    {"correlation", Arg::kCorrelation},
    {"stream", Arg::kStream},
    {"device", Arg::kDevice},
    {"context", Arg::kContext},
    {"Sequence number", Arg::kSequence},
    {"Fwd thread id", Arg::kForwardThread},
    {"Python id", Arg::kPythonId},
    {"Python parent id", Arg::kPythonParentId},
    {"bytes", Arg::kBytes},
    {"Bytes", Arg::kBytes},
    {"size", Arg::kSize},
    {"memory bandwidth (GB/s)", Arg::kBandwidth},
    {"registers per thread", Arg::kRegisters},
    {"shared memory", Arg::kSharedMemory},
    {"blocks per SM", Arg::kBlocksPerSm},
    {"warps per SM", Arg::kWarpsPerSm},
    {"est. achieved occupancy %", Arg::kOccupancy},
    {"theoretical occupancy %", Arg::kOccupancy},
    {"grid", Arg::kGrid},
    {"block", Arg::kBlock},
    {"graph id", Arg::kGraphId},
    {"graph node id", Arg::kGraphNode},
    {"Total Allocated", Arg::kTotalAllocated},
    {"Total Reserved", Arg::kTotalReserved},
    {"Addr", Arg::kAddress},
    {"Device Type", Arg::kDeviceType},
    {"Device Id", Arg::kDeviceId},
    {"cuda_sync_kind", Arg::kSyncKind},
    {"wait_on_stream", Arg::kWaitOnStream},
    {"wait_on_cuda_event_record_corr_id", Arg::kWaitOnRecord},
    {"wait_on_cuda_event_id", Arg::kEventId},
    {"event_id", Arg::kEventId},
    {"Collective name", Arg::kCollectiveName},
    {"dtype", Arg::kDtype},
    {"In msg nelems", Arg::kInElements},
    {"Out msg nelems", Arg::kOutElements},
    {"Group size", Arg::kGroupSize},
    {"Process Group Name", Arg::kGroupName},
    {"Process Group Description", Arg::kGroupDescription},
    {"Process Group Ranks", Arg::kGroupRanks},
    {"Rank", Arg::kRank},
    {"Seq", Arg::kCollectiveSequence},
    {"Comms Id", Arg::kCommsId},
    {"Src Rank", Arg::kSourceRank},
    {"Dst Rank", Arg::kDestinationRank},
    {"Is asynchronized op", Arg::kAsynchronous},
    {"In split size", Arg::kInSplit},
    {"Out split size", Arg::kOutSplit},
    {"name", Arg::kLabelName},
    {"labels", Arg::kLabels},
    {"sort_index", Arg::kSortIndex},
    {"Input Dims", Arg::kInputDims},
    {"Input dims", Arg::kInputDims},
    {"Input type", Arg::kInputTypes},
    {"Input Strides", Arg::kInputStrides},
    {"Concrete Inputs", Arg::kConcreteInputs},
    {"flops", Arg::kFlops},
    {"kernel_flop", Arg::kFlops},
    {"Call stack", Arg::kCallStack},
    {"Module Hierarchy", Arg::kModuleHierarchy},
    {"Python module id", Arg::kPythonModuleId},
    {"Task Type", Arg::kTaskType},
});

struct FieldInfo {
  std::string_view key;
  Field field;
};
constexpr std::array kFields = std::to_array<FieldInfo>({
    {"ph", Field::kPhase},
    {"cat", Field::kCategory},
    {"name", Field::kName},
    {"pid", Field::kPid},
    {"tid", Field::kTid},
    {"ts", Field::kTime},
    {"dur", Field::kDuration},
    {"args", Field::kArgs},
    {"id", Field::kId},
    {"scope", Field::kScope},
});

// A longest key fits the bytes that stand before any text.
static_assert(std::all_of(kArgs.begin(), kArgs.end(),
                          [](const ArgInfo& a) { return a.key.size() < 60; }));

constexpr std::size_t kPlain = std::size_t{1} << keys::kSlotBits;

constexpr std::size_t slot_of(std::uint64_t tail, std::uint64_t multiplier) {
  return static_cast<std::size_t>(tail * multiplier >> (64 - keys::kSlotBits));
}

// Does this multiplier give every tail a slot of its own?
constexpr bool separates(std::uint64_t multiplier) {
  std::array<std::uint64_t, kPlain> taken{};
  for (const ArgInfo& info : kArgs) {
    const std::uint64_t tail = keys::tail_of(info.key);
    std::uint64_t& slot = taken[slot_of(tail, multiplier)];
    if (slot != 0 && slot != tail) return false;
    slot = tail;
  }
  return true;
}

constexpr keys::Slot slot_for(const ArgInfo& info) {
  keys::Slot slot;
  slot.tail = keys::tail_of(info.key);
  slot.head = info.key.size() > 8 ? keys::tail_of(info.key.substr(0, 8)) : 0;
  slot.head_mask = info.key.size() > 8 ? ~std::uint64_t{0} : 0;
  slot.head_at = static_cast<std::int8_t>(-static_cast<int>(info.key.size()));
  slot.size = static_cast<std::int8_t>(info.key.size());
  slot.whole = info.key.size() > 16 ? info.key.data() : nullptr;
  slot.arg = info.arg;
  return slot;
}

constexpr keys::Slots make_slots() {
  keys::Slots table{};
  table.multiplier = 0x9e3779b97f4a7c15;
  while (!separates(table.multiplier))
    table.multiplier = table.multiplier * 6364136223846793005 | 1;
  std::uint8_t extra = 0;
  for (const ArgInfo& info : kArgs) {
    keys::Slot* slot = &table.slots[slot_of(keys::tail_of(info.key), table.multiplier)];
    if (slot->tail != 0) {
      while (slot->next != 0) slot = &table.slots[kPlain + slot->next - 1];
      slot->next = ++extra;
      slot = &table.slots[kPlain + extra - 1];
    }
    *slot = slot_for(info);
  }
  return table;
}

constexpr auto make_starts() {
  std::array<keys::Start, static_cast<std::size_t>(Arg::kCount)> starts{};
  for (const ArgInfo& info : kArgs) {
    keys::Start& start = starts[static_cast<std::size_t>(info.arg)];
    if (start.head_at != 0) continue;
    const keys::Slot slot = slot_for(info);
    start = {slot.head, slot.head_mask, slot.head_at, slot.whole};
  }
  return starts;
}

constexpr ArgType type_by_arg(Arg arg) {
  switch (arg) {
    case Arg::kBandwidth:
    case Arg::kBlocksPerSm:
    case Arg::kWarpsPerSm:
    case Arg::kOccupancy:
      return ArgType::kReal;
    case Arg::kSyncKind:
    case Arg::kCollectiveName:
    case Arg::kDtype:
    case Arg::kGroupName:
    case Arg::kGroupDescription:
    case Arg::kGroupRanks:
    case Arg::kInSplit:
    case Arg::kOutSplit:
    case Arg::kLabelName:
    case Arg::kLabels:
    case Arg::kCallStack:
    case Arg::kModuleHierarchy:
    case Arg::kTaskType:
      return ArgType::kText;
    case Arg::kInputDims:
    case Arg::kInputTypes:
    case Arg::kInputStrides:
    case Arg::kConcreteInputs:
      return ArgType::kList;
    case Arg::kGrid:
    case Arg::kBlock:
      return ArgType::kTriple;
    case Arg::kAsynchronous:
      return ArgType::kTruth;
    default:
      return ArgType::kInteger;
  }
}

constexpr auto make_types() {
  std::array<ArgType, static_cast<std::size_t>(Arg::kCount) + 1> types{};
  for (std::size_t i = 0; i + 1 < types.size(); ++i) types[i] = type_by_arg(static_cast<Arg>(i));
  return types;
}

}  // namespace

const std::array<ArgType, static_cast<std::size_t>(Arg::kCount) + 1> kArgTypes = make_types();

namespace keys {
constinit const Slots kSlots = make_slots();
constinit const std::array<Start, static_cast<std::size_t>(Arg::kCount)> kStarts = make_starts();
}  // namespace keys

Field field_of(std::string_view key) {
  for (const FieldInfo& info : kFields) {
    if (info.key == key) return info.field;
  }
  return Field::kNone;
}

Arg arg_of(std::string_view key) {
  for (const ArgInfo& info : kArgs) {
    if (info.key == key) return info.arg;
  }
  return Arg::kNone;
}

}  // namespace stepscope::ingest::kineto
