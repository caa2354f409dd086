// What the job's control group uses and may use: memory and processor time. A container or a batch
// system often gives less than the machine has.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/control_groups.h"
#include "capture/system/source.h"
#include "capture/system/text_file.h"

namespace stepscope::capture {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
// "No limit" of the older kind is a number that no machine has.
constexpr std::int64_t kAbsurdBytes = std::int64_t{1} << 60;

std::int64_t least_in(const std::vector<std::string>& folders, const std::string& file) {
  std::int64_t least = kNoLimit;
  for (const std::string& folder : folders) {
    if (const auto limit = number_of(folder + file)) {
      if (*limit >= 0 && *limit < kAbsurdBytes) least = std::min(least, *limit);
    }
  }
  return least;
}

// Thousandths of a processor.
std::optional<std::int64_t> part_of(std::optional<std::int64_t> quota,
                                    std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota * 1000 / *period;
}

class ControlGroup final : public Source {
 public:
  explicit ControlGroup(const SystemPlace& place) {
    const std::string text = text_of(place.proc + "/self/cgroup").value_or("");
    for (const base::ControlGroup& group : base::control_groups(text)) {
      for (const std::string& mount : group.mounts(place.sys + "/fs/cgroup")) {
        if (group.is_unified()) unified(mount, group.path);
        if (group.has_controller("memory")) memory(mount, group.path);
        if (group.has_controller("cpuacct") && used_ns_.empty()) {
          used_ns_ = first_of({mount + group.path, mount}, "/cpuacct.usage");
        }
        if (group.has_controller("cpu")) quota(mount, group.path);
      }
    }
  }

  void sample(Samples& samples) override {
    const auto memory = number_in(used_bytes_);
    const auto time = cpu_ns();
    if (!memory && !time && !said_) {
      samples.add_notice(
          "cgroup",
          "No control group of this job can be read: limits of a container or a batch "
          "system are not known.");
      said_ = true;
      return;
    }
    if (memory) put(samples, memory_, "cgroup.memory", "bytes", SeriesKind::kGauge, *memory);
    if (time) put(samples, time_, "cgroup.cpu", "ns", SeriesKind::kCounter, *time);
    if (limits_said_) return;
    limits_said_ = true;
    std::optional<wire::SeriesId> once;
    if (limit_bytes_ != kNoLimit) {
      put(samples, once, "cgroup.memory.limit", "bytes", SeriesKind::kGauge, limit_bytes_);
    }
    once.reset();
    if (limit_milli_ != kNoLimit) {
      put(samples, once, "cgroup.cpu.limit", "m", SeriesKind::kGauge, limit_milli_);
    }
  }

 private:
  static std::string first_of(const std::vector<std::string>& folders, const std::string& file) {
    for (const std::string& folder : folders) {
      if (text_of(folder + file)) return folder + file;
    }
    return {};
  }

  // Inside of a container the path is often that of the world outside: then its root is meant.
  void unified(const std::string& mount, const std::string& path) {
    const std::string used = first_of({mount + path, mount}, "/memory.current");
    if (!used.empty()) used_bytes_ = TextFile(used);
    const std::string time = first_of({mount + path, mount}, "/cpu.stat");
    if (!time.empty()) stat_ = TextFile(time);
    const auto folders = base::folders_up(mount, path);
    limit_bytes_ = std::min(limit_bytes_, least_in(folders, "/memory.max"));
    for (const std::string& folder : folders) {
      const std::string text = text_of(folder + "/cpu.max").value_or("");
      std::string_view rest = text;
      const auto quota = whole_number(next_word(rest));
      const auto part = part_of(quota, whole_number(next_word(rest)));
      if (part) limit_milli_ = std::min(limit_milli_, *part);
    }
  }

  void memory(const std::string& mount, const std::string& path) {
    const std::string used = first_of({mount + path, mount}, "/memory.usage_in_bytes");
    if (!used.empty()) used_bytes_ = TextFile(used);
    const auto folders = base::folders_up(mount, path);
    limit_bytes_ = std::min(limit_bytes_, least_in(folders, "/memory.limit_in_bytes"));
  }

  void quota(const std::string& mount, const std::string& path) {
    for (const std::string& folder : base::folders_up(mount, path)) {
      const auto part = part_of(number_of(folder + "/cpu.cfs_quota_us"),
                                number_of(folder + "/cpu.cfs_period_us"));
      if (part) limit_milli_ = std::min(limit_milli_, *part);
    }
  }

  static std::optional<std::int64_t> number_in(std::optional<TextFile>& file) {
    if (!file) return std::nullopt;
    auto text = file->read();
    return text ? whole_number(next_word(*text)) : std::nullopt;
  }

  std::optional<std::int64_t> cpu_ns() {
    if (!used_ns_.empty()) return number_of(used_ns_);
    if (!stat_) return std::nullopt;
    const auto text = stat_->read();
    if (!text) return std::nullopt;
    std::string_view rest = *text;
    while (!rest.empty()) {
      std::string_view line = next_line(rest);
      if (next_word(line) != "usage_usec") continue;
      const auto micros = whole_number(next_word(line));
      return micros ? std::optional(*micros * 1000) : std::nullopt;
    }
    return std::nullopt;
  }

  static void put(Samples& samples, std::optional<wire::SeriesId>& series, std::string_view name,
                  std::string_view unit, SeriesKind kind, std::int64_t value) {
    if (!series) series = samples.define({.name = name, .unit = unit, .kind = kind});
    samples.put(*series, value);
  }

  std::optional<TextFile> used_bytes_, stat_;
  std::string used_ns_;
  std::int64_t limit_bytes_ = kNoLimit, limit_milli_ = kNoLimit;
  bool said_ = false, limits_said_ = false;
  std::optional<wire::SeriesId> memory_, time_;
};

}  // namespace

std::unique_ptr<Source> cgroup_source(const SystemPlace& place) {
  return std::make_unique<ControlGroup>(place);
}

}  // namespace stepscope::capture
