// Disks: bytes read and written and busy time, from /proc/diskstats. Whole disks only: a partition
// would count the same bytes again.
#include <array>
#include <map>
#include <string>

#include "capture/system/source.h"
#include "capture/system/text_file.h"

namespace stepscope::capture {
namespace {

constexpr std::int64_t kSectorBytes = 512;  // of this file, whatever the disk's are
constexpr std::int64_t kMilliNs = 1'000'000;

class Disks final : public Source {
 public:
  explicit Disks(const SystemPlace& place) : place_(place), file_(place.proc + "/diskstats") {}

  void sample(Samples& samples) override {
    const auto text = file_.read();
    if (!text) {
      samples.add_notice("disks", "Disk traffic is not known: " + file_.path() +
                                      " cannot be read (" + error_text(file_.error()) + ").");
      return;
    }
    std::string_view rest = *text;
    while (!rest.empty()) take(samples, next_line(rest));
  }

 private:
  struct Disk {
    bool counts = false;
    bool defined = false;
    wire::SeriesId read = 0, written = 0, busy = 0;
  };

  void take(Samples& samples, std::string_view line) {
    next_word(line);  // major and minor number
    next_word(line);
    const std::string name(next_word(line));
    // reads, merged, sectors read, ms reading, writes, merged, sectors written, ms writing,
    // in flight, ms busy
    std::array<std::int64_t, 10> fields{};
    for (std::int64_t& field : fields) {
      const auto number = whole_number(next_word(line));
      if (!number) return;
      field = *number;
    }
    const auto [found, is_new] = disks_.try_emplace(name);
    Disk& disk = found->second;
    if (is_new) disk.counts = is_whole_disk(name);
    if (!disk.counts || (fields[0] == 0 && fields[4] == 0)) return;  // never used
    if (!disk.defined) define(samples, name, disk);
    samples.put(disk.read, fields[2] * kSectorBytes);
    samples.put(disk.written, fields[6] * kSectorBytes);
    samples.put(disk.busy, fields[9] * kMilliNs);
  }

  bool is_whole_disk(const std::string& name) const {
    for (const std::string_view made : {"loop", "ram", "zram", "dm-", "md"}) {
      if (name.starts_with(made)) return false;  // lies on other disks, or on none
    }
    const std::string block = place_.sys + "/block";
    return names_in(block).empty() || text_of(block + "/" + name + "/size").has_value();
  }

  static void define(Samples& samples, const std::string& name, Disk& disk) {
    const auto series = [&](std::string_view what, std::string_view unit) {
      return samples.define(
          {.name = what, .unit = unit, .kind = SeriesKind::kCounter, .about = {{"device", name}}});
    };
    disk.read = series("disk.read", "bytes");
    disk.written = series("disk.written", "bytes");
    disk.busy = series("disk.busy", "ns");
    disk.defined = true;
  }

  SystemPlace place_;
  TextFile file_;
  std::map<std::string, Disk> disks_;
};

}  // namespace

std::unique_ptr<Source> disk_source(const SystemPlace& place) {
  return std::make_unique<Disks>(place);
}

}  // namespace stepscope::capture
