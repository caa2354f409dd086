// Errors are values. Every function that can fail on input returns Result<T>; nothing below the
// Python binding throws. The shape follows std::expected so that C++23 can replace it.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace stepscope::base {

enum class Code : unsigned char {
  kIo,               // the operating system said no
  kFormat,           // the bytes are not what they should be
  kUnsupported,      // understood, but not something we can read
  kNotFound,         // a file, rank or name that is not there
  kInvalidArgument,  // the caller asked for something that has no meaning
  kLimit,            // would need more memory or nesting than allowed
  kCancelled,        // the user asked to stop
};

struct Error {
  Code code;
  std::string message;  // where, then what: "rank3.json:81920: event has no 'ts'"
};

// What fail() returns: converts to a failed Result of any type.
struct Failure {
  Error error;
};

inline Failure fail(Code code, std::string message) {
  return Failure{Error{code, std::move(message)}};
}

template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return fail(...)` must both read naturally.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// A function that only succeeds or fails.
struct Done {};
using Status = Result<Done>;

}  // namespace stepscope::base

// SCOPE_TRY(auto x, f()): x is f()'s value, or the enclosing function returns f()'s error.
// SCOPE_TRY(f()): the same for a function that only succeeds or fails.
// The only macro of the project.
#define SCOPE_TRY(...) \
  SCOPE_TRY_PICK_(__VA_ARGS__, SCOPE_TRY_VALUE_, SCOPE_TRY_STATUS_, )(__VA_ARGS__)
#define SCOPE_TRY_PICK_(first, second, picked, ...) picked
#define SCOPE_TRY_STATUS_(expression)                                  \
  do {                                                                 \
    if (auto scope_try = (expression); !scope_try) {                   \
      return ::stepscope::base::Failure{std::move(scope_try).error()}; \
    }                                                                  \
  } while (false)
#define SCOPE_TRY_VALUE_(declaration, expression) \
  SCOPE_TRY_IMPL_(SCOPE_TRY_NAME_(scope_try_, __LINE__), declaration, expression)
#define SCOPE_TRY_NAME_(prefix, line) SCOPE_TRY_NAME_2_(prefix, line)
#define SCOPE_TRY_NAME_2_(prefix, line) prefix##line
#define SCOPE_TRY_IMPL_(temporary, declaration, expression)                        \
  auto temporary = (expression);                                                   \
  if (!temporary) return ::stepscope::base::Failure{std::move(temporary).error()}; \
  declaration = *std::move(temporary)
