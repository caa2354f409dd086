// Findings as SARIF 2.1.0, which code-review tools show beside the lines they are about.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "advice/rule.h"
#include "report/findings/advice.h"

namespace stepscope::report {
namespace {

struct Place {
  std::string_view file;
  std::int64_t line = 0;
};

// "train.py(12): step" of a profiler's stack, "train.py:12 step" of a snapshot's.
std::optional<Place> place_in(std::string_view frame) {
  const std::size_t at = frame.find(".py");
  if (at == std::string_view::npos || at + 4 >= frame.size()) return std::nullopt;
  const char mark = frame[at + 3];
  if (mark != '(' && mark != ':') return std::nullopt;
  Place place{.file = frame.substr(0, at + 3)};
  const std::string_view rest = frame.substr(at + 4);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), place.line);
  if (error != std::errc() || place.line < 1) return std::nullopt;
  return place;
}

// The innermost line that is not of a library: what its user can change.
std::optional<Place> place_of(const advice::Evidence& evidence) {
  for (const advice::Figure& figure : evidence.text.figures) {
    std::string_view left = figure.text;
    while (!left.empty()) {
      const std::string_view frame = left.substr(0, left.find("; "));
      left.remove_prefix(std::min(frame.size() + 2, left.size()));
      const bool library = frame.find("torch/") != std::string_view::npos ||
                           frame.find("site-packages/") != std::string_view::npos;
      if (library) continue;
      if (const auto place = place_in(frame)) return place;
    }
  }
  return std::nullopt;
}

// A path as a reference of RFC 3986, which is what SARIF wants: spaces and the like are encoded,
// and one that begins at the root is a file's.
std::string uri_of(std::string_view path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

std::string_view level_of(advice::Level level) {
  if (level == advice::Level::kCritical) return "error";
  return level == advice::Level::kWarning ? "warning" : "note";
}

void write_text(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  json.begin_object();
  json.member("text", text);
  json.end_object();
}

void write_location(JsonWriter& json, const Place& place) {
  json.begin_object();
  json.key("physicalLocation");
  json.begin_object();
  json.key("artifactLocation");
  json.begin_object();
  json.member("uri", uri_of(place.file));
  json.end_object();
  json.key("region");
  json.begin_object();
  json.member("startLine", place.line);
  json.end_object();
  json.end_object();
  json.end_object();
}

// Code-review tools refuse a result without a place: where no stack names a line, it is the
// recording itself.
void write_locations(JsonWriter& json, const advice::Finding& finding, std::string_view recording) {
  json.key("locations");
  json.begin_list();
  bool any = false;
  for (const advice::Evidence& evidence : finding.evidence) {
    const auto place = place_of(evidence);
    if (!place) continue;
    write_location(json, *place);
    any = true;
  }
  if (!any) write_location(json, {.file = recording, .line = 1});
  json.end_list();
}

void write_result(JsonWriter& json, const advice::Advice& advice, const advice::Finding& finding,
                  std::string_view recording) {
  std::string text = sentence_text(finding.title) + ". " + detail_text(finding);
  if (const std::string gain = gain_text(advice, finding); !gain.empty()) {
    text += " Gain: " + gain + ".";
  }
  // A reviewer sees nothing else: what to type, and how to know that it helped.
  for (const advice::Change& change : finding.changes) {
    text += (&change == finding.changes.data() ? "\n\nChange: " : "\n\nOr: ") + change.why;
    if (!change.code.empty()) text += "\n" + change.code;
  }
  text +=
      "\n\nCheck: " + verify_text(advice, finding, {}) + "\n\nMore: " + explain_command(finding);
  json.begin_object();
  json.member("ruleId", finding.rule);
  json.member("level", level_of(finding.level));
  write_text(json, "message", text);
  write_locations(json, finding, recording);
  json.end_object();
}

}  // namespace

std::string advice_sarif(const advice::Advice& advice, std::string_view version,
                         std::string_view recording) {
  JsonWriter json;
  json.begin_object();
  json.member("version", "2.1.0");
  json.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.key("runs");
  json.begin_list();
  json.begin_object();
  json.key("tool");
  json.begin_object();
  json.key("driver");
  json.begin_object();
  json.member("name", "stepscope");
  json.member("version", version);
  json.key("rules");
  json.begin_list();
  for (const advice::Rule* rule : advice::rules()) {
    json.begin_object();
    json.member("id", rule->id);
    write_text(json, "shortDescription", rule->asks);
    write_text(json, "help", fmt::format("stepscope advise --explain {}", rule->id));
    json.end_object();
  }
  json.end_list();
  json.end_object();
  json.end_object();
  json.key("results");
  json.begin_list();
  for (const advice::Finding& finding : advice.findings) {
    write_result(json, advice, finding, recording);
  }
  json.end_list();
  json.end_object();
  json.end_list();
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stepscope::report
