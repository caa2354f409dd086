// Memory of the machine, from /proc/meminfo. Used is total less available: what the kernel holds
// as a cache can be had at any time.
#include <string>

#include "capture/system/source.h"
#include "capture/system/text_file.h"

namespace stepscope::capture {
namespace {

class MachineMemory final : public Source {
 public:
  explicit MachineMemory(const SystemPlace& place) : file_(place.proc + "/meminfo") {}

  void sample(Samples& samples) override {
    const auto text = file_.read();
    std::int64_t total = -1;
    std::int64_t available = -1;
    std::string_view rest = text.value_or(std::string_view());
    while (!rest.empty() && (total < 0 || available < 0)) {
      std::string_view line = next_line(rest);
      const std::string_view name = next_word(line);
      if (name != "MemTotal:" && name != "MemAvailable:") continue;
      const auto kib = whole_number(next_word(line));
      if (kib) (name == "MemTotal:" ? total : available) = *kib * 1024;
    }
    if (total < 0 || available < 0) {
      samples.add_notice("memory",
                         "Memory of the machine is not known: " + file_.path() + " " +
                             (text ? "does not say what is available."
                                   : "cannot be read (" + error_text(file_.error()) + ")."));
      return;
    }
    if (!defined_) {
      total_ = samples.define({.name = "memory.total", .unit = "bytes"});
      used_ = samples.define({.name = "memory.used", .unit = "bytes"});
      defined_ = true;
    }
    samples.put_if_new(total_, total);
    samples.put(used_, total - available);
  }

 private:
  TextFile file_;
  bool defined_ = false;
  wire::SeriesId total_ = 0, used_ = 0;
};

}  // namespace

std::unique_ptr<Source> memory_source(const SystemPlace& place) {
  return std::make_unique<MachineMemory>(place);
}

}  // namespace stepscope::capture
