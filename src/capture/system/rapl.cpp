// Energy of processors and their memory: the running counters of RAPL, in /sys/class/powercap.
// Many systems let only the administrator read them.
#include <string>
#include <vector>

#include "capture/system/source.h"
#include "capture/system/text_file.h"

namespace stepscope::capture {
namespace {

// A counter that begins again at its end; turned into one that does not.
class Unwrapped {
 public:
  explicit Unwrapped(std::int64_t range) : range_(range) {}
  std::int64_t total(std::int64_t now) {
    if (now < last_ && range_ > 0) before_ += range_;
    last_ = now;
    return before_ + now;
  }

 private:
  std::int64_t range_;
  std::int64_t last_ = 0, before_ = 0;
};

class Rapl final : public Source {
 public:
  explicit Rapl(const SystemPlace& place) : folder_(place.sys + "/class/powercap") {}

  void prepare(Samples& samples) override { look(samples); }

  void sample(Samples& samples) override {
    for (Zone& zone : zones_) {
      if (zone.gone) continue;
      auto text = zone.energy.read();
      const auto now = text ? whole_number(next_word(*text)) : std::nullopt;
      if (now) {
        samples.put(zone.series, zone.counter.total(*now));
      } else {
        zone.gone = true;
        samples.add_notice("rapl", "The energy counter of " + zone.name + " stopped answering (" +
                                       error_text(zone.energy.error()) + ").");
      }
    }
  }

 private:
  struct Zone {
    std::string name;
    TextFile energy;
    Unwrapped counter;
    wire::SeriesId series = 0;
    bool gone = false;
  };

  // Folders are intel-rapl:0 (a package) and intel-rapl:0:1 (a part of it). Of the parts only
  // memory is taken: cores are in their package already.
  void look(Samples& samples) {
    int refused = 0;
    for (const std::string& name : names_in(folder_)) {
      const std::string zone = folder_ + "/" + name;
      if (name.find("rapl") == std::string::npos || name.find(':') == std::string::npos) continue;
      // The same counters a second time, read through memory.
      if (name.starts_with("intel-rapl-mmio")) continue;
      std::string label = text_of(zone + "/name").value_or("");
      label = label.substr(0, label.find('\n'));
      const bool is_memory = label == "dram";
      if (!is_memory && !label.starts_with("package")) continue;
      if (is_memory) label.append("-").append(name, name.find(':') + 1);
      TextFile energy(zone + "/energy_uj");
      if (!energy.read()) {
        refused = energy.error();
        continue;
      }
      const std::int64_t range = number_of(zone + "/max_energy_range_uj").value_or(0);
      zones_.push_back({label, std::move(energy), Unwrapped(range)});
      zones_.back().series = samples.define({.name = is_memory ? "memory.energy" : "cpu.energy",
                                             .unit = "uJ",
                                             .kind = SeriesKind::kCounter,
                                             .about = {{"device", label}}});
    }
    if (refused != 0) {
      samples.add_notice("rapl",
                         "The energy of the processors is not known: their counters may not be "
                         "read (" +
                             error_text(refused) + "). The administrator can allow it: chmod a+r " +
                             folder_ + "/intel-rapl:*/energy_uj.");
    } else if (zones_.empty()) {
      samples.add_notice(
          "rapl",
          "The energy of the processors is not known: this machine shows no counters of it "
          "(" +
              folder_ + ").");
    }
  }

  std::string folder_;
  std::vector<Zone> zones_;
};

}  // namespace

std::unique_ptr<Source> rapl_source(const SystemPlace& place) {
  return std::make_unique<Rapl>(place);
}

}  // namespace stepscope::capture
