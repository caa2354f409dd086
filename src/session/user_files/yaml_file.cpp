// Reads YAML with places for errors, and refuses what two readers of YAML take differently.
#include "session/user_files/yaml_file.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "base/nearest_word.h"

namespace stepscope::session {

namespace {

// Goes by what the library's parser meets from the first line to the last, not by the nodes it
// makes of that: an alias is one event however much it stands for, and may stand within itself.
// How deep a text may nest is for the parser to say.
class TemplateCheck : public YAML::EventHandler {
 public:
  struct Fault {
    YAML::Mark place;
    std::string what;
  };
  const std::optional<Fault>& fault() const { return fault_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ < 2) return;
    keep(mark,
         "a second document begins here, and only the first would be read: put everything into "
         "one, without '---'");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override { begins_key(); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!begins_key()) return;
    if (const auto text = named_.find(anchor); text != named_.end()) note_key(mark, text->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& value) override {
    if (value.find('\0') != std::string::npos) {
      keep(mark, "NUL (a zero byte) in a text: take it away");
    }
    const bool is_key = begins_key();
    if (!is_key && anchor == YAML::NullAnchor) return;
    const std::string_view text = texts_.emplace_back(value);
    if (anchor != YAML::NullAnchor) named_[anchor] = text;
    if (is_key) note_key(mark, text);
  }

  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    begins_key();
    levels_.push_back({.is_mapping = false, .key_is_next = false, .lines = {}});
  }
  void OnSequenceEnd() override { levels_.pop_back(); }

  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    begins_key();
    levels_.push_back({.is_mapping = true, .key_is_next = true, .lines = {}});
  }
  void OnMapEnd() override { levels_.pop_back(); }

 private:
  struct Level {
    bool is_mapping, key_is_next;
    std::map<std::string_view, int> lines;  // of its keys, from 0
  };

  // Whether what begins is a key. In a mapping a value follows each key, and a key each value.
  bool begins_key() {
    if (levels_.empty() || !levels_.back().is_mapping) return false;
    Level& level = levels_.back();
    level.key_is_next = !level.key_is_next;
    return !level.key_is_next;
  }

  void note_key(const YAML::Mark& mark, std::string_view key) {
    if (fault_ || key == "<<") return;  // all that '<<' names is taken over, nothing is lost
    const auto [before, is_new] = levels_.back().lines.emplace(key, mark.line);
    if (is_new) return;
    keep(mark, fmt::format("'{}' is said twice, first in line {}", key, before->second + 1));
  }

  void keep(const YAML::Mark& mark, std::string what) {
    if (!fault_) fault_ = Fault{mark, std::move(what)};
  }

  int documents_ = 0;
  std::vector<Level> levels_;
  std::deque<std::string> texts_;                     // keys, and what has a name; they stay put
  std::map<YAML::anchor_t, std::string_view> named_;  // "&name text", for a key such as "*name"
  std::optional<Fault> fault_;
};

}  // namespace

base::Status check_form(const std::string& text, std::string_view name) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  TemplateCheck check;
  // No further: of some broken texts the library reads the same empty document for ever.
  if (parser.HandleNextDocument(check)) parser.HandleNextDocument(check);
  if (const auto& fault = check.fault()) return wrong_at(name, fault->place, fault->what);
  return base::Done{};
}

base::Result<std::string> read_small_file(const std::string& path) {
  constexpr std::streamsize kMost = 1 << 20;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(kMost), '\0');
  file.read(text.data(), kMost);
  if (file.bad() || (file.fail() && !file.eof())) {
    const int why = errno != 0 ? errno : EIO;
    return base::fail(base::Code::kIo,
                      fmt::format("{}: {}", path, std::generic_category().message(why)));
  }
  if (file.gcount() == kMost) {
    return base::fail(base::Code::kLimit, fmt::format("{}: more than 1 MiB", path));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

base::Failure wrong_at(std::string_view name, const YAML::Node& node, const std::string& what) {
  YAML::Mark mark = node.Mark();
  if (mark.is_null()) mark = YAML::Mark();  // of a file without anything in it
  return wrong_at(name, mark, what);
}

base::Failure wrong_at(std::string_view name, const YAML::Mark& place, const std::string& what) {
  return base::fail(base::Code::kFormat,
                    fmt::format("{}:{}:{}: {}", name, place.line + 1, place.column + 1, what));
}

namespace {

struct LineAndColumn {
  int line = 0, column = 0;  // from 0
};

// The first tab before the first word of a line, up to a line.
std::optional<LineAndColumn> tab_in_indent(std::string_view text, int last_line) {
  for (int line = 0; line <= last_line && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view indent = text.substr(0, std::min(text.find_first_not_of(" \t"), end));
    if (const std::size_t tab = indent.find('\t'); tab != std::string_view::npos) {
      return LineAndColumn{line, static_cast<int>(tab)};
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

struct OpenBracket {
  char sign = 0;
  LineAndColumn at;
};

// The bracket that is never closed, of several the innermost: the one that was opened last.
std::optional<OpenBracket> unclosed_bracket(std::string_view text) {
  std::vector<OpenBracket> open;
  LineAndColumn at;
  char quote = 0;
  char before = ' ';
  bool in_comment = false;
  for (const char sign : text) {
    const bool begins_word = before == ' ' || before == '\n' || before == '\t' || before == ':' ||
                             before == ',' || before == '[' || before == '{' || before == '-';
    if (sign == '\n') {
      in_comment = false;
    } else if (in_comment) {
    } else if (quote != 0) {
      if (sign == quote && before != '\\') quote = 0;
    } else if ((sign == '"' || sign == '\'') && begins_word) {
      quote = sign;
    } else if (sign == '#' && (before == ' ' || before == '\n' || before == '\t')) {
      in_comment = true;
    } else if ((sign == '{' || sign == '[') && begins_word) {
      open.push_back({sign, at});
    } else if ((sign == '}' || sign == ']') && !open.empty()) {
      open.pop_back();
    }
    before = sign;
    at = sign == '\n' ? LineAndColumn{at.line + 1, 0} : LineAndColumn{at.line, at.column + 1};
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

}  // namespace

base::Failure yaml_failure(std::string_view text, std::string_view name,
                           const YAML::Exception& error) {
  const bool has_place = !error.mark.is_null();
  if (const auto tab = tab_in_indent(text, has_place ? error.mark.line : 1 << 20)) {
    return base::fail(base::Code::kFormat, fmt::format("{}:{}:{}: a tab: YAML indents with spaces",
                                                       name, tab->line + 1, tab->column + 1));
  }
  if (const auto bracket = unclosed_bracket(text)) {
    return base::fail(base::Code::kFormat,
                      fmt::format("{}:{}:{}: this '{}' is never closed: a '{}' is missing", name,
                                  bracket->at.line + 1, bracket->at.column + 1, bracket->sign,
                                  bracket->sign == '{' ? '}' : ']'));
  }
  if (!has_place) return base::fail(base::Code::kFormat, fmt::format("{}: {}", name, error.msg));
  return base::fail(base::Code::kFormat, fmt::format("{}:{}:{}: {}", name, error.mark.line + 1,
                                                     error.mark.column + 1, error.msg));
}

std::string scalar_of(const YAML::Node& node) {
  return node.IsScalar() ? node.Scalar() : std::string();
}

std::string meant(std::string_view given, std::span<const std::string_view> words) {
  const std::string_view near = base::nearest_word(given, words);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near);
  return fmt::format("; there are {}", fmt::join(words, ", "));
}

}  // namespace stepscope::session
