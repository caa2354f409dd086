// Counts the sequences of kernels that each operator starts.
#include "analysis/device/operator_sequences.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/arithmetic/sorted_runs.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Kind;
using trace::Row;

constexpr std::uint32_t kOperatorSequencesNone = 0xffffffff;

// The root that a host event lies in.
class RootFinder {
 public:
  RootFinder(const trace::Trace& trace, const SequenceChoice& choice)
      : trace_(trace), choice_(choice), asked_(trace.strings().size(), 0) {
    if (choice_.roots == Roots::kShallowest) depth_ = find_depths();
  }

  // kNoRow: in none. Only launches are asked about, a small part of all events.
  Row root_of(Row row) {
    Row root = trace::kNoRow;
    for (; row != trace::kNoRow; row = trace_.parent()[row]) {
      if (matches(row) && (depths_.empty() || depths_[row] == depth_)) root = row;
    }
    return root;
  }

 private:
  // Returns the smallest depth of a match.
  std::uint32_t find_depths() {
    std::uint32_t smallest = kOperatorSequencesNone;
    depths_.assign(trace_.size(), 0);
    for (Row row = 0; row < trace_.size(); ++row) {
      const Row parent = trace_.parent()[row];
      if (parent != trace::kNoRow) depths_[row] = depths_[parent] + 1;
      if (matches(row)) smallest = std::min(smallest, depths_[row]);
    }
    return smallest;
  }

  bool matches(Row row) {
    const Kind kind = trace_.kind()[row];
    if (choice_.name_holds.empty()) return kind == Kind::kCpuOp;
    const base::StringId name = trace_.name()[row];
    if (is_on_device(kind) || name == base::kNoString) return false;
    if (trace_.phase()[row] != trace::Phase::kSpan) return false;
    if (asked_[name] == 0) {
      asked_[name] = trace_.text(name).find(choice_.name_holds) == std::string_view::npos ? 1 : 2;
    }
    return asked_[name] == 2;
  }

  const trace::Trace& trace_;
  const SequenceChoice& choice_;
  std::vector<std::uint8_t> asked_;    // by name: 0 not yet, 1 no, 2 yes
  std::vector<std::uint32_t> depths_;  // by row; empty where any depth will do
  std::uint32_t depth_ = 0;            // of roots
};

// The sequences of one window, by numbers of names.
class Sequences {
 public:
  Sequences(const WindowView& window, const SequenceChoice& choice)
      : window_(window), trace_(*window.trace), choice_(choice), finder_(trace_, choice) {
    gather();
    for (std::size_t i = 0; i + 1 < first_.size(); ++i) count(i);
  }

  struct Group {
    Row root;             // the first
    std::uint32_t first;  // into work_
    std::uint32_t length;
    std::uint64_t count = 0;
    Nanos device = 0, host = 0, start = 0;
  };
  const std::vector<Group>& groups() const { return groups_; }
  base::StringId name(const Group& group, std::uint32_t i) const {
    return name_at(group.first + i);
  }

 private:
  base::StringId name_at(std::uint32_t i) const {
    return trace_.name()[window_.work[work_[i]].row];
  }

  // The work of every root, by start.
  void gather() {
    std::vector<std::pair<Row, std::uint32_t>> found;
    found.reserve(window_.work.size());
    for (std::uint32_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      if (piece.launch == trace::kNoRow || !window_.counts(piece)) continue;
      const Row root = finder_.root_of(piece.launch);
      if (root != trace::kNoRow) found.emplace_back(root, i);
    }
    // Work is in order already, and so are nearly the roots.
    sort_runs(found, [](const auto& a, const auto& b) { return a.first < b.first; });
    work_.reserve(found.size());
    for (const auto& [root, index] : found) {
      if (roots_.empty() || roots_.back() != root) {
        roots_.push_back(root);
        first_.push_back(static_cast<std::uint32_t>(work_.size()));
      }
      work_.push_back(index);
    }
    first_.push_back(static_cast<std::uint32_t>(work_.size()));
    if (window_.devices.size() < 2) return;
    for (std::size_t root = 0; root + 1 < first_.size(); ++root) {
      std::sort(work_.begin() + first_[root], work_.begin() + first_[root + 1],
                [&](std::uint32_t a, std::uint32_t b) {
                  const Work& x = window_.work[a];
                  const Work& y = window_.work[b];
                  return std::tie(x.start, x.row) < std::tie(y.start, y.row);
                });
    }
  }

  void count(std::size_t root) {
    const Row row = roots_[root];
    const std::uint32_t length = first_[root + 1] - first_[root];
    if (length == 0 || length < choice_.min_length) return;
    Group& group = group_of({row, first_[root], length});
    if (group.count == 0) group.start = trace_.start()[row];
    group.start = std::min(group.start, trace_.start()[row]);
    ++group.count;
    group.host += trace_.duration()[row];
    for (std::uint32_t i = first_[root]; i < first_[root + 1]; ++i) {
      group.device += window_.work[work_[i]].length();
    }
  }

  Group& group_of(const Group& fresh) {
    std::uint64_t hash = trace_.name()[fresh.root];
    for (std::uint32_t i = 0; i < fresh.length; ++i) {
      hash = (hash ^ name_at(fresh.first + i)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    std::vector<std::uint32_t>& alike = by_hash_[hash];
    for (const std::uint32_t index : alike) {
      if (is_same(groups_[index], fresh)) return groups_[index];
    }
    alike.push_back(static_cast<std::uint32_t>(groups_.size()));
    return groups_.emplace_back(fresh);
  }

  bool is_same(const Group& a, const Group& b) const {
    if (a.length != b.length || trace_.name()[a.root] != trace_.name()[b.root]) return false;
    for (std::uint32_t i = 0; i < a.length; ++i) {
      if (name_at(a.first + i) != name_at(b.first + i)) return false;
    }
    return true;
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  const SequenceChoice& choice_;
  RootFinder finder_;
  std::vector<Row> roots_;            // that launched something, ascending
  std::vector<std::uint32_t> first_;  // of each root, into work_; one more
  std::vector<std::uint32_t> work_;   // indices of WindowView::work
  std::vector<Group> groups_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_hash_;
};

}  // namespace

std::vector<OperatorSequence> operator_sequences(std::span<const WindowView> windows,
                                                 const SequenceChoice& choice) {
  std::vector<OperatorSequence> out;
  std::map<std::pair<std::string_view, std::vector<std::string_view>>, std::size_t> known;
  for (const WindowView& window : windows) {
    const Sequences sequences(window, choice);
    for (const Sequences::Group& group : sequences.groups()) {
      OperatorSequence fresh;
      fresh.op = window.trace->name_text(group.root);
      fresh.first = group.start;
      for (std::uint32_t i = 0; i < group.length; ++i) {
        fresh.kernels.push_back(window.trace->text(sequences.name(group, i)));
      }
      // One window has each sequence once.
      std::size_t index = out.size();
      if (windows.size() > 1) {
        index = known.try_emplace({fresh.op, fresh.kernels}, out.size()).first->second;
      }
      if (index == out.size()) out.push_back(std::move(fresh));
      out[index].count += group.count;
      out[index].device += group.device;
      out[index].host += group.host;
    }
  }
  std::ranges::stable_sort(out, [](const OperatorSequence& a, const OperatorSequence& b) {
    return std::tie(b.device, b.count, a.op, a.kernels) <
           std::tie(a.device, a.count, b.op, b.kernels);
  });
  return out;
}

}  // namespace stepscope::analysis
