// Merges what the shards interned into the trace's own names, tracks and signatures.
#include "trace/names.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <tuple>

#include "base/number_text.h"
#include "trace/numbered.h"

namespace stepscope::trace {
namespace {

// For an id that nothing names.
constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// An id that an entry of the list names, as the `rank`-th of them.
struct Mention {
  std::uint32_t entry;
  std::uint32_t rank;
  std::uint32_t id;
};

// What a batch names, in the order of the file. Its rows stand in tables by what they are.
class Mentions {
 public:
  explicit Mentions(const Batch& batch) : batch_(batch) {
    for (const EventRow& row : batch.events) {
      string(row.entry, 0, row.name);
      categories_.push_back({row.entry, 0, row.category});
      tracks_.push_back({row.entry, 0, row.track});
    }
    for (const OpRow& row : batch.ops) {
      if (row.signature != kNoSignature) signatures_.push_back({entry(row), 0, row.signature});
    }
    for (const StackRow& row : batch.stacks) {
      strings(entry(row), 1, {row.call_stack, row.module_hierarchy});
    }
    for (const SyncRow& row : batch.syncs) string(entry(row), 1, row.what);
    for (const CollectiveRow& row : batch.collectives) {
      strings(entry(row), kBehindStacks,
              {row.name, row.dtype, row.group_name, row.group_description, row.group_ranks,
               row.in_split, row.out_split});
    }
    std::uint32_t series = kBehindStacks;  // of one event they follow each other
    for (const CounterRow& row : batch.counters) string(entry(row), series++, row.series);
    for (const AsyncRow& row : batch.async) string(entry(row), kLast, row.key);
    for (const FlowRow& row : batch.flows) {
      strings(row.entry, 0, {row.category, row.name});
      tracks_.push_back({row.entry, 0, row.track});
    }
    for (const LabelRow& row : batch.labels) {
      string(row.entry, 0, row.text);
      tracks_.push_back({row.entry, 0, row.track});
    }
  }

  // Gives every id that has no number yet the next one.
  void number(FirstNamed& ids, std::uint64_t& next) {
    number(strings_, ids.strings, next);
    number(categories_, ids.categories, next);
    number(tracks_, ids.tracks, next);
    number(signatures_, ids.signatures, next);
  }

 private:
  static constexpr std::uint32_t kBehindStacks = 3;
  static constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();

  template <class Side>
  std::uint32_t entry(const Side& side) const {
    return batch_.events[side.event].entry;
  }
  void string(std::uint32_t entry, std::uint32_t rank, base::StringId id) {
    if (id != base::kNoString) strings_.push_back({entry, rank, id});
  }
  void strings(std::uint32_t entry, std::uint32_t rank, std::initializer_list<base::StringId> ids) {
    for (const base::StringId id : ids) string(entry, rank++, id);
  }
  static void number(std::vector<Mention>& mentions, std::vector<std::uint64_t>& ids,
                     std::uint64_t& next) {
    std::stable_sort(mentions.begin(), mentions.end(), [](const Mention& a, const Mention& b) {
      return std::tie(a.entry, a.rank) < std::tie(b.entry, b.rank);
    });
    for (const Mention& mention : mentions) {
      if (ids[mention.id] == kNever) ids[mention.id] = next++;
    }
  }

  const Batch& batch_;
  std::vector<Mention> strings_, categories_, tracks_, signatures_;
};

struct Local {
  std::uint64_t first_seen;
  std::uint32_t shard;
  std::uint32_t id;
};

// The entries of one kind of pool over all shards, by first appearance. Where `named` is given,
// what a shard saw first does not count: it may have been in text that was read wrongly.
template <class PoolOf, class NamedOf>
std::vector<Local> in_order(std::span<const std::unique_ptr<Shard>> shards, PoolOf pool_of,
                            std::span<const FirstNamed> named, NamedOf named_of) {
  std::vector<Local> all;
  for (std::uint32_t shard = 0; shard < shards.size(); ++shard) {
    std::uint32_t id = 0;
    for (const auto& entry : pool_of(*shards[shard]).entries()) {
      const std::uint64_t first = named.empty() ? entry.first_seen : named_of(named[shard])[id];
      if (first != kNever) all.push_back({first, shard, id});
      ++id;
    }
  }
  std::sort(all.begin(), all.end(), [](const Local& a, const Local& b) {
    return std::tie(a.first_seen, a.shard, a.id) < std::tie(b.first_seen, b.shard, b.id);
  });
  return all;
}

// Raw text → dense id of what it means. Shards mostly saw the same texts: each is decoded once.
class Meanings {
 public:
  Meanings(Numbered<std::string>& texts, const Decode& decode) : texts_(texts), decode_(decode) {}

  // The raw text must outlive this.
  std::uint32_t number(std::string_view raw) {
    const auto place = raws_.place(raw);
    if (place.is_new) ids_.push_back(texts_.place(decode_(raw)).number);
    return ids_[place.number];
  }

 private:
  Numbered<std::string>& texts_;
  const Decode& decode_;
  Numbered<std::string_view> raws_;
  std::vector<std::uint32_t> ids_;
};

// What the shards' signatures are, each once. Their texts join the other strings.
void merge_signatures(std::span<const std::unique_ptr<Shard>> shards,
                      std::span<const FirstNamed> named, const Decode& normalize,
                      Numbered<std::string>& strings, Names& names, std::span<ShardMap> maps) {
  std::vector<std::vector<base::StringId>> texts;  // by shard, by its text
  for (const auto& shard : shards) {
    texts.emplace_back(shard->signatures().texts().entries().size(), base::kNoString);
  }
  Numbered<std::array<base::StringId, 4>> signatures;
  Meanings meanings(strings, normalize);
  for (const Local& local : in_order(
           shards, [](const Shard& l) -> const auto& { return l.signatures(); }, named,
           [](const FirstNamed& u) -> const auto& { return u.signatures; })) {
    const SignaturePool& pool = shards[local.shard]->signatures();
    std::array<base::StringId, 4> ids = pool.entries()[local.id].texts;
    for (base::StringId& id : ids) {
      if (id == base::kNoString) continue;
      base::StringId& text = texts[local.shard][id];
      if (text == base::kNoString) text = meanings.number(pool.texts().entries()[id].raw);
      id = text;
    }
    const auto [dims, types, strides, concrete] = ids;
    const auto place = signatures.place(ids);
    if (place.is_new) names.signatures.push_back({dims, types, strides, concrete});
    maps[local.shard].signatures[local.id] = place.number;
  }
}

Track track_of(std::string_view raw, const Decode& decode) {
  const std::size_t cut = raw.find('\x1f');
  Track track;
  track.process = decode(raw.substr(0, cut));
  track.thread = decode(raw.substr(cut + 1));
  track.pid = base::parse_number<std::int64_t>(track.process);
  track.tid = base::parse_number<std::int64_t>(track.thread);
  return track;
}

}  // namespace

std::vector<FirstNamed> first_named(std::span<const std::unique_ptr<Shard>> shards,
                                    std::span<const Batch> batches) {
  std::vector<FirstNamed> named;
  for (const auto& shard : shards) {
    named.push_back({std::vector(shard->strings().entries().size(), kNever),
                     std::vector(shard->categories().entries().size(), kNever),
                     std::vector(shard->tracks().entries().size(), kNever),
                     std::vector(shard->signatures().entries().size(), kNever)});
  }
  std::uint64_t next = 0;
  for (const Batch& batch : batches) Mentions(batch).number(named[batch.shard], next);
  return named;
}

std::vector<Track> merge_tracks(std::span<const std::unique_ptr<Shard>> shards,
                                std::span<const FirstNamed> named, const Decode& decode,
                                std::span<ShardMap> maps) {
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    maps[shard].tracks.resize(shards[shard]->tracks().entries().size());
  }
  Numbered<std::string> numbers;
  std::vector<Track> tracks;
  for (const Local& local : in_order(
           shards, [](const Shard& l) -> const auto& { return l.tracks(); }, named,
           [](const FirstNamed& u) -> const auto& { return u.tracks; })) {
    Track track = track_of(shards[local.shard]->tracks().entries()[local.id].raw, decode);
    const auto place = numbers.place(track.process + '\x1f' + track.thread);
    if (place.is_new) tracks.push_back(std::move(track));
    maps[local.shard].tracks[local.id] = place.number;
  }
  return tracks;
}

base::Result<Names> merge_names(std::span<const std::unique_ptr<Shard>> shards,
                                std::span<const FirstNamed> named, const Decode& decode,
                                const Decode& normalize, std::span<ShardMap> maps) {
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    maps[shard].strings.resize(shards[shard]->strings().entries().size(), base::kNoString);
    maps[shard].categories.resize(shards[shard]->categories().entries().size());
    maps[shard].signatures.resize(shards[shard]->signatures().entries().size());
  }

  Names names;
  Numbered<std::string> strings;
  Meanings meanings(strings, decode);
  for (const Local& local : in_order(
           shards, [](const Shard& l) -> const auto& { return l.strings(); }, named,
           [](const FirstNamed& u) -> const auto& { return u.strings; })) {
    const std::string_view raw = shards[local.shard]->strings().entries()[local.id].raw;
    maps[local.shard].strings[local.id] = meanings.number(raw);
  }
  Numbered<std::string> categories;
  for (const Local& local : in_order(
           shards, [](const Shard& l) -> const auto& { return l.categories(); }, named,
           [](const FirstNamed& u) -> const auto& { return u.categories; })) {
    const std::string text = decode(shards[local.shard]->categories().entries()[local.id].raw);
    const auto place = categories.place(text);
    if (place.is_new) names.categories.push_back(strings.place(text).number);
    maps[local.shard].categories[local.id] = place.number;
  }
  if (names.categories.size() > std::numeric_limits<std::uint16_t>::max()) {
    return base::fail(base::Code::kLimit, "more than 65535 event categories; is this a trace?");
  }
  merge_signatures(shards, named, normalize, strings, names, maps);
  names.strings = base::StringTable(strings.take());
  return names;
}

}  // namespace stepscope::trace
