// The call tree of a thread, from nested spans.
#include "trace/call_tree.h"

#include <algorithm>
#include <utility>

namespace stepscope::trace {
namespace {

// The Python ancestor of a span is among what was open before the stretch.
constexpr Row kUnknown = kNoRow - 1;

// Rows for which the stack is kept are few. A file made to be slow can have many, on a deep stack.
constexpr std::size_t kMostKeptByRow = 4;

bool takes_part(Kind kind, Phase phase) {
  return phase == Phase::kSpan && kind != Kind::kOverhead && kind != Kind::kProfiler;
}

}  // namespace

std::span<const Row> PythonRows::rows_with(std::int64_t id) {
  std::call_once(made_, [&] {
    rows_ = KeyIndex::build([&](auto add) {
      ids_.rows.for_each([&](Row row, std::uint32_t entry) { add(ids_.id[entry], row); });
    });
  });
  return rows_.find(id);
}

TreeStretch::TreeStretch(const TreeColumns& columns, PythonRows& python, Row track_begin, Row begin,
                         Row end)
    : columns_(columns),
      python_(python),
      track_begin_(track_begin),
      begin_(begin),
      end_(end),
      knows_all_(begin == track_begin) {}

bool TreeStretch::close(std::vector<OpenSpan>& stack, Row row, bool has_overlap) {
  const base::Nanos start = columns_.start[row];
  const base::Nanos stop = end_of(row);
  if (!has_overlap) {
    while (!stack.empty() && stack.back().end <= start) stack.pop_back();
  }
  bool none_overlaps = !has_overlap;
  while (!stack.empty() && stop > stack.back().end + kCalleeTolerance) {
    none_overlaps = false;
    ++counts_.overlapping;
    counts_.first_overlapping = std::min(counts_.first_overlapping, row);
    stack.pop_back();
  }
  return none_overlaps;
}

// The caller by time is the top of the stack. Python's ids decide only where the times leave it
// open: the frame at the top has the very times of the called one, ends before it (by clock noise),
// or overlaps the caller the ids name. What is not a Python frame is never skipped: the ids say
// nothing of an operator between two frames, and files exist whose ids skip frames and operators
// that plainly lie around the call.
std::optional<Row> TreeStretch::caller(std::span<const OpenSpan> stack, Row row,
                                       std::uint32_t frame) const {
  const Row top = stack.empty() ? kNoRow : stack.back().row;
  const PythonIds& python = python_.ids();
  const std::int64_t parent_id = frame == base::RowSet::kNone ? -1 : python.parent_id[frame];
  if (parent_id < 0) return top;
  const Row nearest = stack.empty() ? kNoRow : stack.back().python;
  if (nearest == kUnknown) return std::nullopt;
  if (nearest != kNoRow && python.id[python.rows.rank(nearest)] == parent_id) return top;
  Row named = kNoRow;
  for (const Row other : python_.rows_with(parent_id)) {
    if (other >= track_begin_ && other < row) named = other;
  }
  if (named == kNoRow) return top;
  const base::Nanos start = columns_.start[row];
  const base::Nanos stop = end_of(row);
  const base::Nanos named_stop = end_of(named);
  if (named_stop <= start || stop > named_stop + kCalleeTolerance) return top;
  for (std::size_t at = stack.size(); at > 0; --at) {
    const OpenSpan& open = stack[at - 1];
    if (open.row <= named) return named;
    const bool same_times = columns_.start[open.row] == start && open.end == stop;
    const bool in_doubt = same_times || open.end < stop || open.end > named_stop + kCalleeTolerance;
    if (open.python != open.row || !in_doubt) return open.row;
  }
  return knows_all_ ? std::optional(named) : std::nullopt;
}

void TreeStretch::set_parent(Row row, Row parent) {
  columns_.parent[row] = parent;
  if (parent == kNoRow || end_of(row) <= end_of(parent)) return;
  outliving_.push_back(row);
  ++counts_.outliving;
  counts_.first_outliving = std::min(counts_.first_outliving, row);
}

void TreeStretch::leave(Row row, bool none_overlaps, std::span<const OpenSpan> stack) {
  const auto at = static_cast<std::uint32_t>(kept_.size());
  kept_.insert(kept_.end(), stack.begin(), stack.end());
  left_.push_back({row, none_overlaps, at, static_cast<std::uint32_t>(kept_.size())});
  given_up_ = kept_.size() > kMostKeptByRow * (end_ - begin_);
}

void TreeStretch::walk() {
  const Row unseen = knows_all_ ? kNoRow : kUnknown;
  const base::RowSet& frames = python_.ids().rows;
  // Apart from this object, which lies beside those that other threads work on.
  std::vector<OpenSpan> stack = std::exchange(stack_, {});
  for (Row row = begin_; row < end_; ++row) {
    columns_.parent[row] = kNoRow;
    if (!takes_part(columns_.kind[row], columns_.phase[row])) continue;
    const bool none_overlaps = close(stack, row, false);
    const std::uint32_t frame = frames.find(row);
    std::optional<Row> parent;
    if (knows_all_ || !stack.empty()) parent = caller(stack, row, frame);
    if (parent) {
      set_parent(row, *parent);
    } else {
      leave(row, none_overlaps, stack);
      if (given_up_) break;
    }
    const Row around = stack.empty() ? unseen : stack.back().python;
    stack.push_back({row, end_of(row), frame == base::RowSet::kNone ? around : row});
  }
  stack_ = std::move(stack);
}

TreeCounts TreeStretch::join(std::vector<OpenSpan>& open) {
  knows_all_ = true;
  if (given_up_) {
    given_up_ = false;
    counts_ = {};
    outliving_.clear();
    left_.clear();
    stack_ = std::move(open);
    walk();
    open = std::move(stack_);
    return counts_;
  }
  Row around = kNoRow;  // the Python ancestor of what stands at the bottom of the stack
  const base::RowSet& frames = python_.ids().rows;
  const auto known = [&](OpenSpan span) {
    if (span.python == kUnknown) span.python = around;
    return span;
  };
  for (const Left& left : left_) {
    if (left.at == left.end) {
      close(open, left.row, !left.none_overlaps);
      around = open.empty() ? kNoRow : open.back().python;
      set_parent(left.row, *caller(open, left.row, frames.find(left.row)));
      continue;
    }
    std::vector<OpenSpan> whole = open;
    for (std::uint32_t i = left.at; i < left.end; ++i) whole.push_back(known(kept_[i]));
    set_parent(left.row, *caller(whole, left.row, frames.find(left.row)));
  }
  for (const OpenSpan& span : stack_) open.push_back(known(span));
  return counts_;
}

void TreeStretch::mark_outliving() {
  for (const Row row : outliving_) columns_.flags[row] |= kOutlivesParent;
}

TrackTree::TrackTree(const TreeColumns& columns, PythonRows& python, Row begin, Row end,
                     std::size_t rows) {
  const std::size_t count = (end - begin + rows - 1) / rows;
  for (std::size_t i = 0; i < count; ++i) {
    stretches_.emplace_back(columns, python, begin, begin + static_cast<Row>(i * rows),
                            static_cast<Row>(std::min<std::size_t>(end, begin + (i + 1) * rows)));
  }
  left_ = count;
}

void TrackTree::walk(std::size_t stretch) {
  stretches_[stretch].walk();
  if (--left_ == 0) join();
}

void TrackTree::mark_outliving() {
  for (TreeStretch& stretch : stretches_) stretch.mark_outliving();
}

void TrackTree::join() {
  std::vector<OpenSpan> open;
  for (TreeStretch& stretch : stretches_) {
    const TreeCounts counts = stretch.join(open);
    counts_.outliving += counts.outliving;
    counts_.overlapping += counts.overlapping;
    counts_.first_outliving = std::min(counts_.first_outliving, counts.first_outliving);
    counts_.first_overlapping = std::min(counts_.first_overlapping, counts.first_overlapping);
  }
}

}  // namespace stepscope::trace
