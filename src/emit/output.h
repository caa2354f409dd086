// Collects output and hands it to the sink in pieces. Errors are remembered, so that writers need
// not check after every value; they look at failed() once in a while and stop early.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "emit/emit.h"

namespace stepscope::emit {

class Output {
 public:
  explicit Output(const Sink& sink) : sink_(sink) { text_.reserve(2 * kPiece); }

  std::string& text() { return text_; }  // append here, then call settle()
  void settle() {
    if (text_.size() >= kPiece) flush();
  }
  bool failed() const { return error_.has_value(); }

  base::Status finish() {
    flush();
    if (error_) return base::Failure{*error_};
    return base::Done{};
  }

 private:
  static constexpr std::size_t kPiece = 64 * 1024;

  void flush() {
    if (!error_ && !text_.empty()) {
      if (base::Status status = sink_(text_); !status) error_ = status.error();
    }
    text_.clear();
  }

  const Sink& sink_;
  std::string text_;
  std::optional<base::Error> error_;
};

}  // namespace stepscope::emit
