// Keeps what `stepscope run` saw of a program in the folder of its run, and reads how runs ended.
#include "session/program/program_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"
#include "session/files/run_folder.h"
#include "trace/process_record.h"

namespace stepscope::session {

namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using nlohmann::ordered_json;

// A process that comes later than this to a launch of its name belongs to another one.
constexpr base::Nanos kLatestNs = 6LL * 3600 * 1'000'000'000;

ordered_json read_json(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ordered_json content = ordered_json::parse(text, nullptr, false);
  return content.is_object() ? content : ordered_json::object();
}

enum class Over { kOther, kNothing };

// Whole or not at all; over what is there, or never over another's.
base::Status write_json(const fs::path& path, const ordered_json& content,
                        Over over = Over::kOther) {
  // Several ranks may write the same.
  const fs::path partial = fmt::format("{}.{}.partial", path.string(), ::getpid());
  std::ofstream file(partial, std::ios::binary);
  file << content.dump(1, ' ', false, ordered_json::error_handler_t::replace) << "\n";
  file.close();
  std::error_code error;
  if (file && over == Over::kNothing) {
    fs::create_hard_link(partial, path, error);
    const bool is_there = !error || fs::exists(path);
    if (is_there) {
      fs::remove(partial, error);
      return base::Done{};
    }
    error.clear();  // no hard links here
  }
  if (file) fs::rename(partial, path, error);
  if (file && !error) return base::Done{};
  const std::string why = error ? error.message() : std::generic_category().message(errno);
  fs::remove(partial, error);
  return fail(Code::kIo, fmt::format("{}: {}", path.string(), why));
}

std::string utc_text(base::Nanos unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length =
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S+00:00", &parts);
  return {text.data(), length};
}

ordered_json identity_of(const ProgramRun& run) {
  if (!run.run_id.empty()) return {{"id", run.run_id}};
  ordered_json identity = {{"script", run.script.empty() ? run.command.front() : run.script}};
  for (const auto& [name, value] : run.array_task) identity[base::lowered(name)] = value;
  return identity;
}

ordered_json about(const ProgramRun& run) {
  ordered_json facts = ordered_json::object();
  facts["command"] = run.with_arguments ? run.command : std::vector{run.command.front()};
  facts["directory"] = run.directory;
  facts["start"] = utc_text(run.start_unix_ns);
  facts["start_ns"] = run.start_unix_ns;
  facts["host"] = run.host;
  facts["world_size"] = run.world_size;
  facts["versions"] = {{"stepscope", run.version}};
  facts["environment"] = ordered_json::object();
  facts["config"] = ordered_json::object();
  facts["tags"] = run.tags;
  return facts;
}

std::vector<std::uint64_t> attempts_in(const std::string& folder) {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (const auto number = attempt_number(entry.path().filename().string())) {
      numbers.push_back(*number);
    }
  }
  std::ranges::sort(numbers, std::greater());
  return numbers;
}

std::string attempt_path(const std::string& folder, std::uint64_t number) {
  return fmt::format("{}/attempt-{}", folder, number);
}

// Of this launch, made by another rank of it; empty: there is none yet.
std::string attempt_of_launch(const ProgramRun& run, const std::string& folder) {
  for (const std::uint64_t number : attempts_in(folder)) {
    std::string path = attempt_path(folder, number);
    const ordered_json found = read_json(path + "/attempt.json");
    const auto launch = found.find("launch");
    const auto start = found.find("start_ns");
    if (launch == found.end() || *launch != run.launch) continue;
    if (start == found.end() || !start->is_number_integer()) continue;
    const base::Nanos between = run.start_unix_ns - start->get<base::Nanos>();
    if (std::max(between, -between) < kLatestNs) return path;
  }
  return {};
}

// Under another name first, complete with its attempt.json: of many ranks one succeeds.
base::Result<std::string> make_attempt(const ProgramRun& run, const std::string& folder) {
  const std::vector<std::uint64_t> numbers = attempts_in(folder);
  // A command that came between is among the numbers, or takes the next one before us.
  if (std::string same = attempt_of_launch(run, folder); !same.empty()) return same;
  const std::uint64_t number = numbers.empty() ? 0 : numbers.front() + 1;
  std::string making = fmt::format("{}/.attempt-{}-XXXXXX", folder, number);
  if (::mkdtemp(making.data()) == nullptr) {
    return fail(Code::kIo, fmt::format("{}: {}", folder, std::generic_category().message(errno)));
  }
  std::error_code error;
  fs::permissions(making, fs::status(folder, error).permissions(), error);
  ordered_json content = {{"schema", "stepscope.attempt/1"}, {"attempt", number}};
  content["launch"] = run.launch;
  content.update(about(run));
  SCOPE_TRY(write_json(making + "/attempt.json", content));
  fs::rename(making, attempt_path(folder, number), error);
  if (!error) return attempt_path(folder, number);
  std::error_code ignored;
  fs::remove_all(making, ignored);
  const std::string others = attempt_of_launch(run, folder);
  if (!others.empty()) return others;
  return fail(Code::kIo, fmt::format("{}: {}", folder, error.message()));
}

base::Result<std::string> attempt_for(const ProgramRun& run, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(Code::kIo, fmt::format("{}: {}", folder, error.message()));
  if (std::string same = attempt_of_launch(run, folder); !same.empty()) return same;
  const fs::path file = folder + "/run.json";
  const ordered_json identity = identity_of(run);
  if (!fs::exists(file, error)) {
    const std::size_t hash = std::hash<std::string>()(run.launch + run.host + folder);
    ordered_json content = {{"schema", "stepscope.run/1"}};
    content["id"] = run.run_id.empty() ? fmt::format("{:016x}", hash) : run.run_id;
    content["identity"] = identity;
    content.update(about(run));
    SCOPE_TRY(write_json(file, content, Over::kNothing));
  }
  if (const ordered_json found = read_json(file);
      found.value("identity", ordered_json()) != identity &&
      (run.run_id.empty() || found.value("id", ordered_json()) != run.run_id)) {
    return fail(Code::kInvalidArgument, fmt::format("{} holds another run", folder));
  }
  return make_attempt(run, folder);
}

ordered_json program_facts(const ProgramRun& run) {
  ordered_json facts = {{"wall_ns", run.wall_ns},
                        {"processor_ns", run.processor_ns},
                        {"peak_bytes", nullptr},
                        {"status", run.status}};
  if (run.peak_bytes) facts["peak_bytes"] = *run.peak_bytes;
  if (!run.signal.empty()) facts["signal"] = run.signal;
  return facts;
}

ordered_json rank_facts(const ProgramRun& run, const std::string& attempt,
                        const std::string& folder) {
  ordered_json facts = {{"schema", "stepscope.rank/1"}};
  facts["run"] = read_json(folder + "/run.json").value("id", ordered_json(""));
  facts["attempt"] = attempt_number(fs::path(attempt).filename().string()).value_or(0);
  facts["rank"] = run.rank;
  facts["local_rank"] = run.local_rank;
  facts["world_size"] = run.world_size;
  facts["rank_from"] = "stepscope run";
  facts["host"] = run.host;
  facts["start_ns"] = run.start_unix_ns;
  facts["windows"] = ordered_json::array();
  facts["warnings"] = ordered_json::array();
  if (!run.why_nothing.empty()) {
    facts["warnings"].push_back({{"text", "no training was recorded: " + run.why_nothing},
                                 {"time_ns", run.start_unix_ns + run.wall_ns}});
  }
  facts["finished"] = run.signal.empty() ? "exit" : run.signal;
  facts["steps"] = 0;
  facts["epochs"] = 0;
  facts["program"] = program_facts(run);
  return facts;
}

}  // namespace

base::Status add_program_end(const ProgramRun& run, const std::string& rank_folder) {
  const fs::path file = fs::path(rank_folder) / "rank.json";
  ordered_json facts = read_json(file);
  if (facts.empty()) return base::Done{};
  facts["program"] = program_facts(run);
  return write_json(file, facts);
}

std::string script_in(const std::string& folder) {
  const ordered_json identity = read_json(folder + "/run.json").value("identity", ordered_json());
  if (!identity.is_object()) return {};
  const ordered_json script = identity.value("script", ordered_json());
  return script.is_string() ? script.get<std::string>() : std::string();
}

base::Result<std::string> keep_program_run(const ProgramRun& run, const std::string& recorded,
                                           const std::string& folder) {
  SCOPE_TRY(const std::string attempt, attempt_for(run, folder));
  std::string rank = fmt::format("{}/rank{:05}", attempt, run.rank);
  const MovedFiles moved = move_tree(recorded, attempt);
  if (moved.left > 0) return fail(Code::kIo, moved.first_error);
  std::error_code error;
  fs::create_directories(rank, error);
  SCOPE_TRY(write_json(rank + "/rank.json", rank_facts(run, attempt, folder)));
  return rank;
}

namespace {

namespace fs = std::filesystem;

bool have_same_bytes(const fs::path& one, const fs::path& other) {
  std::error_code error;
  if (fs::file_size(one, error) != fs::file_size(other, error) || error) return false;
  std::ifstream a(one, std::ios::binary);
  std::ifstream b(other, std::ios::binary);
  return a && b &&
         std::equal(std::istreambuf_iterator<char>(a), {}, std::istreambuf_iterator<char>(b));
}

// The disk has it: a node may be gone a moment later.
void write_through(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

std::error_code move_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::exists(to, error)) {
    if (!have_same_bytes(from, to)) return std::make_error_code(std::errc::file_exists);
    fs::remove(from, error);
    return error;
  }
  fs::create_directories(to.parent_path(), error);
  if (error) return error;
  fs::rename(from, to, error);
  if (error != std::errc::cross_device_link) return error;
  error.clear();
  const fs::path partial = to.string() + ".moving";
  fs::copy_file(from, partial, fs::copy_options::overwrite_existing, error);
  if (!error) {
    write_through(partial);
    fs::rename(partial, to, error);
  }
  std::error_code ignored;
  fs::remove(error ? partial : from, ignored);
  return error;
}

}  // namespace

MovedFiles move_tree(const std::string& from, const std::string& to) {
  MovedFiles out;
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory(error)) {
      fs::create_directories(to / fs::relative(entry->path(), from, error), error);
      error.clear();  // its files say more
    } else {
      files.push_back(entry->path());
    }
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const fs::path target = to / fs::relative(file, from, error);
    const std::error_code why = move_file(file, target);
    ++(why ? out.left : out.files);
    if (why && out.first_error.empty()) {
      out.first_error = fmt::format("{}: {}", target.string(), why.message());
    }
  }
  if (error && out.first_error.empty()) {
    out.first_error = fmt::format("{}: {}", from, error.message());
    ++out.left;
  }
  return out;
}

namespace {

constexpr std::string_view kKilled = "was killed, or still runs";

// Empty where it ended by itself.
std::string bad_end_of(const trace::RankRecord& record) {
  if (record.finished == "stop" || record.finished == "exit") return {};
  if (record.finished.empty()) return std::string(kKilled);
  if (record.finished.starts_with("status ")) return fmt::format("ended with {}", record.finished);
  if (record.finished != "exception") return fmt::format("was ended by {}", record.finished);
  if (!record.error) return "ended by an exception";
  // The first line says it; what follows may be a page.
  const std::string text = record.error->text.substr(0, record.error->text.find('\n'));
  return fmt::format("ended by an exception in step {}: {}{}{}", record.error->step,
                     record.error->type, text.empty() ? "" : ": ", text);
}

// Ranks that recorded and left no other word: the recorder counts its cost when it stops.
bool is_cut(const trace::RankTraces& rank) {
  return std::ranges::any_of(rank.windows, [](const trace::Window& window) {
    const auto& record = window.trace.header().process_record;
    return record != nullptr && !record->is_worker && !record->cost;
  });
}

}  // namespace

std::string bad_end_of(const OpenedRun& recording, const analysis::Selection& selection) {
  std::map<std::int32_t, std::string> ends;
  for (const trace::RankTraces& rank : recording.run.ranks) {
    if (is_cut(rank)) ends[rank.rank.value] = kKilled;
  }
  for (const trace::RankRecord& record : recording.rank_records) {
    ends[record.rank] = bad_end_of(record);
  }
  std::erase_if(ends, [&](const auto& end) {
    const bool chosen = selection.ranks.empty() ||
                        std::ranges::find(selection.ranks, end.first) != selection.ranks.end();
    return end.second.empty() || !chosen;
  });
  if (ends.empty()) return {};
  // A rank that fails ends the others: an exception is more likely the cause than a signal.
  const auto cause = std::ranges::max_element(
      ends, {}, [](const auto& end) { return end.second.starts_with("ended by an exception"); });
  const bool alone = recording.run.ranks.size() < 2 && recording.rank_records.size() < 2;
  std::string out =
      alone ? cause->second : fmt::format("(rank {}) {}", cause->first, cause->second);
  if (ends.size() > 1) {
    out += fmt::format("; {} more rank{} did not end by {} either", ends.size() - 1,
                       ends.size() == 2 ? "" : "s", ends.size() == 2 ? "itself" : "themselves");
  }
  return out;
}

}  // namespace stepscope::session
