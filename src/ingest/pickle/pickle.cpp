// Reads a memory snapshot from its pickle, and puts its devices together.
#include "ingest/pickle/pickle.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "ingest/pickle/machine.h"
#include "ingest/pickle/words.h"

namespace stepscope::ingest::pickle {
namespace {

using base::Code;
using base::Note;

constexpr std::string_view kFlightRecorder =
    "a dump of the NCCL flight recorder (collectives of a process group), not a memory snapshot";

// Puts together what the machine left: the top dictionary and the records its lists refer to.
class Assembly {
 public:
  explicit Assembly(Machine& machine)
      : values_(machine.values()), records_(machine.records()), machine_(machine) {}

  memory::Snapshot run(const Container& top) {
    for (std::size_t i = 0; i + 1 < top.cells.size(); i += 2) {
      const Cell key = top.cells[i];
      const Cell value = values_.now(top.cells[i + 1]);
      if (key.tag != Tag::kText) continue;
      switch (static_cast<Word>(std::min<std::uint64_t>(key.bits, id_of(Word::kCount)))) {
        case Word::kSegments:
          add_segments(value, false);
          break;
        case Word::kHostSegments:
          add_segments(value, true);
          break;
        case Word::kDeviceTraces:
          add_histories(value, false);
          break;
        case Word::kHostTraces:
          add_histories(value, true);
          break;
        case Word::kExternalAnnotations:
          if (value.tag == Tag::kList && values_.at(value).holds == Holds::kAnnotations) {
            snapshot_.annotations = std::move(records_.annotations[values_.at(value).records]);
          }
          break;
        case Word::kAllocatorSettings:
          add_settings(value);
          break;
        default:
          machine_.log().add(Note::kUnknownValue, base::ImportLog::kNowhere,
                             fmt::format("'{}'", text(key)));
          break;
      }
    }
    std::ranges::stable_sort(snapshot_.histories, [](const auto& a, const auto& b) {
      return std::pair(a.is_host, a.device) < std::pair(b.is_host, b.device);
    });
    snapshot_.pools = std::move(records_.pools);
    snapshot_.stacks = records_.stacks.take();
    std::vector<std::string> strings;
    strings.reserve(machine_.strings().entries().size());
    for (const auto& entry : machine_.strings().entries()) strings.emplace_back(entry.raw);
    snapshot_.strings = base::StringTable(strings);
    snapshot_.log = std::move(machine_.log());
    return std::move(snapshot_);
  }

 private:
  std::string_view text(const Cell& cell) const {
    return machine_.strings().entries()[cell.id()].raw;
  }

  void add_segments(const Cell& list, bool is_host) {
    if (list.tag != Tag::kList) return;
    const Container& container = values_.at(list);
    if (container.holds == Holds::kSegments) {
      for (RawSegment& draft : records_.segments[container.records]) {
        draft.segment.is_host = is_host;
        add_segment(draft);
      }
    } else if (container.holds == Holds::kBlocks) {
      // Pinned memory is not cut into blocks: one of them is a segment.
      for (const memory::Block& block : records_.blocks[container.records]) {
        RawSegment draft{.segment = {.is_host = is_host,
                                     .address = block.address,
                                     .total = block.size,
                                     .requested = block.requested,
                                     .stack = block.stack},
                         .blocks = {block}};
        const bool used = block.state != memory::BlockState::kInactive;
        draft.segment.allocated = draft.segment.active = used ? block.size : 0;
        add_segment(draft);
      }
    }
  }

  void add_segment(RawSegment& draft) {
    draft.segment.first_block = static_cast<std::uint32_t>(snapshot_.blocks.size());
    draft.segment.blocks = static_cast<std::uint32_t>(draft.blocks.size());
    snapshot_.blocks.insert(snapshot_.blocks.end(), draft.blocks.begin(), draft.blocks.end());
    snapshot_.segments.push_back(draft.segment);
    draft.blocks = {};
  }

  void add_history(const Cell& list, std::int32_t device, bool is_host) {
    if (list.tag != Tag::kList || values_.at(list).holds != Holds::kEvents) return;
    memory::History history = records_.events[values_.at(list).records].take();
    if (history.length() == 0) return;  // listed twice
    history.device = device;
    history.is_host = is_host;
    snapshot_.histories.push_back(std::move(history));
  }

  // One list of events per device; for pinned memory perhaps only the events.
  void add_histories(const Cell& value, bool is_host) {
    add_history(value, 0, is_host);
    if (!value.is_slot()) return;
    const std::vector<Cell>& cells = values_.at(value).cells;
    if (value.tag == Tag::kList) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        add_history(values_.now(cells[i]), static_cast<std::int32_t>(i), is_host);
      }
      return;
    }
    for (std::size_t i = 0; i + 1 < cells.size(); i += 2) {
      const auto device = static_cast<std::int32_t>(whole(cells[i]).value_or(0));
      add_history(values_.now(cells[i + 1]), device, is_host);
    }
  }

  void add_settings(const Cell& value) {
    if (value.tag != Tag::kDict) return;
    memory::Settings& settings = snapshot_.settings;
    settings.known = true;
    const std::vector<Cell>& cells = values_.at(value).cells;
    for (std::size_t i = 0; i + 1 < cells.size(); i += 2) {
      if (cells[i].tag != Tag::kText) continue;
      const std::string_view key = text(cells[i]);
      const Cell member = values_.now(cells[i + 1]);
      settings.all.emplace_back(key, records_.text_of(member));
      add_setting(key, member);
    }
  }

  void add_setting(std::string_view key, const Cell& value) {
    memory::Settings& settings = snapshot_.settings;
    const std::optional<std::int64_t> number = whole(value);
    if ((key == "PYTORCH_CUDA_ALLOC_CONF" || key == "PYTORCH_ALLOC_CONF") &&
        value.tag == Tag::kText && settings.conf.empty()) {
      settings.conf = text(value);
    } else if (key == "max_split_size" && number && *number >= 0) {
      settings.max_split_size = number;
    } else if (key == "garbage_collection_threshold") {
      if (value.tag == Tag::kReal) {
        settings.garbage_collection_threshold = std::bit_cast<double>(value.bits);
      } else if (number) {
        settings.garbage_collection_threshold = static_cast<double>(*number);
      }
    } else if (key == "expandable_segments" && number) {
      settings.expandable_segments = *number != 0;
    } else if (key == "max_round_threshold" && number) {
      settings.max_round_threshold = number;
    } else if (key == "max_cached_size" && number) {
      settings.max_cached_size = number;
    } else if (key == "trace_alloc_overflowed" && number) {
      settings.history_overflowed = *number != 0;
    } else if (key == "trace_alloc_max_entries" && number) {
      settings.history_max_entries = number;
    } else if (key == "roundup_power2_divisions" && value.tag == Tag::kDict) {
      add_divisions(values_.at(value).cells);
    }
  }

  void add_divisions(const std::vector<Cell>& cells) {
    for (std::size_t i = 0; i + 1 < cells.size(); i += 2) {
      const auto divisions = whole(cells[i + 1]);
      std::optional<std::int64_t> size = whole(cells[i]);
      if (cells[i].tag == Tag::kText) {
        std::int64_t value = 0;
        const std::string_view digits = text(cells[i]);
        const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (result.ec == std::errc()) size = value;
      }
      if (size && divisions) {
        snapshot_.settings.roundup_power2_divisions.emplace_back(*size, *divisions);
      }
    }
  }

  Values& values_;
  Records& records_;
  Machine& machine_;
  memory::Snapshot snapshot_;
};

// Says what the pickle is instead.
base::Failure no_snapshot(Machine& machine, const Cell& top) {
  const std::string& name = machine.source().name();
  if (top.tag != Tag::kDict) {
    return base::fail(
        Code::kFormat,
        fmt::format("{}: a pickle, but no memory snapshot: it holds no dictionary", name));
  }
  const Container& dict = machine.values().at(top);
  if ((dict.keys & bit_of(Word::kEntries)) != 0) {
    return base::fail(Code::kFormat, fmt::format("{}: {}", name, kFlightRecorder));
  }
  std::string keys;
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i + 1 < dict.cells.size() && i < 2 * kShown; i += 2) {
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ",
                        machine.records().text_of(dict.cells[i]).substr(0, 40));
  }
  return base::fail(
      Code::kFormat,
      fmt::format("{}: a pickle, but no memory snapshot: it has neither 'segments' nor "
                  "'device_traces'{}{}",
                  name, keys.empty() ? "" : "; its keys are ", keys));
}

}  // namespace

int sniff(std::string_view first_bytes) {
  if (first_bytes.size() < 2) return 0;
  const auto first = static_cast<unsigned char>(first_bytes[0]);
  const auto second = static_cast<unsigned char>(first_bytes[1]);
  if (first == 0x80 && second <= 9) return 100;
  // Protocols 0 and 1 have no header: a dictionary, memoised or marked.
  if (first_bytes.starts_with("(d") || first_bytes.starts_with("}q")) return 60;
  return 0;
}

std::string reason_to_skip(std::string_view first_bytes) {
  const auto has_word = [&](std::string_view word) {
    return first_bytes.find(word) != std::string_view::npos;
  };
  if (has_word("segments") || has_word("device_traces") || has_word("allocator_settings"))
    return {};
  if (has_word("pg_config") || has_word("nccl_version") || has_word("comm_lib_version")) {
    return std::string(kFlightRecorder);
  }
  return "a pickle that is no memory snapshot";
}

base::Result<memory::Snapshot> read(std::unique_ptr<bytes::ByteSource> source,
                                    const ReadOptions& options) {
  Machine machine(std::move(source), options);
  SCOPE_TRY(const Cell top, machine.run());
  constexpr std::uint64_t kSnapshotKeys = bit_of(Word::kSegments) | bit_of(Word::kDeviceTraces) |
                                          bit_of(Word::kHostSegments) | bit_of(Word::kHostTraces);
  if (top.tag != Tag::kDict || (machine.values().at(top).keys & kSnapshotKeys) == 0) {
    return no_snapshot(machine, top);
  }
  memory::Snapshot snapshot = Assembly(machine).run(machine.values().at(top));
  bytes::ByteSource& read_from = machine.source();
  snapshot.source = {.path = read_from.name(),
                     .encoding = std::string(name_of(read_from.encoding())),
                     .format = fmt::format("pickle protocol {}", machine.protocol()),
                     .file_bytes = read_from.file_size().value_or(read_from.file_position()),
                     .data_bytes = read_from.text_position()};
  return snapshot;
}

}  // namespace stepscope::ingest::pickle
