#include "session/user_files/yaml_form.h"

#include <yaml-cpp/eventhandler.h>

#include <deque>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "session/user_files/yaml_file.h"

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
    if (const auto text = named_.find(anchor); text != named_.end()) say(mark, text->second);
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
    if (is_key) say(mark, text);
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

  void say(const YAML::Mark& mark, std::string_view key) {
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

}  // namespace stepscope::session
