// Finds the files that paths mean, in natural order, and attempts of runs.
#include "session/files/discover.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"
#include "bytes/beneath.h"
#include "bytes/source_within.h"
#include "session/files/run_folder.h"

namespace stepscope::session {

namespace {

// A slash sorts before all else, so "run/a" comes before "run-2/a" and folders stay together.
int weight(char c) { return c == '/' ? -1 : static_cast<unsigned char>(c); }

std::string_view digits_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && base::is_digit(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// Numbers of any length: the longer one without leading zeros is the larger.
int compare_numbers(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (base::is_digit(a[i]) && base::is_digit(b[j])) {
      const std::string_view left = digits_at(a, i);
      const std::string_view right = digits_at(b, j);
      if (const int order = compare_numbers(left, right); order != 0) return order < 0;
      i += left.size();
      j += right.size();
    } else {
      if (a[i] != b[j]) return weight(a[i]) < weight(b[j]);
      ++i;
      ++j;
    }
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;  // equal but for leading zeros
}

int list_names(const std::string& folder, const std::string& within,
               std::vector<std::string>& names, std::size_t most) {
  const int file = bytes::open_beneath(within, folder, O_RDONLY | O_DIRECTORY);
  if (file < 0) return errno;
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> inside(::fdopendir(file), close);
  if (inside == nullptr) {
    const int error = errno;
    ::close(file);
    return error;
  }
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(inside.get());
    if (entry == nullptr) return errno;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (most-- == 0) return 0;
    names.emplace_back(name);
  }
}

bool look_at(const std::string& path, const std::string& within, struct stat& facts) {
  return bytes::stat_beneath(within, path, facts) == 0;
}

bool is_within(std::string_view path, std::string_view folder) {
  return bytes::is_within(path, folder);
}

namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;

constexpr int kDeepestFolder = 32;

Code code_of(int error) {
  return error == ENOENT || error == ENOTDIR ? Code::kNotFound : Code::kIo;
}

struct Place {
  dev_t device;
  ino_t inode;
  auto operator<=>(const Place&) const = default;
};

class Search {
 public:
  explicit Search(std::string within) : within_(std::move(within)) {}

  base::Status add(const std::string& path, std::size_t argument) {
    if (path == "-") return add_standard_input(argument);
    struct stat facts{};
    if (bytes::stat_beneath(within_, path, facts) != 0) {
      const int error = errno;
      return fail(code_of(error), path + ": " + std::strerror(error));
    }
    argument_ = argument;
    if (!S_ISDIR(facts.st_mode)) {
      // A client that may name only what lies in a folder must not make others wait for a pipe.
      if (!within_.empty() && !S_ISREG(facts.st_mode)) {
        return fail(Code::kNotFound, path + ": neither a file nor a folder");
      }
      add_file(path, facts, true);
      return base::Done{};
    }
    const std::size_t failures_before = found_.failures.size();
    std::vector<std::string> others = std::exchange(runs_, {});
    if (!list(path, facts, 0)) {
      base::Error error = found_.failures[failures_before].error;
      return base::Failure{std::move(error)};
    }
    if (runs_.size() > 1) return several_runs(path);
    if (!runs_.empty() && !others.empty() && are_two(others.front(), runs_.front())) {
      return two_runs(others.front(), runs_.front());
    }
    if (runs_.empty()) runs_ = std::move(others);
    return base::Done{};
  }

  Discovery finish() {
    leave_out_twins();
    const auto by_path = [](const auto& a, const auto& b) { return natural_less(a.path, b.path); };
    std::ranges::stable_sort(found_.skipped, by_path);
    std::ranges::stable_sort(found_.failures, by_path);
    std::ranges::stable_sort(found_.files, [](const FoundFile& a, const FoundFile& b) {
      if (a.argument != b.argument) return a.argument < b.argument;
      return natural_less(a.path, b.path);
    });
    return std::move(found_);
  }

 private:
  base::Status add_standard_input(std::size_t argument) {
    for (const FoundFile& file : found_.files) {
      if (file.path == "-")
        return fail(Code::kInvalidArgument, "'-' is given twice; standard input can be read once");
    }
    found_.files.push_back({.path = "-", .named = true, .argument = argument});
    return base::Done{};
  }

  void add_file(const std::string& path, const struct stat& facts, bool named,
                bool partial = false) {
    // A pipe or a device has no size of interest, and two of them are never one.
    if (S_ISREG(facts.st_mode)) {
      const Place place{facts.st_dev, facts.st_ino};
      const auto [seen, is_new] = files_seen_.try_emplace(place, found_.files.size());
      if (!is_new) {
        found_.files[seen->second].named |= named;
        return;
      }
    }
    const auto bytes = S_ISREG(facts.st_mode) ? static_cast<std::uint64_t>(facts.st_size) : 0;
    found_.files.push_back({.path = path,
                            .bytes = bytes,
                            .named = named,
                            .partial = partial,
                            .argument = argument_,
                            .within = within_});
  }

  // False if the folder itself cannot be listed; then its failure is the last one added.
  bool list(const std::string& folder, const struct stat& facts, int depth) {
    // Links may lead in circles.
    if (!folders_seen_.insert({facts.st_dev, facts.st_ino}).second) return true;
    if (depth > kDeepestFolder) {
      return failed(folder, Code::kLimit, "folders nested more than 32 deep are not searched");
    }
    std::vector<std::string> names;
    if (const int error = list_names(folder, within_, names); error != 0) {
      return failed(folder, code_of(error), std::strerror(error));
    }
    const bool is_run = is_run_folder(folder, names);
    if (is_run && is_in_run_) {
      found_.skipped.push_back({folder, "another run: name it to open it"});
      return true;
    }
    if (is_run) runs_.push_back(folder);
    const bool was_in_run = std::exchange(is_in_run_, is_in_run_ || is_run);
    leave_attempts(folder, names, depth);
    const bool is_part = is_run || attempt_number(fs::path(folder).filename().string());
    for (const std::string& name : names) {
      if (is_part && holds_no_recording(name)) continue;
      visit((fs::path(folder) / name).string(), name, depth);
    }
    is_in_run_ = was_in_run;
    return true;
  }

  // What stepscope made for one run; its run.json may be lost.
  bool is_run_folder(const std::string& folder, const std::vector<std::string>& names) const {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return attempt_number(name) ||
             (name == "run.json" && is_run_file((fs::path(folder) / name).string()));
    });
  }

  // Of a run that stepscope recorded: others have a run.json, too.
  bool is_run_file(const std::string& path) const { return says_run(run_file(path)); }

  // Empty where there is none, or what cannot be one.
  std::string run_file(const std::string& path) const {
    constexpr off_t kMost = 1 << 20;
    struct stat facts{};
    if (!look_at(path, within_, facts) || !S_ISREG(facts.st_mode) || facts.st_size > kMost) {
      return {};
    }
    return bytes::whole_file(within_, path).value_or(std::string());
  }

  // Parts of one run, as two nodes wrote them to disks of their own, have one id.
  bool are_two(const std::string& one, const std::string& other) const {
    const auto id_of = [&](const std::string& folder) {
      return run_id(run_file((fs::path(folder) / "run.json").string()));
    };
    return id_of(one) != id_of(other);
  }

  // Two trainings read as one would give numbers of neither.
  base::Failure several_runs(const std::string& folder) {
    constexpr std::size_t kShown = 6;
    std::ranges::sort(runs_, natural_less);
    std::string names;
    for (std::size_t i = 0; i < std::min(kShown, runs_.size()); ++i) {
      names += (i == 0 ? "" : ", ") + fs::path(runs_[i]).lexically_relative(folder).string();
    }
    if (runs_.size() > kShown) names += fmt::format(" and {} more", runs_.size() - kShown);
    return fail(Code::kInvalidArgument,
                fmt::format("{}: this folder holds {} runs: {}; name one, as in `stepscope report "
                            "{}`, or choose in the browser with `stepscope serve --root {}`",
                            folder, runs_.size(), names, runs_.front(), folder));
  }

  // Several paths are parts of one run: ranks, windows, a trace beside its snapshot.
  static base::Failure two_runs(const std::string& one, const std::string& other) {
    return fail(Code::kInvalidArgument,
                fmt::format("{} and {} are two runs, and several paths are parts of one: name one, "
                            "or compare them with `stepscope diff {} {}`",
                            one, other, one, other));
  }

  // Visits the last attempt of a run and takes all of them off the list.
  void leave_attempts(const std::string& folder, std::vector<std::string>& names, int depth) {
    const auto is_attempt = [](const std::string& name) {
      return attempt_number(name).has_value();
    };
    std::vector<std::string> attempts;
    std::ranges::copy_if(names, std::back_inserter(attempts), is_attempt);
    std::erase_if(names, is_attempt);
    std::ranges::sort(attempts, std::greater(), [](const std::string& name) {
      return std::pair(*attempt_number(name), name);
    });
    bool taken = false;
    for (const std::string& name : attempts) {
      const std::string path = (fs::path(folder) / name).string();
      const std::size_t before = found_.files.size();
      if (taken) {
        found_.earlier_attempts.push_back(path);
      } else {
        visit(path, name, depth);
        taken = found_.files.size() > before;
      }
    }
  }

  void visit(const std::string& path, const std::string& name, int depth) {
    if (name.starts_with('.')) return;  // .git, .ipynb_checkpoints, editors' files
    if (leads_out(path)) {
      found_.skipped.push_back({path, "a link that leads out of the folder that is served"});
      return;
    }
    struct stat facts{};
    if (bytes::stat_beneath(within_, path, facts) != 0) {
      if (has_trace_name(name)) failed(path, code_of(errno), std::strerror(errno));
    } else if (S_ISDIR(facts.st_mode)) {
      list(path, facts, depth + 1);
    } else if (has_trace_name(name)) {
      if (S_ISREG(facts.st_mode)) add_file(path, facts, false);
    } else if (const auto whole = without_partial(name); whole && has_trace_name(*whole)) {
      if (S_ISREG(facts.st_mode)) add_file(path, facts, false, true);
    } else if (name.ends_with(".tmp") && has_trace_name(name.substr(0, name.rfind('.')))) {
      found_.skipped.push_back({path, "its writer has not finished it"});
    }
  }

  bool leads_out(const std::string& path) const {
    if (within_.empty()) return false;
    std::error_code error;
    if (!fs::is_symlink(path, error)) return false;
    const std::string target = fs::canonical(path, error).string();
    return error || !bytes::is_within(target, within_);
  }

  bool failed(const std::string& path, Code code, const std::string& what) {
    found_.failures.push_back({path, {code, path + ": " + what}});
    return false;
  }

  static bool is_plain(const std::string& path) {
    return path.ends_with(".json") || path.ends_with(".pickle") || path.ends_with(".pkl");
  }

  // a.json.gz was unpacked and kept: a.json beside it is the same trace, and so is the
  // a.json.gz.partial of a writer that is packing it.
  void leave_out_twins() {
    std::set<std::string> plain;
    for (const FoundFile& file : found_.files) {
      if (is_plain(file.path)) plain.insert(file.path);
    }
    std::erase_if(found_.files, [&](const FoundFile& file) {
      if (file.named || is_plain(file.path)) return false;
      const std::string whole(without_partial(file.path).value_or(file.path));
      const std::string stem = plain.contains(whole) ? whole : whole.substr(0, whole.rfind('.'));
      if (!plain.contains(stem)) return false;
      const std::string beside = fs::path(stem).filename().string();
      found_.skipped.push_back({file.path, beside + " beside it was taken instead"});
      return true;
    });
  }

  std::string within_;  // empty: anywhere
  Discovery found_;
  std::size_t argument_ = 0;
  std::map<Place, std::size_t> files_seen_;  // to its place among those found
  std::set<Place> folders_seen_;
  std::vector<std::string> runs_;  // that the path in hand led to, else one of an earlier path
  bool is_in_run_ = false;
};

}  // namespace

bool has_trace_name(std::string_view file_name) {
  const std::string name = base::lowered(file_name);
  for (const std::string_view end : {".json", ".json.gz", ".json.zst", ".pickle", ".pickle.gz",
                                     ".pickle.zst", ".pkl", ".pkl.gz", ".pkl.zst", ".scope"}) {
    if (name.ends_with(end) && name.size() > end.size()) return true;
  }
  // Whatever is appended: .gz, .zst, a number by a rotating writer.
  const std::size_t at = name.find(".pt.trace.json.");
  return at != std::string::npos && !name.ends_with(".tmp") && !name.ends_with(".partial");
}

base::Result<Discovery> discover(const std::vector<std::string>& paths, const std::string& within) {
  Search search(within);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    SCOPE_TRY(search.add(paths[i], i));
  }
  return search.finish();
}

}  // namespace stepscope::session
