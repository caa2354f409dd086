// Runs below the root folder: which there are, and those that are open.
#include "server/run_shelf.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "session/files/discover.h"
#include "session/files/run_folder.h"

namespace stepscope::server {

namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;

constexpr std::size_t kMostEntries = 2000;
constexpr std::size_t kMostLookedAt = 1000;  // in a folder that is only looked at from outside

// "a/b": no empty part, none that begins with a dot.
bool is_plain_name(std::string_view name) {
  while (true) {
    const std::size_t end = std::min(name.find('/'), name.size());
    if (end == 0 || name.front() == '.') return false;
    if (end == name.size()) return true;
    name.remove_prefix(end + 1);
  }
}

base::Failure no_such(std::string_view name) {
  return fail(Code::kNotFound, fmt::format("there is no '{}' to open", name));
}

// Files that stepscope writes beside its recordings, and that cannot be opened. What it calls
// lines-NAME.json may be anything in a folder that is not its own.
bool is_own_file(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "run.json" || name == "attempt.json" || name == "rank.json" ||
         name == "model.json" || name.ends_with("-addresses.json") ||
         (name.starts_with("lines-") && session::is_in_rank_folder(path));
}

bool may_be_recording(std::string_view path) {
  return session::has_trace_name(path.substr(path.rfind('/') + 1)) && !is_own_file(path);
}

void look_into(const std::string& folder, const std::string& root, RootEntry& entry) {
  std::vector<std::string> names;
  if (session::list_names(folder, root, names, kMostLookedAt) != 0) return;
  for (const std::string& name : names) {
    if (name == "run.json" || session::attempt_number(name)) entry.kind = EntryKind::kRun;
    const std::string path = fmt::format("{}/{}", folder, name);
    struct stat facts{};
    if (may_be_recording(path) && session::look_at(path, root, facts)) ++entry.traces;
  }
}

std::int64_t modified(const struct stat& facts) {
  return std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

// Nothing for what cannot be opened, or lies outside.
std::optional<RootEntry> entry_at(const std::string& root, const std::string& path,
                                  std::string name, std::string_view below) {
  // Names that are no text cannot be asked for.
  if (name.starts_with('.') || base::repaired_utf8(name) != name) return std::nullopt;
  struct stat facts{};
  if (!session::look_at(path, root, facts)) return std::nullopt;
  RootEntry entry;
  entry.path = below.empty() ? name : fmt::format("{}/{}", below, name);
  entry.modified_unix_ns = modified(facts);
  if (S_ISDIR(facts.st_mode)) {
    look_into(path, root, entry);
  } else if (S_ISREG(facts.st_mode) && may_be_recording(path)) {
    entry.kind = EntryKind::kFile;
    entry.bytes = static_cast<std::uint64_t>(facts.st_size);
  } else {
    return std::nullopt;
  }
  entry.name = std::move(name);
  return entry;
}

}  // namespace

std::string_view name_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::kRun:
      return "run";
    case EntryKind::kFolder:
      return "folder";
    case EntryKind::kFile:
      return "file";
  }
  return "";
}

base::Result<RootFolder> RootFolder::open(const std::string& path) {
  std::error_code error;
  RootFolder folder;
  folder.given_ = path;
  folder.path_ = fs::canonical(path, error).string();
  if (error || !fs::is_directory(folder.path_, error)) {
    return fail(Code::kNotFound, fmt::format("{}: no such folder", path));
  }
  return folder;
}

base::Result<std::string> RootFolder::path_of(std::string_view name) const {
  if (name == ".") return path_;
  if (!is_plain_name(name)) {
    return fail(Code::kInvalidArgument,
                fmt::format("'{}' is no path below the folder that is served", name));
  }
  std::error_code error;
  std::string real = fs::canonical(fs::path(path_) / name, error).string();
  // The answer is the same for what lies outside and what does not exist.
  if (error || !session::is_within(real, path_)) return no_such(name);
  struct stat facts{};
  if (!session::look_at(real, path_, facts)) return no_such(name);
  if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return no_such(name);
  return real;
}

base::Result<RootListing> RootFolder::list(std::string_view name) const {
  const std::string_view below = name == "." ? std::string_view() : name;
  SCOPE_TRY(const std::string folder, path_of(name));
  std::vector<std::string> names;
  if (const int error = session::list_names(folder, path_, names); error != 0) {
    if (error == ENOTDIR || error == ENOENT) return no_such(name);
    return fail(Code::kNotFound, fmt::format("{}: {}", name, std::strerror(error)));
  }
  RootListing listing;
  for (std::string& inside : names) {
    if (listing.entries.size() >= kMostEntries) {
      ++listing.left_out;
      continue;
    }
    const std::string path = (fs::path(folder) / inside).string();
    if (auto entry = entry_at(path_, path, std::move(inside), below)) {
      listing.entries.push_back(*std::move(entry));
    }
  }
  std::ranges::sort(listing.entries, [](const RootEntry& a, const RootEntry& b) {
    return session::natural_less(a.name, b.name);
  });
  return listing;
}

namespace {

using base::Code;
using base::fail;

constexpr std::size_t kMostRuns = 3;  // beside the one given at the start
constexpr std::size_t kMostNamesOfRun = 16;
// What could not be read is tried again, but not for every request of a page.
constexpr std::chrono::seconds kBeforeTryingAgain{5};

}  // namespace

RunShelf::RunShelf(ShelfOptions options) : options_(std::move(options)) {
  if (options_.paths.empty()) return;
  given_ = std::make_shared<RunLoader>(
      RunPlace{.name = {}, .paths = options_.paths, .within = {}, .version = options_.version},
      options_.open, options_.failed);
  if (options_.paths.size() > 1) return;
  std::error_code ignored;
  given_path_ = std::filesystem::canonical(options_.paths.front(), ignored).string();
}

std::shared_ptr<const RunLoader> RunShelf::known(const std::string& name) {
  for (auto place = places_.begin(); place != places_.end(); ++place) {
    if (std::ranges::find(place->names, name) == place->names.end()) continue;
    const bool failed = place->loader->report().state == LoadState::kFailed;
    if (failed && std::chrono::steady_clock::now() - place->begun > kBeforeTryingAgain) {
      places_.erase(place);
      return nullptr;
    }
    std::rotate(place, place + 1, places_.end());
    return places_.back().loader;
  }
  return nullptr;
}

base::Result<std::shared_ptr<const RunLoader>> RunShelf::find(const std::string& name) {
  using Found = std::shared_ptr<const RunLoader>;
  if (name.empty()) {
    if (given_ != nullptr) return Found(given_);
    return fail(Code::kNotFound, "no run is chosen: say which with run=, api/runs lists them");
  }
  if (!options_.root) {
    return fail(Code::kNotFound, "this server shows one run: it was started without --root");
  }
  std::vector<Place> gone;  // what takes long to give back is not given back under the lock
  {
    const std::lock_guard lock(mutex_);
    if (Found found = known(name)) return found;
  }
  SCOPE_TRY(std::string path, options_.root->path_of(name));
  if (path == given_path_) return Found(given_);
  const std::lock_guard lock(mutex_);
  if (Found found = known(name)) return found;
  const auto same = std::ranges::find(places_, path, &Place::path);
  if (same != places_.end()) {
    // A link to a folder around it makes names without end.
    if (same->names.size() < kMostNamesOfRun) same->names.push_back(name);
    return Found(same->loader);
  }
  if (places_.size() >= kMostRuns) {
    const auto oldest = std::ranges::find_if(places_, [](const Place& place) {
      return place.loader->report().state != LoadState::kLoading;
    });
    if (oldest == places_.end()) {
      return fail(Code::kLimit,
                  fmt::format("{} runs are being read; wait for one of them", places_.size()));
    }
    gone.push_back(std::move(*oldest));
    places_.erase(oldest);
  }
  RunPlace place{.name = name,
                 .paths = {path},
                 .within = options_.root->path(),
                 .version = fmt::format("{}-{}", options_.version, ++loaded_)};
  auto loader = std::make_shared<const RunLoader>(std::move(place), options_.open, options_.failed);
  places_.push_back({.names = {name},
                     .path = std::move(path),
                     .loader = loader,
                     .begun = std::chrono::steady_clock::now()});
  return Found(std::move(loader));
}

std::optional<LoadState> RunShelf::state_of(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  for (const Place& place : places_) {
    if (std::ranges::find(place.names, name) != place.names.end()) {
      return place.loader->report().state;
    }
  }
  return std::nullopt;
}

}  // namespace stepscope::server
