// Collects output and hands it to the sink in pieces. Errors are remembered, so that writers need
// not check after every value; they look at failed() once in a while and stop early.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/column.h"
#include "emit/emit.h"
#include "trace/trace.h"

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

// The entries of traceEvents in the order of the file: events, flows, and gaps: positions whose
// entry became neither (names of threads, ends of spans, what could not be read).

class FileOrder {
 public:
  explicit FileOrder(const trace::Trace& trace);

  // Calls visitor.row(row), visitor.flow(index) or visitor.gap() for every position in turn, as
  // long as they return true.
  template <class Visitor>
  void walk(Visitor& visitor) const {
    std::size_t next_flow = 0;
    for (std::size_t ordinal = 0; ordinal < rows_.size(); ++ordinal) {
      bool go_on = true;
      if (rows_[ordinal] != 0) {
        go_on = visitor.row(rows_[ordinal] - 1);
      } else if (next_flow < flows_.size() && flow_ordinal_[flows_[next_flow]] == ordinal) {
        go_on = visitor.flow(flows_[next_flow++]);
      } else {
        go_on = visitor.gap();
      }
      if (!go_on) return;
    }
  }

 private:
  base::Column<std::uint32_t> rows_;  // by ordinal: row + 1, or 0
  std::vector<std::uint32_t> flows_;  // indices of flows by ordinal
  std::span<const std::uint32_t> flow_ordinal_;
};

}  // namespace stepscope::emit
