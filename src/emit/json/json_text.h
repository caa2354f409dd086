// Writes JSON: strings, numbers and the members of objects, appended to a text.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.h"

namespace stepscope::emit {

// In quotes; escaped where JSON wants it, bytes that are not UTF-8 replaced by U+FFFD.
void append_string(std::string& out, std::string_view text);

void append_integer(std::string& out, std::int64_t value);
void append_integer(std::string& out, std::uint64_t value);

// As a string from 2^53 on: readers that keep numbers in doubles would lose the last digits.
void append_exact(std::string& out, std::int64_t value);
void append_exact(std::string& out, std::uint64_t value);

// The shortest text that reads back as the same value; what JSON cannot say becomes a string.
void append_float(std::string& out, float value);
void append_float(std::string& out, double value);

// Microseconds with three decimals, as Kineto writes times: exact.
void append_micros(std::string& out, base::Nanos time);

// The members of one object. Keys are ours and need no escaping.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }

  // Starts a member; its value is appended to what this returns.
  std::string& key(std::string_view key) {
    next() += '"';
    out_ += key;
    out_ += "\":";
    return out_;
  }
  // Starts a member whose key the caller writes too.
  std::string& next() {
    if (!first_) out_ += ',';
    first_ = false;
    return out_;
  }
  void text(std::string_view name, std::string_view value) { append_string(key(name), value); }
  template <std::integral Int>
  void integer(std::string_view name, Int value) {
    if constexpr (std::signed_integral<Int>) {
      append_exact(key(name), static_cast<std::int64_t>(value));
    } else {
      append_exact(key(name), static_cast<std::uint64_t>(value));
    }
  }
  // Left out when not given: -1, or NaN.
  void id(std::string_view name, std::int64_t value) {
    if (value != -1) integer(name, value);
  }
  template <std::floating_point Float>
  void number(std::string_view name, Float value) {
    if (!std::isnan(value)) append_float(key(name), value);
  }
  std::string& value() { return out_; }  // the one being written
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

// The elements of one array.
class Elements {
 public:
  explicit Elements(std::string& out) : out_(out) { out_ += '['; }
  std::string& next() {
    if (!first_) out_ += ',';
    first_ = false;
    return out_;
  }
  void close() { out_ += ']'; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace stepscope::emit
