// Puts the batches of one window together: merges what the shards interned, sorts each track, fills
// columns and side tables, links. The batches are given back to the system as they are used up, so
// the peak is about the finished trace and not twice that.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/call_tree.h"
#include "trace/names.h"
#include "trace/pairing.h"
#include "trace/stage.h"
#include "trace/step_pattern.h"
#include "trace/trace.h"

namespace stepscope::trace {

struct BuildInput {
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<Batch> batches;  // in file order
  Header header;
  base::ImportLog log;  // of the file as a whole; the batches have their own
  std::shared_ptr<SourceText> source;
  // What a raw string of the shards means: unescaped, repaired UTF-8.
  std::function<std::string(std::string_view)> decode;
  // What the raw text of an operator's inputs means: JSON in the one form that equal values share.
  std::function<std::string(std::string_view)> normalize;
  // Shards also interned strings of batches that were thrown away: leave those out.
  bool has_discarded = false;
  unsigned threads = 1;
  StepPattern step_pattern;
};

class TraceBuilder {
 public:
  explicit TraceBuilder(BuildInput input) : in_(std::move(input)) {}

  // Once. Fails only when there are more events, names or categories than ids can count.
  base::Result<Trace> build();

 private:
  base::Status count_entries();
  base::Status merge_lanes(std::span<const FirstNamed> named);
  void pair();
  void join_spellings();
  void lay_out_tracks();
  void fetch_pages();
  // A row with which a run of its track begins (begins_run).
  struct RunBegin {
    std::uint32_t track;
    std::uint32_t row;
  };
  void put_by_track(std::size_t number, std::span<base::Nanos> start,
                    std::span<base::Nanos> duration, std::vector<RunBegin>& begins) const;
  std::vector<std::vector<std::size_t>> runs(std::span<const base::Nanos> start,
                                             std::span<const base::Nanos> duration,
                                             std::span<const std::vector<RunBegin>> found) const;
  void order(const std::function<void()>& beside);
  void fill_columns();
  void fill_events(Batch& batch, std::uint32_t first_ordinal);
  void size_tables();
  void fill_tables();
  void fill_tables(const Batch& batch);
  std::vector<std::size_t> size_flows();
  void fill_lists();
  void fill_flows(const Batch& batch, std::uint32_t first_ordinal, std::size_t at);
  void mark_times();
  void label_tracks();
  std::size_t rows_of_a_stretch(std::size_t rows) const;
  void clear_device_parents();
  void link();

  BuildInput in_;
  Trace out_;
  base::Slab memory_;  // for the columns of the trace
  std::vector<ShardMap> maps_;
  IdRanges ranges_;
  base::Nanos latest_end_ = 0;
  std::vector<std::uint32_t> first_ordinal_;  // by batch
  base::Slice by_track_;                      // times of the rows track by track; then columns
  base::Column<std::uint32_t> place_;         // from provisional row to row, within its track
  PythonIds python_;
  std::vector<LabelRow> labels_;
};

}  // namespace stepscope::trace
