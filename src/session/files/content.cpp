#include "session/files/content.h"

#include <algorithm>
#include <array>
#include <vector>

#include "ingest/pickle/pickle.h"

namespace stepscope::session {
namespace {

constexpr std::array<std::string_view, 12> kTraceKeys = {
    "traceEvents",     "schemaVersion", "deviceProperties",    "distributedInfo",
    "displayTimeUnit", "traceName",     "baseTimeNanoseconds", "record_shapes",
    "with_stack",      "trace_id",      "otherData",           "systemTraceEvents"};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Walks over JSON text without judging it: enough to tell keys of the outermost object from text
// further in.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void step() { ++at_; }
  bool at_end() { return peek() == '\0'; }

  // The string that begins here, still escaped.
  std::string_view string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const std::size_t end = std::min(at_, text_.size());
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(begin, end - begin);
  }

  // Over one value, up to the comma or bracket behind it.
  void skip_value() {
    int depth = 0;
    while (!at_end()) {
      const char c = peek();
      if (c == '"') {
        string();
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) return;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      step();
    }
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

struct Keys {
  std::vector<std::string_view> names;
  bool closed = false;  // the object ended within the text
  bool has(std::string_view name) const { return std::ranges::find(names, name) != names.end(); }
};

// The keys of the object that begins here; stops early at traceEvents.
Keys keys_of_object(Walk& walk) {
  Keys keys;
  walk.step();
  while (!walk.at_end()) {
    const char c = walk.peek();
    if (c == '}') {
      keys.closed = true;
      return keys;
    }
    if (c != '"') {
      walk.step();
      continue;
    }
    keys.names.push_back(walk.string());
    if (keys.names.back() == "traceEvents") return keys;
    if (walk.peek() == ':') {
      walk.step();
      walk.skip_value();
    }
  }
  return keys;
}

std::string reason_for_object(Walk& walk, bool whole) {
  const Keys keys = keys_of_object(walk);
  if (keys.has("traceEvents")) return {};
  if (keys.has("segments") || keys.has("device_traces")) return "a memory snapshot";
  if (keys.has("optimizer_state") && keys.has("gradients")) {
    return "addresses that belong to a memory snapshot";
  }
  if (keys.closed) return "JSON without traceEvents";
  for (const std::string_view key : keys.names) {
    if (std::ranges::find(kTraceKeys, key) != kTraceKeys.end()) return {};
  }
  if (whole) return {};  // cut in the middle of something that may have been a trace
  return "no traceEvents in its first megabyte";
}

// {"schema": "stepscope.run/1", …
bool is_own(std::string_view text) {
  Walk walk(text);
  if (walk.peek() != '{') return false;
  walk.step();
  if (walk.peek() != '"' || walk.string() != "schema" || walk.peek() != ':') return false;
  walk.step();
  return walk.peek() == '"' && walk.string().starts_with("stepscope.");
}

std::string reason_for_list(Walk& walk) {
  walk.step();
  const char first = walk.peek();
  if (first == ']') return "an empty list";
  if (first == '[') return "a list of lists, such as a memory timeline";
  if (first == '\0') return {};
  if (first != '{') return "a list without events";
  const Keys keys = keys_of_object(walk);
  if (keys.has("ph") || !keys.closed) return {};
  return "a list of objects without 'ph'";
}

}  // namespace

std::string reason_to_skip(std::string_view text, bool whole) {
  if (ingest::pickle::sniff(text) > 0) return ingest::pickle::reason_to_skip(text);
  const std::string_view format = ingest::format_of(text.substr(0, ingest::kSniffedBytes)).name;
  if (format.starts_with("scope") || format.starts_with("memory-")) return {};
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Walk walk(text);
  if (is_own(text)) return std::string(kOwnFile);
  switch (walk.peek()) {
    case '\0':  // nothing, or the zeros a crashed node leaves: for the reader to report
      return {};
    case '{':
      return reason_for_object(walk, whole);
    case '[':
      return reason_for_list(walk);
    default:  // its name says that it is one: the reader tells what it is instead
      return {};
  }
}

}  // namespace stepscope::session
