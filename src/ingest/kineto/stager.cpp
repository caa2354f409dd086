// Turns a RawEvent into rows of a shard, by the kind of the event.
#include "ingest/kineto/stager.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ingest/kineto/fast_numbers.h"
#include "ingest/kineto/numbers.h"
#include "ingest/kineto/text.h"
#include "trace/trace.h"

namespace stepscope::ingest::kineto {
namespace {

using base::Note;
using trace::Kind;
using trace::RawPhase;
using trace::Shard;

constexpr float kNotGiven = std::numeric_limits<float>::quiet_NaN();

std::int32_t narrow(std::int64_t value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(value, -kMost, kMost));
}

// "no stream" is written as -1 or as its 32-bit pattern.
std::int64_t stream_of(const RawEvent& draft, Arg arg) {
  const std::int64_t stream = draft.integer(arg);
  return stream == std::numeric_limits<std::uint32_t>::max() ? -1 : stream;
}

float real(const RawEvent& draft, Arg arg) {
  return draft.has_arg(arg) ? static_cast<float>(draft.reals[static_cast<std::size_t>(arg)])
                            : kNotGiven;
}

base::StringId text(const RawEvent& draft, Arg arg, Shard& shard) {
  if (!draft.has_arg(arg)) return base::kNoString;
  return shard.intern(draft.texts[static_cast<std::size_t>(arg)], draft.text_at);
}

// Up to three numbers out of "[4096, 1, 1]"; what is missing is 0, and so is all of a list that
// holds anything else.
void triple(const RawEvent& draft, Arg arg, std::uint32_t (&out)[3]) {
  out[0] = out[1] = out[2] = 0;
  if (!draft.has_arg(arg)) return;
  constexpr fast::CharacterSet kBetween{", []\n\t\r"};
  std::size_t which = 0;
  bool in_number = false;
  for (const char c : draft.texts[static_cast<std::size_t>(arg)]) {
    if (c >= '0' && c <= '9') {
      in_number = true;
      if (which < 3) out[which] = out[which] * 10 + static_cast<std::uint32_t>(c - '0');
    } else if (!kBetween(c)) {
      out[0] = out[1] = out[2] = 0;
      return;
    } else {
      which += in_number ? 1 : 0;
      in_number = false;
    }
  }
}

// What raw text means, for the few comparisons that need it: nearly always the text itself.
class Meant {
 public:
  explicit Meant(std::string_view raw) : text(raw) {
    if (raw.find('\\') == std::string_view::npos) return;
    decoded_ = decode(raw);
    text = decoded_;
  }
  std::string_view text;

 private:
  std::string decoded_;
};

std::uint32_t category_of(const RawEvent& draft, Shard& shard) {
  if (draft.category_id != kUnknownId) return draft.category_id;
  return shard.category(draft.category, draft.text_at);
}

std::uint32_t track_of(const RawEvent& draft, Shard& shard) {
  if (draft.track_id != kUnknownId) return draft.track_id;
  return shard.track(draft.pid, draft.tid, draft.text_at);
}

base::StringId name_of(const RawEvent& draft, Shard& shard) {
  if (draft.name_id != kUnknownId) return draft.name_id;
  return shard.intern(draft.name, draft.text_at);
}

std::uint64_t flow_id(std::string_view id) {
  if (!id.empty() && id.size() <= 18 &&
      std::all_of(id.begin(), id.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    std::uint64_t value = 0;
    for (const char c : id) value = value * 10 + static_cast<std::uint64_t>(c - '0');
    return value;
  }
  if (const std::optional<std::int64_t> number = parse_integer(id)) {
    return static_cast<std::uint64_t>(*number);
  }
  // A name for an id: any number will do as long as equal names give equal numbers.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

Kind kind_of(const RawEvent& draft, std::uint32_t category, Shard& shard) {
  const Kind kind = shard.category_kind(category);
  const bool name_matters =
      kind == Kind::kOther ||
      (kind == Kind::kCpuOp && (draft.name.starts_with("Prof") || draft.name.starts_with('\\')));
  if (!name_matters) return kind;
  if (draft.category.empty() && draft.phase == 'X') {
    if (draft.has_arg(Arg::kTaskType)) {
      return trace::kind_of_task(draft.texts[static_cast<std::size_t>(Arg::kTaskType)]);
    }
    if (trace::names_ascend_collective(draft.name)) return Kind::kKernel;
  }
  const Kind by_name = trace::kind_of(Meant(draft.category).text, Meant(draft.name).text);
  return by_name == Kind::kOther && draft.phase == 'C' ? Kind::kCounter : by_name;
}

[[gnu::noinline]] trace::SignatureId new_signature(const RawEvent& draft, Shard& shard) {
  trace::SignatureTexts texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (draft.has_arg(input_arg(i))) texts[i] = draft.texts[static_cast<std::size_t>(input_arg(i))];
  }
  return shard.signature(texts, draft.text_at);
}

trace::SignatureId signature_of(const RawEvent& draft, Shard& shard) {
  if ((draft.present & kInputs) == 0) return trace::kNoSignature;
  return draft.signature_id != kUnknownId ? draft.signature_id : new_signature(draft, shard);
}

// Most writers give operators without a stack an empty one.
base::StringId text_if_any(const RawEvent& draft, Arg arg, Shard& shard) {
  const bool is_empty = draft.has_arg(arg) && draft.texts[static_cast<std::size_t>(arg)].empty();
  return is_empty ? base::kNoString : text(draft, arg, shard);
}

// What hardly any operator has, apart: the rest is short enough to become part of its caller.
[[gnu::noinline]] void add_seldom(const RawEvent& draft, Shard& shard, std::uint32_t event) {
  // 0 is written where nothing was counted.
  if (const std::int64_t flops = draft.integer(Arg::kFlops); flops > 0) {
    shard.flops.push_back({event, flops});
  }
  const base::StringId stack = text_if_any(draft, Arg::kCallStack, shard);
  const base::StringId modules = text_if_any(draft, Arg::kModuleHierarchy, shard);
  if (stack != base::kNoString || modules != base::kNoString) {
    shard.stacks.push_back({event, stack, modules});
  }
}

void add_op(const RawEvent& draft, Shard& shard, std::uint32_t event) {
  constexpr std::uint64_t kSeldom = bits_of(Arg::kFlops, Arg::kCallStack, Arg::kModuleHierarchy);
  constexpr std::uint64_t kOp =
      bits_of(Arg::kExternalId, Arg::kSequence, Arg::kForwardThread) | kInputs;
  if ((draft.present & kOp) != 0) {
    shard.ops.push_back({event, narrow(draft.integer(Arg::kForwardThread)),
                         draft.integer(Arg::kExternalId), draft.integer(Arg::kSequence),
                         signature_of(draft, shard)});
  }
  if ((draft.present & kSeldom) != 0) add_seldom(draft, shard, event);
}

void add_device(const RawEvent& draft, Shard& shard, std::uint32_t event) {
  // Ascend gives work no category, and a process to each part of the one device of a file.
  const std::int64_t untold = draft.category.empty() ? 0 : -1;
  shard.device.push_back({event, narrow(draft.integer(Arg::kDevice, untold)),
                          stream_of(draft, Arg::kStream), draft.integer(Arg::kContext),
                          draft.integer(Arg::kCorrelation), draft.integer(Arg::kExternalId)});
}

void add_kernel(const RawEvent& draft, Shard& shard, std::uint32_t event) {
  trace::KernelRow row{};
  row.event = event;
  triple(draft, Arg::kGrid, row.grid);
  triple(draft, Arg::kBlock, row.block);
  row.registers = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
      draft.integer(Arg::kRegisters, 0), 0, std::numeric_limits<std::uint16_t>::max()));
  row.shared_memory = draft.integer(Arg::kSharedMemory);
  row.blocks_per_sm = real(draft, Arg::kBlocksPerSm);
  row.warps_per_sm = real(draft, Arg::kWarpsPerSm);
  row.occupancy_percent = real(draft, Arg::kOccupancy);
  row.graph_id = draft.integer(Arg::kGraphId);
  row.graph_node = draft.integer(Arg::kGraphNode);
  shard.kernels.push_back(row);
}

void add_copy(const RawEvent& draft, Shard& shard, std::uint32_t event) {
  shard.copies.push_back(
      {event, real(draft, Arg::kBandwidth), draft.integer(Arg::kBytes, draft.integer(Arg::kSize))});
}

void add_sync(const RawEvent& draft, Shard& shard, std::uint32_t event) {
  shard.syncs.push_back({event, text(draft, Arg::kSyncKind, shard),
                         stream_of(draft, Arg::kWaitOnStream), draft.integer(Arg::kWaitOnRecord),
                         draft.integer(Arg::kEventId)});
}

void add_memory(const RawEvent& draft, Shard& shard, std::uint32_t event) {
  const auto small = [&](Arg arg) {
    return static_cast<std::int16_t>(std::clamp<std::int64_t>(draft.integer(arg), -1, 0x7fff));
  };
  shard.memory.push_back({event, small(Arg::kDeviceType), small(Arg::kDeviceId),
                          static_cast<std::uint64_t>(draft.integer(Arg::kAddress, 0)),
                          draft.integer(Arg::kBytes, 0), draft.integer(Arg::kTotalAllocated),
                          draft.integer(Arg::kTotalReserved)});
}

void add_collective(const RawEvent& draft, Shard& shard, std::uint32_t event) {
  trace::CollectiveRow row{};
  row.event = event;
  row.name = text(draft, Arg::kCollectiveName, shard);
  row.dtype = text(draft, Arg::kDtype, shard);
  row.group_name = text(draft, Arg::kGroupName, shard);
  row.group_description = text(draft, Arg::kGroupDescription, shard);
  row.group_ranks = text(draft, Arg::kGroupRanks, shard);
  row.in_split = text(draft, Arg::kInSplit, shard);
  row.out_split = text(draft, Arg::kOutSplit, shard);
  row.in_elements = draft.integer(Arg::kInElements);
  row.out_elements = draft.integer(Arg::kOutElements);
  row.sequence = draft.integer(Arg::kCollectiveSequence);
  row.comms_id = static_cast<std::uint64_t>(draft.integer(Arg::kCommsId));
  row.group_size = narrow(draft.integer(Arg::kGroupSize));
  row.rank = narrow(draft.integer(Arg::kRank));
  row.source_rank = narrow(draft.integer(Arg::kSourceRank));
  row.destination_rank = narrow(draft.integer(Arg::kDestinationRank));
  row.asynchronous = static_cast<std::int8_t>(draft.integer(Arg::kAsynchronous));
  shard.collectives.push_back(row);
}

void add_sides(const RawEvent& draft, Kind kind, Shard& shard, std::uint32_t event) {
  switch (kind) {
    case Kind::kCpuOp:
    case Kind::kAnnotation:
      add_op(draft, shard, event);
      break;
    case Kind::kPython:
      if (draft.has_arg(Arg::kPythonId)) {
        shard.python.push_back(
            {event, draft.integer(Arg::kPythonId), draft.integer(Arg::kPythonParentId)});
      }
      if (const std::int64_t module = draft.integer(Arg::kPythonModuleId); module != -1) {
        shard.modules.push_back({event, narrow(module)});
      }
      return;
    case Kind::kRuntime:
    case Kind::kDriver:
      if (draft.integer(Arg::kCorrelation) != -1) {
        shard.launches.push_back(
            {event, draft.integer(Arg::kCorrelation), draft.integer(Arg::kExternalId)});
      }
      return;
    case Kind::kKernel:
      add_device(draft, shard, event);
      add_kernel(draft, shard, event);
      break;
    case Kind::kMemcpy:
    case Kind::kMemset:
      add_device(draft, shard, event);
      add_copy(draft, shard, event);
      break;
    case Kind::kSync:
    case Kind::kDeviceMarker:
      add_device(draft, shard, event);
      add_sync(draft, shard, event);
      return;
    case Kind::kGpuAnnotation:
      if (draft.present != 0) add_device(draft, shard, event);
      return;
    case Kind::kMemory:
      if (draft.has_arg(Arg::kBytes)) add_memory(draft, shard, event);
      return;
    default:
      break;
  }
  if (draft.has_arg(Arg::kCollectiveName)) add_collective(draft, shard, event);
}

void check_times(const RawEvent& draft, trace::EventRow& row, Shard& shard) {
  if (draft.number_as_text) shard.note(Note::kNumberAsText, draft.text_at);
  if (draft.rounded) shard.note(Note::kSubNanosecond, draft.text_at);
  if (row.phase != RawPhase::kSpan) return;
  if (draft.duration_out_of_range || draft.duration > trace::kAbsurdDuration) {
    shard.note(Note::kAbsurdDuration, draft.text_at, draft.name);
    row.flags |= trace::kBadDuration;
  } else if (!draft.has_duration) {
    shard.note(Note::kWithoutDuration, draft.text_at, draft.name);
  } else if (draft.duration < 0) {
    shard.note(Note::kNegativeDuration, draft.text_at, draft.name);
    row.flags |= trace::kBadDuration;
  } else {
    row.duration = draft.duration;
  }
}

void stage_event(const RawEvent& draft, RawPhase phase, Shard& shard) {
  trace::EventRow row;
  row.start = draft.time;
  row.entry = shard.entries();
  row.text_at = draft.text_at;
  row.phase = phase;
  // Ends become no rows, so what they say is no concern, nor what they do not.
  const bool is_end = phase == RawPhase::kEnd || phase == RawPhase::kAsyncEnd;
  if (draft.has_name) {
    row.name = name_of(draft, shard);
  } else if (!is_end) {
    shard.note(Note::kWithoutName, draft.text_at);
  }
  row.category = category_of(draft, shard);
  row.track = track_of(draft, shard);
  row.kind = kind_of(draft, row.category, shard);
  check_times(draft, row, shard);
  const std::uint32_t event = shard.next_event();
  shard.events.push_back(row);
  if (!is_end && (draft.present != 0 || trace::is_on_device(row.kind)))
    add_sides(draft, row.kind, shard, event);
  if (phase == RawPhase::kCounter || (!is_end && row.kind == Kind::kProfilerRange)) {
    if (draft.series_as_text && !draft.number_as_text) {
      shard.note(Note::kNumberAsText, draft.text_at);
    }
    for (const auto& [series, value] : draft.series) {
      shard.counters.push_back({event, shard.intern(series, draft.text_at), value});
    }
  }
  if (phase == RawPhase::kAsyncBegin || phase == RawPhase::kAsyncInstant ||
      phase == RawPhase::kAsyncEnd) {
    // A global id names the same thing in every process.
    const bool is_global = draft.id.empty() && draft.local_id.empty();
    const std::string_view id = is_global          ? draft.global_id
                                : draft.id.empty() ? draft.local_id
                                                   : draft.id;
    std::string key(is_global ? std::string_view{} : Meant(draft.pid).text);
    for (const std::string_view part : {draft.category, id, draft.scope}) {
      key += '\x1f';
      key += Meant(part).text;
    }
    shard.async.push_back({event, shard.intern(key, draft.text_at)});
  }
}

void stage_flow(const RawEvent& draft, Shard& shard) {
  trace::FlowRow row{};
  row.id = flow_id(Meant(draft.id).text);
  row.time = draft.time;
  row.track = track_of(draft, shard);
  row.entry = shard.entries();
  row.category = draft.category_name_id != kUnknownId ? draft.category_name_id
                                                      : shard.intern(draft.category, draft.text_at);
  // Kineto gives its arrows the name of their category.
  row.name = !draft.has_name                ? base::kNoString
             : draft.name == draft.category ? row.category
                                            : name_of(draft, shard);
  row.phase = draft.phase;
  shard.flows.push_back(row);
}

void stage_label(const RawEvent& draft, Shard& shard) {
  using What = trace::LabelRow::What;
  trace::LabelRow row{0, What::kProcessName, base::kNoString, 0, shard.entries()};
  Arg wanted = Arg::kLabelName;
  const Meant name(draft.name);
  if (name.text == "process_name") {
    row.what = What::kProcessName;
  } else if (name.text == "thread_name") {
    row.what = What::kThreadName;
  } else if (name.text == "process_labels") {
    row.what = What::kProcessLabels;
    wanted = Arg::kLabels;
  } else if (name.text == "process_sort_index" || name.text == "thread_sort_index") {
    row.what = name.text.starts_with('p') ? What::kProcessSort : What::kThreadSort;
    wanted = Arg::kSortIndex;
  } else {
    return;
  }
  if (!draft.has_arg(wanted)) return;
  row.track = shard.track(draft.pid, draft.tid, draft.text_at);
  if (wanted == Arg::kSortIndex) {
    row.number = draft.integer(Arg::kSortIndex);
  } else {
    row.text = text(draft, wanted, shard);
  }
  shard.labels.push_back(row);
}

}  // namespace

void stage(const RawEvent& draft, Shard& shard) {
  const char phase = draft.phase;
  if (phase == 0) {
    shard.note(Note::kWithoutPhase, draft.text_at);
  } else if (phase == 'M') {
    stage_label(draft, shard);
  } else if (!draft.has_time) {
    shard.note(draft.time_out_of_range ? Note::kTimeOutOfRange : Note::kWithoutTimestamp,
               draft.text_at, draft.name);
  } else {
    switch (phase) {
      case 'X':
        stage_event(draft, RawPhase::kSpan, shard);
        break;
      case 'i':
      case 'I':
      case 'R':
        stage_event(draft, RawPhase::kInstant, shard);
        break;
      case 's':
      case 't':
      case 'f':
        stage_flow(draft, shard);
        break;
      case 'B':
        stage_event(draft, RawPhase::kBegin, shard);
        break;
      case 'E':
        stage_event(draft, RawPhase::kEnd, shard);
        break;
      case 'C':
        stage_event(draft, RawPhase::kCounter, shard);
        break;
      case 'b':
      case 'S':
        stage_event(draft, RawPhase::kAsyncBegin, shard);
        break;
      case 'n':
      case 'T':
      case 'p':
        stage_event(draft, RawPhase::kAsyncInstant, shard);
        break;
      case 'e':
      case 'F':
        stage_event(draft, RawPhase::kAsyncEnd, shard);
        break;
      default:
        shard.note(Note::kUnknownPhase, draft.text_at, std::string_view(&phase, 1));
        stage_event(draft, RawPhase::kInstant, shard);
    }
  }
  shard.add_entry();
}

}  // namespace stepscope::ingest::kineto
