#include "server/run_shelf.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace stepscope::server {
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
