// The commented default settings file, printed from the table of keys.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "session/config/config_file.h"
#include "session/config/config_keys.h"

namespace stepscope::session {
namespace {

constexpr std::size_t kWidth = 96;

constexpr std::string_view kHead =
    R"(# What is recorded by `stepscope run --config stepscope.yaml -- python train.py`, and by
# stepscope.profile(config="stepscope.yaml") in Python.
#
# Every key may be left out; the values shown are those it has then. Take the # before a key
# away to change it. A key without a default has an example as its value.
)";

// As comments, broken between words.
void comment(std::string& out, const std::string& indent, std::string_view text) {
  const std::string begin = indent + "# ";
  std::string line = begin;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (line.size() > begin.size() && line.size() + word.size() + 1 > kWidth) {
      out += line + "\n";
      line = begin;
    }
    if (line.size() > begin.size()) line += ' ';
    line += word;
  }
  out += line + "\n";
}

// Keys are comments, unless they stand in a group that is one.
void write_group(std::string& out, std::string_view group, const std::string& indent,
                 std::string_view mark);

// Every line a comment.
void write_marked(std::string& out, const ConfigKey& group) {
  std::string text = fmt::format("{}:\n", last_name(group.path));
  write_group(text, group.path, "  ", "");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    if (!line.empty()) out += fmt::format("#{}\n", line);
  }
}

void write_group(std::string& out, std::string_view group, const std::string& indent,
                 std::string_view mark) {
  for (const ConfigKey* key : keys_in_group(group)) {
    if (!key->alias_of.empty()) continue;
    const std::string_view name = last_name(key->path);
    if (key->kind == ConfigKind::kGroup) {
      out += '\n';
      comment(out, indent, key->about);
      if (key->says_itself) {
        write_marked(out, *key);
      } else {
        out += fmt::format("{}{}:\n", indent, name);
        write_group(out, key->path, indent + "  ", mark);
      }
      continue;
    }
    if (indent.empty()) out += '\n';
    const bool is_plain = key->kind == ConfigKind::kSwitch || key->kind == ConfigKind::kText ||
                          key->kind == ConfigKind::kSteps || key->kind == ConfigKind::kEpoch;
    comment(
        out, indent,
        is_plain ? std::string(key->about) : fmt::format("{} ({})", key->about, taken_by(*key)));
    out += fmt::format("{}{}{}: {}\n", indent, mark, name,
                       key->fallback.empty() ? key->sample : key->fallback);
  }
}

}  // namespace

std::string commented_config() {
  std::string out(kHead);
  write_group(out, "", "", "#");
  return out;
}

}  // namespace stepscope::session
