// Copies JSON text, making it valid on the way: what some writers get wrong (bare words, stray
// and missing commas, unescaped quotes, control characters, broken UTF-8) is mended the way the
// importer understands it. Text that needs no mending is scanned once and copied as it stands,
// blanks included, because some arguments are kept as text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::emit {

class Redactor;

class JsonCopier {
 public:
  static constexpr std::size_t kBeyondRepair = std::string_view::npos;

  // Appends to `out`. Strings are redacted when there is a redactor.
  JsonCopier(std::string& out, const Redactor* redactor) : out_(out), redactor_(redactor) {}

  // Copies the value that starts at `at` and returns where it ends. Values of some keys are secret,
  // so `key` says whose value it is.
  std::size_t copy(std::string_view text, std::size_t at, std::string_view key);

  // Was anything of the last value changed that was not valid JSON?
  bool repaired() const { return repaired_; }

 private:
  static constexpr std::size_t kDeepest = 1000;  // levels of nesting; deeper text is no trace

  enum class Expect : std::uint8_t { kValue, kKey, kNext };
  struct Level {
    char close;
    std::string_view key;  // whose value this object or array is, undecoded
    bool is_secret;        // or one around it
  };

  bool step();
  bool take_value();
  bool take_key();
  bool take_separator();
  std::size_t end_of_stray_word(std::size_t at) const;
  bool close_level(char c);
  void take_string(std::string_view key, bool is_key);
  void mend_string(std::size_t begin, std::size_t end);
  bool redact_string(std::string_view key, bool is_key, std::size_t begin, std::size_t end);
  bool take_word();
  bool is_secret(std::string_view key);
  std::string hidden_value(std::string_view key, std::string_view text);

  // Everything before `at` goes out as it is, except that [at, at + skip) becomes `instead`.
  void replace(std::size_t at, std::size_t skip, std::string_view instead);
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char level() const { return levels_.empty() ? '\0' : levels_.back().close; }

  std::string& out_;
  const Redactor* redactor_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t copied_ = 0;  // text before this is out
  Expect expect_ = Expect::kValue;
  std::string_view key_;  // of the value that comes next
  bool repaired_ = false;
  std::vector<Level> levels_;
  std::map<std::string, bool, std::less<>> secret_keys_;
};

}  // namespace stepscope::emit
