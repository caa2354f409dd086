// JSON text, built in order. Correct by construction: strings are escaped and repaired to UTF-8,
// whole numbers a double cannot hold are strings, and what JSON cannot say (NaN) is null.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::report {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_list() { open('['); }
  void end_list() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth) { raw(truth ? "true" : "false"); }
  void value(double number);
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  void value(T number) {
    if constexpr (std::signed_integral<T>) {
      whole(number < 0, number < 0 ? ~static_cast<std::uint64_t>(number) + 1
                                   : static_cast<std::uint64_t>(number));
    } else {
      whole(false, number);
    }
  }
  void null() { raw("null"); }

  template <class T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }

  // The text so far, with a line break after it.
  std::string finish() && { return std::move(text_) + "\n"; }

 private:
  void open(char bracket);
  void close(char bracket);
  void raw(std::string_view text);
  void whole(bool negative, std::uint64_t magnitude);
  void separate();
  void break_line();

  std::string text_;
  std::vector<bool> has_members_;  // of each open bracket
  bool after_key_ = false;
};

}  // namespace stepscope::report
