// How full the machine's own file systems are, as df counts: what only the administrator may still
// use is neither used nor available. Others, of many machines, may take long to answer and are
// never asked.
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/system/source.h"
#include "capture/system/text_file.h"

namespace stepscope::capture {
namespace {

constexpr std::int64_t kBetweenLooksNs = 10'000'000'000;

class FileSystems final : public Source {
 public:
  explicit FileSystems(const SystemPlace& place) : paths_(place.file_systems) {}

  void prepare(Samples& samples) override {
    std::set<dev_t> seen;
    for (const std::string& path : paths_) {
      struct stat about{};
      if (::stat(path.c_str(), &about) != 0 || !seen.insert(about.st_dev).second) continue;
      const auto series = [&](std::string_view what) {
        return samples.define({.name = what, .unit = "bytes", .about = {{"path", path}}});
      };
      found_.push_back({path, series("filesystem.used"), series("filesystem.available")});
    }
    is_prepared_ = true;
  }

  void sample(Samples& samples) override {
    if (!is_prepared_) prepare(samples);
    for (const FileSystem& one : found_) {
      struct statvfs now{};
      if (::statvfs(one.path.c_str(), &now) != 0) {
        samples.add_notice("file systems", "How full " + one.path + " is, is not known (" +
                                               error_text(errno) + ").");
        continue;
      }
      const auto size = static_cast<std::int64_t>(now.f_frsize);
      samples.put(one.used, static_cast<std::int64_t>(now.f_blocks - now.f_bfree) * size);
      samples.put(one.available, static_cast<std::int64_t>(now.f_bavail) * size);
    }
  }

  bool sample_last(Samples& samples) override {
    sample(samples);
    return true;
  }

  std::int64_t least_interval_ns() const override { return kBetweenLooksNs; }

 private:
  struct FileSystem {
    std::string path;
    wire::SeriesId used = 0, available = 0;
  };
  std::vector<std::string> paths_;
  std::vector<FileSystem> found_;
  bool is_prepared_ = false;
};

}  // namespace

std::unique_ptr<Source> file_system_source(const SystemPlace& place) {
  return std::make_unique<FileSystems>(place);
}

}  // namespace stepscope::capture
