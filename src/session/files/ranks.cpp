// Gives each file its rank, and reads what ranks wrote about their own recording.
#include "session/files/ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/number_text.h"
#include "bytes/source_within.h"
#include "ingest/rank_json/rank_json.h"
#include "session/files/run_folder.h"

namespace stepscope::session {

namespace {

constexpr std::size_t kMostDigits = 7;  // longer numbers are times and process ids

bool equals_word(std::string_view text, std::string_view word) {
  return text.size() == word.size() &&
         std::ranges::equal(text, word, [](char a, char b) { return base::lowered(a) == b; });
}

bool ends_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && equals_word(text.substr(text.size() - word.size()), word);
}

std::optional<std::int32_t> number_of(std::string_view digits) {
  if (digits.empty() || digits.size() > kMostDigits) return std::nullopt;
  return base::parse_number<std::int32_t>(digits);
}

std::string_view digits_from(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && base::is_digit(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// "rank" of "local_rank" counts within one host only.
bool is_local(std::string_view before) {
  while (!before.empty() && (before.back() == '_' || before.back() == '-')) before.remove_suffix(1);
  return ends_with_word(before, "local");
}

// The number after `word`, as in rank3, rank_3, rank-3, rank=3. The last such place counts: it is
// the one nearest to what the file is.
std::optional<std::int32_t> number_behind(std::string_view name, std::string_view word) {
  std::optional<std::int32_t> found;
  for (std::size_t at = 0; at + word.size() < name.size(); ++at) {
    if (!equals_word(name.substr(at, word.size()), word)) continue;
    if (at > 0 && base::is_letter(name[at - 1])) continue;
    if (is_local(name.substr(0, at))) continue;
    std::size_t begin = at + word.size();
    if (std::string_view("_-.=").find(name[begin]) != std::string_view::npos) ++begin;
    if (const auto number = number_of(digits_from(name, begin))) found = number;
  }
  return found;
}

// r3 standing alone between other characters than letters and digits.
std::optional<std::int32_t> number_behind_r(std::string_view name) {
  for (std::size_t at = 0; at + 1 < name.size(); ++at) {
    if (base::lowered(name[at]) != 'r' || !base::is_digit(name[at + 1])) continue;
    if (at == 0 || base::is_letter(name[at - 1]) || base::is_digit(name[at - 1])) continue;
    const std::string_view digits = digits_from(name, at + 1);
    const std::size_t end = at + 1 + digits.size();
    if (end < name.size() && base::is_letter(name[end])) continue;
    if (const auto number = number_of(digits)) return number;
  }
  return std::nullopt;
}

// 000003_step_10.pickle: the rank, with zeros in front, and which step it is of.
std::optional<std::int32_t> number_before_step(std::string_view name) {
  const std::string_view digits = digits_from(name, 0);
  if (digits.size() < 2 || digits.front() != '0') return std::nullopt;
  const std::string_view rest = name.substr(digits.size());
  if (rest.empty() || std::string_view("_-.").find(rest.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  constexpr std::string_view kStep = "step";
  if (!equals_word(rest.substr(1, kStep.size()), kStep)) return std::nullopt;
  return number_of(digits);
}

std::pair<std::string_view, std::string_view> split_last(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {{}, path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::string_view without_extension(std::string_view name) {
  for (const std::string_view end : {".zst", ".gz", ".json", ".trace", ".pt", ".pickle", ".pkl"}) {
    if (name.size() > end.size() && ends_with_word(name, end)) name.remove_suffix(end.size());
  }
  return name;
}

// Whether a number after this counts windows of one process.
bool counts_windows(std::string_view before) {
  while (!before.empty() && !base::is_letter(before.back())) before.remove_suffix(1);
  for (const std::string_view word :
       {"step", "steps", "iter", "iteration", "epoch", "batch", "window", "cycle"}) {
    if (ends_with_word(before, word)) return true;
  }
  return false;
}

// Whether a number at the end of a name says when a recording was made, or with which setting.
bool counts_no_ranks(std::string_view before) {
  while (!before.empty() && !base::is_letter(before.back())) before.remove_suffix(1);
  std::size_t begin = before.size();
  while (begin > 0 && base::is_letter(before[begin - 1])) --begin;
  const std::string_view last = before.substr(begin);
  for (const std::string_view word : {"workers", "size", "bs", "lr", "seed", "trial"}) {
    if (equals_word(last, word)) return true;
  }
  return counts_windows(before);
}

struct NumberedName {
  std::string prefix;  // folder included
  std::int32_t number = 0;
};

// trace_3.json: a prefix and a number, nothing else.
std::optional<NumberedName> numbered_name(std::string_view path) {
  const auto [folder, file] = split_last(path);
  const std::string_view name = without_extension(file);
  std::size_t begin = name.size();
  while (begin > 0 && base::is_digit(name[begin - 1])) --begin;
  const auto number = number_of(name.substr(begin));
  if (!number || counts_no_ranks(name.substr(0, begin))) return std::nullopt;
  return NumberedName{std::string(folder) + "/" + std::string(name.substr(0, begin)), *number};
}

// Files of one key are recordings of one process. TensorBoard's handler names them by worker and
// time: HOST_PID.1700000000000.pt.trace.json.
std::string process_key(std::string_view path) {
  const auto [folder, file] = split_last(path);
  if (file.find(".pt.trace.json") == std::string_view::npos) return std::string(path);
  const std::string_view name = without_extension(file);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::string(path);
  const std::string_view time = name.substr(dot + 1);
  if (time.size() < 10 || !std::ranges::all_of(time, base::is_digit)) return std::string(path);
  return std::string(folder) + "/" + std::string(name.substr(0, dot));
}

// HOST of such a name; empty of others.
std::string host_in_name(std::string_view path) {
  const std::string key = process_key(path);
  const auto [folder, name] = split_last(key);
  const std::size_t cut = name.rfind('_');
  if (key == path || cut == std::string_view::npos) return {};
  return std::string(name.substr(0, cut));
}

// What a process recorded of itself; its worker-123.scope is of process 123.
bool is_recording_in_ranks(std::string_view name) {
  return ends_with_word(without_partial(name).value_or(name), ".scope");
}

bool fits_rank(std::int64_t rank) { return rank >= 0 && rank <= 0x7fffffff; }

// Numbers at the end of the names of these files, if all have one, none twice, after one prefix.
std::vector<std::int32_t> trailing_numbers(const std::vector<RankedFile>& files,
                                           const std::vector<std::size_t>& unknown,
                                           const std::set<std::int32_t>& taken) {
  std::vector<std::int32_t> numbers;
  std::set<std::int32_t> seen = taken;
  std::string prefix;
  for (const std::size_t i : unknown) {
    const auto named = numbered_name(files[i].path);
    if (!named || (!numbers.empty() && named->prefix != prefix)) return {};
    if (!seen.insert(named->number).second) return {};
    prefix = named->prefix;
    numbers.push_back(named->number);
  }
  return numbers.size() > 1 ? numbers : std::vector<std::int32_t>{};
}

}  // namespace

std::optional<std::int32_t> rank_in_path(std::string_view path) {
  auto [folder, name] = split_last(path);
  if (const auto rank = number_behind(name, "rank")) return rank;
  if (!is_recording_in_ranks(name)) {
    if (const auto rank = number_behind(name, "worker")) return rank;
  }
  if (const auto rank = number_behind_r(name)) return rank;
  if (const auto rank = number_before_step(name)) return rank;
  while (!folder.empty()) {
    std::tie(folder, name) = split_last(folder);
    if (const auto rank = number_behind(name, "rank")) return rank;
    if (const auto rank = number_behind(name, "worker")) return rank;
  }
  return std::nullopt;
}

std::vector<RankChoice> choose_ranks(const std::vector<RankedFile>& files) {
  std::vector<RankChoice> choices(files.size());
  std::vector<std::size_t> unknown;
  std::set<std::int32_t> taken;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].header_rank && fits_rank(*files[i].header_rank)) {
      choices[i] = {static_cast<std::int32_t>(*files[i].header_rank), RankSource::kHeader};
    } else if (const auto rank = rank_in_path(files[i].path)) {
      const bool own = is_in_rank_folder(files[i].path);
      choices[i] = {*rank, own ? RankSource::kRankFolder : RankSource::kFileName};
    } else {
      unknown.push_back(i);
      continue;
    }
    taken.insert(choices[i].rank);
  }

  if (const auto numbers = trailing_numbers(files, unknown, taken); !numbers.empty()) {
    for (std::size_t n = 0; n < unknown.size(); ++n) {
      choices[unknown[n]] = {numbers[n], RankSource::kFileName};
    }
    return choices;
  }

  std::map<std::string, std::int32_t> rank_of_process;
  std::int32_t next = 0;
  for (const std::size_t i : unknown) {
    const auto [entry, is_new] = rank_of_process.try_emplace(process_key(files[i].path), 0);
    if (is_new) {
      while (taken.contains(next)) ++next;
      entry->second = next++;
    }
    choices[i] = {entry->second, RankSource::kOrder};
  }
  return choices;
}

bool are_ranks_by_order_alone(const std::vector<RankedFile>& files,
                              const std::vector<RankChoice>& choices) {
  std::set<std::string> hosts;
  for (const RankedFile& file : files) {
    std::string_view name = without_extension(split_last(file.path).second);
    while (!name.empty() && base::is_digit(name.back())) name.remove_suffix(1);
    if (counts_windows(name)) return false;
    hosts.insert(file.host.empty() ? host_in_name(file.path) : file.host);
  }
  return hosts.size() == 1 && std::ranges::all_of(choices, [](const RankChoice& choice) {
           return choice.source == RankSource::kOrder;
         });
}

std::string overlap_in(const std::vector<WindowSpan>& windows) {
  for (std::size_t i = 1; i < windows.size(); ++i) {
    if (windows[i].start_ns < windows[i - 1].end_ns) {
      return windows[i - 1].path + " and " + windows[i].path;
    }
  }
  return {};
}

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;

std::string apart_text(const std::string& first, const std::string& second, std::int64_t gap) {
  constexpr std::int64_t kHour = 60 * kMinute;
  const auto in = [&](std::int64_t unit) { return (gap + unit / 2) / unit; };
  const std::string time = gap < 2 * kMinute  ? fmt::format("{} seconds", in(kSecond))
                           : gap < 2 * kHour  ? fmt::format("{} minutes", in(kMinute))
                           : gap < 48 * kHour ? fmt::format("{} hours", in(kHour))
                                              : fmt::format("{} days", in(24 * kHour));
  return fmt::format("{} and {}: {} apart", first, second, time);
}

}  // namespace

std::string apart_in(const std::vector<WindowSpan>& ranks, std::int64_t least_gap) {
  if (ranks.empty()) return {};
  const auto first_over = std::ranges::min_element(ranks, {}, &WindowSpan::end_ns);
  const auto last_begun = std::ranges::max_element(ranks, {}, &WindowSpan::start_ns);
  // Of damaged files the times can be any.
  std::int64_t gap = 0;
  const bool is_far = __builtin_sub_overflow(last_begun->start_ns, first_over->end_ns, &gap);
  if (is_far || gap < least_gap) return {};
  return apart_text(first_over->path, last_begun->path, gap);
}

std::string alone_in(std::vector<WindowSpan> windows) {
  std::ranges::stable_sort(windows, {}, &WindowSpan::start_ns);
  // Windows with less than that between them are of one time.
  struct Time {
    std::size_t first = 0, latest = 0;  // of its windows: by start, by end
    bool alone = true;                  // all of one rank
  };
  std::vector<Time> times;
  std::vector<std::int64_t> gaps;  // before each
  for (std::size_t i = 0; i < windows.size(); ++i) {
    std::int64_t gap = 0;
    if (!times.empty() &&
        __builtin_sub_overflow(windows[i].start_ns, windows[times.back().latest].end_ns, &gap)) {
      return {};  // of damaged files the times can be any
    }
    if (times.empty() || gap >= kClocksApart) {
      times.push_back({.first = i, .latest = i});
      gaps.push_back(gap);
      continue;
    }
    Time& now = times.back();
    now.alone &= windows[i].rank == windows[now.first].rank;
    if (windows[i].end_ns > windows[now.latest].end_ns) now.latest = i;
  }
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i].alone == times[i - 1].alone) continue;
    return apart_text(windows[times[i - 1].latest].path, windows[times[i].first].path, gaps[i]);
  }
  return {};
}

bool is_rank_record(const std::string& path) {
  return path.ends_with("/rank.json") && is_in_rank_folder(path);
}

void add_rank_record(const std::string& path, const std::string& within, OpenedRun& recording) {
  const std::string text = bytes::whole_file(within, path).value_or(std::string());
  base::Result<trace::RankRecord> record = ingest::rank_json::parse(text);
  if (!record) {
    recording.run.skipped.push_back({path, record.error().message});
    return;
  }
  record->path = path;
  recording.rank_records.push_back(*std::move(record));
}

}  // namespace stepscope::session
