// Reads peaks of devices.
#include <cmath>

#include <fmt/format.h>

#include "session/user_files/user_files.h"
#include "session/user_files/yaml_file.h"

namespace stepscope::session {
namespace {

using analysis::Arithmetic;
using analysis::OwnPeaks;

constexpr std::string_view kForm =
    "a list of devices, each with match, and tflops or gb_per_second or both";

// No device is near them, and beyond them shares of a peak become infinite or 0.
constexpr double kLeastRate = 1e-9;
constexpr double kMostRate = 1e9;

class PeaksFileParser {
 public:
  explicit PeaksFileParser(std::string_view name) : name_(name) {}

  base::Result<std::vector<OwnPeaks>> file(const YAML::Node& root) const {
    if (!root.IsMap()) return wrong(root, fmt::format("expected 'devices:' with {}", kForm));
    std::vector<OwnPeaks> out;
    for (const auto& entry : root) {
      const std::string key = word(entry.first);
      if (key != "devices") {
        return wrong(entry.first, fmt::format("'{}' is not known; expected 'devices'", key));
      }
      if (!entry.second.IsSequence()) {
        return wrong(entry.second, fmt::format("'devices' takes {}", kForm));
      }
      for (const YAML::Node& device : entry.second) {
        SCOPE_TRY(OwnPeaks peaks, one_device(device));
        out.push_back(std::move(peaks));
      }
    }
    if (out.empty()) return wrong(root, "no devices in it");
    return out;
  }

 private:
  base::Failure wrong(const YAML::Node& node, const std::string& what) const {
    return wrong_at(name_, node, what);
  }

  static std::string word(const YAML::Node& node) {
    return node.IsScalar() ? node.Scalar() : std::string();
  }

  base::Result<double> rate(const YAML::Node& node, std::string_view what) const {
    double value = 0;
    if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !std::isfinite(value) ||
        value <= 0) {
      return wrong(node, fmt::format("'{}' takes a number above 0", what));
    }
    if (value < kLeastRate || value > kMostRate) {
      return wrong(node, fmt::format("'{}' takes a number from 1e-9 to 1e9", what));
    }
    return value;
  }

  base::Result<OwnPeaks> one_device(const YAML::Node& node) const {
    if (!node.IsMap()) return wrong(node, fmt::format("expected {}", kForm));
    OwnPeaks out;
    bool any = false;
    for (const auto& entry : node) {
      const std::string key = word(entry.first);
      if (key == "match") {
        out.match = word(entry.second);
        if (out.match.empty()) {
          return wrong(entry.second,
                       "'match' takes a part of the device's name, or \"*\" for all devices");
        }
      } else if (key == "gb_per_second") {
        SCOPE_TRY(const double gigabytes, rate(entry.second, key));
        out.peaks.bytes_per_second = gigabytes * 1e9;
        any = true;
      } else if (key == "tflops") {
        SCOPE_TRY(arithmetic(entry.second, out.peaks));
        any = true;
      } else {
        return wrong(
            entry.first,
            fmt::format("'{}' is not known; a device has match, tflops, gb_per_second", key));
      }
    }
    if (out.match.empty())
      return wrong(node, "a device needs 'match', a part of its name, or \"*\" for all");
    if (!any) return wrong(node, "a device needs 'tflops' or 'gb_per_second'");
    out.peaks.name = out.match;
    return out;
  }

  base::Status arithmetic(const YAML::Node& node, analysis::Peaks& peaks) const {
    if (!node.IsMap()) return wrong(node, "'tflops' takes types with numbers: {bf16: 989}");
    for (const auto& entry : node) {
      const std::string type = word(entry.first);
      const auto known = analysis::arithmetic_named(type);
      if (!known) {
        std::vector<std::string_view> names;
        names.reserve(analysis::kArithmetics);
        for (std::size_t i = 0; i < analysis::kArithmetics; ++i) {
          names.push_back(analysis::name_of(static_cast<Arithmetic>(i)));
        }
        return wrong(entry.first,
                     fmt::format("'{}' is not a type; there are {}", type, fmt::join(names, ", ")));
      }
      SCOPE_TRY(const double tera, rate(entry.second, type));
      peaks.flops[static_cast<std::size_t>(*known)] = tera * 1e12;
    }
    return base::Done{};
  }

  std::string_view name_;
};

}  // namespace

base::Result<std::vector<OwnPeaks>> parse_peaks(const std::string& text, std::string_view name) {
  return with_yaml<std::vector<OwnPeaks>>(
      text, name, [&](const YAML::Node& root) { return PeaksFileParser(name).file(root); });
}

base::Result<std::vector<OwnPeaks>> read_peaks(const std::string& path) {
  SCOPE_TRY(const std::string text, read_small_file(path));
  return parse_peaks(text, path);
}

}  // namespace stepscope::session
