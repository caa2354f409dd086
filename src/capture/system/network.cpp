// Network: bytes received and sent by each interface, from /proc/net/dev, and by the ports of
// InfiniBand adapters, which bypass the system's interfaces.
#include <map>
#include <string>
#include <vector>

#include "capture/system/source.h"
#include "capture/system/text_file.h"

namespace stepscope::capture {
namespace {

constexpr std::int64_t kWordBytes = 4;  // InfiniBand counts words

class Networks final : public Source {
 public:
  explicit Networks(const SystemPlace& place) : file_(place.proc + "/net/dev") {
    const std::string adapters = place.sys + "/class/infiniband";
    for (const std::string& adapter : names_in(adapters)) {
      for (const std::string& port : names_in(joined({adapters, "/", adapter, "/ports"}))) {
        const std::string counters =
            joined({adapters, "/", adapter, "/ports/", port, "/counters/"});
        ports_.push_back({joined({adapter, ":", port}), TextFile(counters + "port_rcv_data"),
                          TextFile(counters + "port_xmit_data")});
      }
    }
  }

  void sample(Samples& samples) override {
    take_interfaces(samples);
    for (Port& port : ports_) {
      const auto received = number_in(port.received);
      const auto sent = number_in(port.sent);
      if (received && sent) put(samples, port.name, *received * kWordBytes, *sent * kWordBytes);
    }
  }

 private:
  struct Port {
    std::string name;
    TextFile received, sent;
  };
  struct Interface {
    wire::SeriesId received, sent;
  };

  static std::optional<std::int64_t> number_in(TextFile& file) {
    auto text = file.read();
    return text ? whole_number(next_word(*text)) : std::nullopt;
  }

  void take_interfaces(Samples& samples) {
    const auto text = file_.read();
    if (!text) {
      samples.add_notice("network", "Network traffic is not known: " + file_.path() +
                                        " cannot be read (" + error_text(file_.error()) + ").");
      return;
    }
    std::string_view rest = *text;
    next_line(rest);  // two of headings
    next_line(rest);
    while (!rest.empty()) {
      std::string_view line = next_line(rest);
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      std::string_view before = line.substr(0, colon);
      const std::string_view name = next_word(before);
      if (name == "lo") continue;
      line.remove_prefix(colon + 1);
      const auto received = whole_number(next_word(line));
      for (int skipped = 0; skipped < 7; ++skipped) next_word(line);
      const auto sent = whole_number(next_word(line));
      const bool known = interfaces_.contains(std::string(name));
      if (!received || !sent || (!known && *received == 0 && *sent == 0)) continue;  // never used
      put(samples, std::string(name), *received, *sent);
    }
  }

  void put(Samples& samples, const std::string& name, std::int64_t received, std::int64_t sent) {
    auto found = interfaces_.find(name);
    if (found == interfaces_.end()) {
      const auto series = [&](std::string_view what) {
        return samples.define({.name = what,
                               .unit = "bytes",
                               .kind = SeriesKind::kCounter,
                               .about = {{"device", name}}});
      };
      const Interface made{series("network.received"), series("network.sent")};
      found = interfaces_.emplace(name, made).first;
    }
    samples.put(found->second.received, received);
    samples.put(found->second.sent, sent);
  }

  TextFile file_;
  std::vector<Port> ports_;
  std::map<std::string, Interface> interfaces_;
};

}  // namespace

std::unique_ptr<Source> network_source(const SystemPlace& place) {
  return std::make_unique<Networks>(place);
}

}  // namespace stepscope::capture
