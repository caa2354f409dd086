// Just enough JSON to find where things stand in a trace that is known to be well formed: the
// generator needs positions, which no parser of values gives. Not for untrusted input.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stepscope::bench {

class JsonCursor {
 public:
  JsonCursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }

  char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    if (at_ == text_.size()) throw std::runtime_error("the template ends too early");
    return text_[at_];
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (take(c)) return;
    throw std::runtime_error("byte " + std::to_string(at_) + ": expected '" + c + "', found '" +
                             text_[at_] + "'");
  }

  // The text between the quotes, escapes left as they are.
  std::string_view string() {
    expect('"');
    const std::size_t begin = at_;
    for (;;) {
      const std::size_t stop = text_.find_first_of("\"\\", at_);
      if (stop == std::string_view::npos) throw std::runtime_error("a string without an end");
      at_ = stop + 1;
      if (text_[stop] == '"') return text_.substr(begin, stop - begin);
      ++at_;
    }
  }

  // Any value; gives its text with the quotes or brackets.
  std::string_view value() {
    const char first = peek();
    const std::size_t begin = at_;
    if (first == '"') {
      string();
    } else if (first == '{' || first == '[') {
      skip_nested();
    } else {
      at_ = text_.find_first_of(",]} \n\r\t", at_);
      if (at_ == std::string_view::npos) at_ = text_.size();
    }
    return text_.substr(begin, at_ - begin);
  }

  // Calls member(key) for each member of an object, with the cursor on the member's value, which
  // the callback must consume.
  template <class Member>
  void object(Member member) {
    expect('{');
    while (!take('}')) {
      const std::string_view key = string();
      expect(':');
      peek();
      member(key);
      take(',');
    }
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  void skip_nested() {
    std::size_t depth = 0;
    do {
      const std::size_t stop = text_.find_first_of("\"{}[]", at_);
      if (stop == std::string_view::npos) throw std::runtime_error("a bracket without an end");
      at_ = stop;
      if (text_[stop] == '"') {
        string();
        continue;
      }
      ++at_;
      if (text_[stop] == '{' || text_[stop] == '[') {
        ++depth;
      } else {
        --depth;
      }
    } while (depth > 0);
  }

  std::string_view text_;
  std::size_t at_;
};

}  // namespace stepscope::bench
