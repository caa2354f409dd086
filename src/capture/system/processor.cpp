// Processors: busy time of the machine and of each core, from /proc/stat.
#include <unistd.h>

#include <map>
#include <string>

#include "capture/system/source.h"
#include "capture/system/text_file.h"

namespace stepscope::capture {
namespace {

// Reading /proc/stat makes the kernel add up every interrupt of every core: on large machines that
// is not done ten times a second.
constexpr std::size_t kManyCores = 64;
constexpr std::int64_t kSlowNs = 1'000'000'000;

class Processors final : public Source {
 public:
  explicit Processors(const SystemPlace& place)
      : file_(place.proc + "/stat"), tick_ns_(1'000'000'000 / ::sysconf(_SC_CLK_TCK)) {}

  void sample(Samples& samples) override {
    const auto text = file_.read();
    if (!text) {
      samples.add_notice("processors", "Processor load is not known: " + file_.path() +
                                           " cannot be read (" + error_text(file_.error()) + ").");
      return;
    }
    std::string_view rest = *text;
    std::size_t online = 0;
    while (!rest.empty()) {
      std::string_view line = next_line(rest);
      if (!line.starts_with("cpu")) break;  // they come first
      const std::string_view name = next_word(line).substr(3);
      const auto busy = busy_ns(line);
      if (!busy) continue;
      online += name.empty() ? 0 : 1;
      put(samples, std::string(name), *busy);
    }
    if (online == 0) return;
    if (cores_ != 0 && online != cores_) {
      samples.add_notice("processors", "The number of processors changed from " +
                                           std::to_string(cores_) + " to " +
                                           std::to_string(online) + " while the run went on.");
    }
    cores_ = online;
    if (!has_count_) count_ = samples.define({.name = "cpu.count", .unit = "count"});
    has_count_ = true;
    samples.put_if_new(count_, static_cast<std::int64_t>(online));
  }

  std::int64_t least_interval_ns() const override { return cores_ > kManyCores ? kSlowNs : 0; }

 private:
  // user nice system idle iowait irq softirq steal: all but idle and iowait.
  std::optional<std::int64_t> busy_ns(std::string_view line) const {
    constexpr int kIdle = 3;
    constexpr int kIoWait = 4;
    constexpr int kSteal = 7;
    std::int64_t busy = 0;
    int field = 0;
    for (; field <= kSteal; ++field) {
      const auto ticks = whole_number(next_word(line));
      if (!ticks) break;
      if (field != kIdle && field != kIoWait && field != kSteal) busy += *ticks;
    }
    if (field <= kIdle) return std::nullopt;
    return busy * tick_ns_;
  }

  void put(Samples& samples, const std::string& core, std::int64_t busy) {
    auto found = series_.find(core);
    if (found == series_.end()) {
      NewSeries series{.name = core.empty() ? "cpu.busy" : "core.busy",
                       .unit = "ns",
                       .kind = SeriesKind::kCounter};
      if (!core.empty()) series.about.emplace_back("core", core);
      found = series_.emplace(core, samples.define(series)).first;
    }
    samples.put(found->second, busy);
  }

  TextFile file_;
  std::int64_t tick_ns_;
  std::size_t cores_ = 0;
  bool has_count_ = false;
  wire::SeriesId count_ = 0;
  std::map<std::string, wire::SeriesId> series_;  // by core; "" is all of them
};

}  // namespace

std::unique_ptr<Source> processor_source(const SystemPlace& place) {
  return std::make_unique<Processors>(place);
}

}  // namespace stepscope::capture
