// Who called whom on one thread, from the times of its spans alone, helped by Python's own ids.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/int_column.h"
#include "base/row_set.h"
#include "base/units.h"
#include "trace/key_index.h"
#include "trace/kind.h"
#include "trace/tables.h"
#include "trace/trace.h"

namespace stepscope::trace {

// Two clocks feed one thread's spans; a callee may seem to end this much after its caller.
inline constexpr base::Nanos kCalleeTolerance = 1000;

// Python's ids of the spans that have them.
struct PythonIds {
  base::RowSet rows;
  base::IntColumn id;
  base::IntColumn parent_id;
};

// Columns of the whole trace; the tree of one track reads and writes the rows of that track only.
struct TreeColumns {
  std::span<const base::Nanos> start, duration;
  std::span<const Kind> kind;
  std::span<const Phase> phase;
  std::span<std::uint8_t> flags;
  std::span<Row> parent;
};

struct TreeCounts {
  std::uint64_t outliving = 0;    // callees that end after their caller by clock noise
  std::uint64_t overlapping = 0;  // spans that overlap without nesting
  Row first_outliving = kNoRow;
  Row first_overlapping = kNoRow;
};

// Which rows have a Python id. Most trees are plain from the times alone and never ask, so the
// index is made at the first request; several threads may ask.
class PythonRows {
 public:
  explicit PythonRows(const PythonIds& ids) : ids_(ids) {}

  const PythonIds& ids() const { return ids_; }
  std::span<const Row> rows_with(std::int64_t id);

 private:
  const PythonIds& ids_;
  std::once_flag made_;
  KeyIndex rows_;
};

// A span that has begun and not ended.
struct OpenSpan {
  Row row;
  base::Nanos end;
  Row python;  // itself or its nearest Python ancestor
};

// Some neighbouring rows of a track. What calls what among them is known without the rows before
// them; which of these are still open is not, and what depends on that is left over until it is
// known.
class TreeStretch {
 public:
  TreeStretch(const TreeColumns& columns, PythonRows& python, Row track_begin, Row begin, Row end);

  // Beside other stretches, before join().
  void walk();
  // `open` is what is open where the stretch begins, and then where it ends.
  TreeCounts join(std::vector<OpenSpan>& open);
  void mark_outliving();

 private:
  // A row whose caller depends on what was open before.
  struct Left {
    Row row;
    bool none_overlaps;     // what it found open in the stretch had ended, and did not overlap it
    std::uint32_t at, end;  // what it found open of the stretch and is still, in kept_
  };

  // Takes what does not hold the row off the stack. Whether all of it had plainly ended.
  bool close(std::vector<OpenSpan>& stack, Row row, bool has_overlap);
  // The caller of a row, or nothing where that takes more of the stack than there is.
  // `frame` is the row's place among the Python ids.
  std::optional<Row> caller(std::span<const OpenSpan> stack, Row row, std::uint32_t frame) const;
  void leave(Row row, bool none_overlaps, std::span<const OpenSpan> stack);
  void set_parent(Row row, Row parent);
  base::Nanos end_of(Row row) const { return columns_.start[row] + columns_.duration[row]; }

  const TreeColumns& columns_;
  PythonRows& python_;
  Row track_begin_, begin_, end_;
  bool knows_all_;  // nothing can be open before it
  TreeCounts counts_;
  std::vector<Row> outliving_;
  std::vector<OpenSpan> stack_;
  std::vector<Left> left_;
  std::vector<OpenSpan> kept_;
  bool given_up_ = false;
};

// The call tree of one track, cut into stretches of `rows` rows.
class TrackTree {
 public:
  TrackTree(const TreeColumns& columns, PythonRows& python, Row begin, Row end, std::size_t rows);

  std::size_t stretches() const { return stretches_.size(); }
  // Each once, in any order and on any thread. Who walks the last does what all left over.
  void walk(std::size_t stretch);
  // Once all are walked: what was met, and the flags of rows that outlive their parents. Until then
  // others may read those.
  const TreeCounts& counts() const { return counts_; }
  void mark_outliving();

 private:
  void join();

  std::deque<TreeStretch> stretches_;
  std::atomic<std::size_t> left_;
  TreeCounts counts_;
};

}  // namespace stepscope::trace
