#include "trace/names.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>
#include <unordered_map>

namespace stepscope::trace {
namespace {

using Decode = std::function<std::string(std::string_view)>;

// Marks, by lane, which ids a batch refers to.
struct Used {
  std::vector<char> strings, categories, tracks, signatures;
};

std::vector<Used> used_ids(std::span<const std::unique_ptr<Lane>> lanes,
                           std::span<const Batch> batches) {
  std::vector<Used> used;
  for (const auto& lane : lanes) {
    used.push_back({std::vector<char>(lane->strings().entries().size()),
                    std::vector<char>(lane->categories().entries().size()),
                    std::vector<char>(lane->tracks().entries().size()),
                    std::vector<char>(lane->signatures().entries().size())});
  }
  for (const Batch& batch : batches) {
    Used& mine = used[batch.lane];
    const auto string = [&](base::StringId id) {
      if (id != base::kNoString) mine.strings[id] = 1;
    };
    for (const EventRow& row : batch.events) {
      string(row.name);
      mine.categories[row.category] = 1;
      mine.tracks[row.track] = 1;
    }
    for (const OpRow& row : batch.ops) {
      if (row.signature != kNoSignature) mine.signatures[row.signature] = 1;
    }
    for (const StackRow& row : batch.stacks) {
      string(row.call_stack);
      string(row.module_hierarchy);
    }
    for (const SyncRow& row : batch.syncs) string(row.what);
    for (const CollectiveRow& row : batch.collectives) {
      for (const base::StringId id : {row.name, row.dtype, row.group_name, row.group_description,
                                      row.group_ranks, row.in_split, row.out_split}) {
        string(id);
      }
    }
    for (const CounterRow& row : batch.counters) string(row.series);
    for (const AsyncRow& row : batch.async) string(row.key);
    for (const FlowRow& row : batch.flows) {
      string(row.name);
      string(row.category);
      mine.tracks[row.track] = 1;
    }
    for (const LabelRow& row : batch.labels) {
      string(row.text);
      mine.tracks[row.track] = 1;
    }
  }
  return used;
}

struct Local {
  std::uint64_t first_seen;
  std::uint32_t lane;
  std::uint32_t id;
};

// The entries of one kind of pool over all lanes, by first appearance.
template <class PoolOf, class MarksOf>
std::vector<Local> in_order(std::span<const std::unique_ptr<Lane>> lanes, PoolOf pool_of,
                            std::span<const Used> used, MarksOf marks_of) {
  std::vector<Local> all;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    std::uint32_t id = 0;
    for (const auto& entry : pool_of(*lanes[lane]).entries()) {
      if (used.empty() || marks_of(used[lane])[id] != 0) {
        all.push_back({entry.first_seen, lane, id});
      }
      ++id;
    }
  }
  std::sort(all.begin(), all.end(), [](const Local& a, const Local& b) {
    return std::tie(a.first_seen, a.lane, a.id) < std::tie(b.first_seen, b.lane, b.id);
  });
  return all;
}

// Decoded text → dense id, in order of insertion.
class Numbering {
 public:
  std::uint32_t number(std::string text) {
    const auto [found, is_new] =
        ids_.try_emplace(std::move(text), static_cast<std::uint32_t>(ids_.size()));
    if (is_new) order_.push_back(&found->first);
    return found->second;
  }
  std::size_t size() const { return order_.size(); }
  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    texts.reserve(order_.size());
    for (const std::string* text : order_) texts.push_back(*text);
    return texts;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<const std::string*> order_;  // keys of a node-based map stay where they are
};

// Raw text → dense id of what it means. Lanes mostly saw the same texts: each is decoded once.
class RawNumbering {
 public:
  RawNumbering(Numbering& texts, const Decode& decode) : texts_(texts), decode_(decode) {}

  // The raw text must outlive this.
  std::uint32_t number(std::string_view raw) {
    const auto [found, is_new] = ids_.try_emplace(raw, 0);
    if (is_new) found->second = texts_.number(decode_(raw));
    return found->second;
  }

 private:
  Numbering& texts_;
  const Decode& decode_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

std::optional<std::int64_t> as_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What the lanes' signatures are, each once. Their texts join the other strings.
void merge_signatures(std::span<const std::unique_ptr<Lane>> lanes, std::span<const Used> used,
                      const Decode& normalize, Numbering& strings, Names& names) {
  std::vector<std::vector<base::StringId>> texts;  // by lane, by its text
  for (const auto& lane : lanes) {
    texts.emplace_back(lane->signatures().texts().entries().size(), base::kNoString);
  }
  Numbering signatures;
  RawNumbering raw_texts(strings, normalize);
  for (const Local& local : in_order(
           lanes, [](const Lane& l) -> const auto& { return l.signatures(); }, used,
           [](const Used& u) -> const auto& { return u.signatures; })) {
    const SignaturePool& pool = lanes[local.lane]->signatures();
    std::array<base::StringId, 4> ids = pool.entries()[local.id].texts;
    for (base::StringId& id : ids) {
      if (id == base::kNoString) continue;
      base::StringId& text = texts[local.lane][id];
      if (text == base::kNoString) text = raw_texts.number(pool.texts().entries()[id].raw);
      id = text;
    }
    const auto [dims, types, strides, concrete] = ids;
    const std::string key(reinterpret_cast<const char*>(ids.data()), sizeof(ids));
    const SignatureId number = signatures.number(key);
    if (number == names.signatures.size()) {
      names.signatures.push_back({dims, types, strides, concrete});
    }
    names.maps[local.lane].signatures[local.id] = number;
  }
}

Track track_of(std::string_view raw, const Decode& decode) {
  const std::size_t cut = raw.find('\x1f');
  Track track;
  track.process = decode(raw.substr(0, cut));
  track.thread = decode(raw.substr(cut + 1));
  track.pid = as_number(track.process);
  track.tid = as_number(track.thread);
  return track;
}

}  // namespace

base::Result<Names> merge_names(std::span<const std::unique_ptr<Lane>> lanes,
                                std::span<const Batch> batches, bool only_used,
                                const Decode& decode, const Decode& normalize) {
  const std::vector<Used> used = only_used ? used_ids(lanes, batches) : std::vector<Used>{};
  Names names;
  names.maps.resize(lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    names.maps[lane].strings.resize(lanes[lane]->strings().entries().size(), base::kNoString);
    names.maps[lane].categories.resize(lanes[lane]->categories().entries().size());
    names.maps[lane].tracks.resize(lanes[lane]->tracks().entries().size());
    names.maps[lane].signatures.resize(lanes[lane]->signatures().entries().size());
  }

  Numbering strings;
  RawNumbering raw_strings(strings, decode);
  for (const Local& local : in_order(
           lanes, [](const Lane& l) -> const auto& { return l.strings(); }, used,
           [](const Used& u) -> const auto& { return u.strings; })) {
    const std::string_view raw = lanes[local.lane]->strings().entries()[local.id].raw;
    names.maps[local.lane].strings[local.id] = raw_strings.number(raw);
  }
  Numbering categories;
  for (const Local& local : in_order(
           lanes, [](const Lane& l) -> const auto& { return l.categories(); }, used,
           [](const Used& u) -> const auto& { return u.categories; })) {
    const std::string text = decode(lanes[local.lane]->categories().entries()[local.id].raw);
    const std::uint32_t id = categories.number(text);
    if (id == names.categories.size()) names.categories.push_back(strings.number(text));
    names.maps[local.lane].categories[local.id] = id;
  }
  if (names.categories.size() > std::numeric_limits<std::uint16_t>::max()) {
    return base::fail(base::Code::kLimit, "more than 65535 event categories; is this a trace?");
  }
  Numbering tracks;
  for (const Local& local : in_order(
           lanes, [](const Lane& l) -> const auto& { return l.tracks(); }, used,
           [](const Used& u) -> const auto& { return u.tracks; })) {
    Track track = track_of(lanes[local.lane]->tracks().entries()[local.id].raw, decode);
    const std::uint32_t id = tracks.number(track.process + '\x1f' + track.thread);
    if (id == names.tracks.size()) names.tracks.push_back(std::move(track));
    names.maps[local.lane].tracks[local.id] = id;
  }
  merge_signatures(lanes, used, normalize, strings, names);
  names.strings = base::StringTable(strings.texts());
  return names;
}

}  // namespace stepscope::trace
