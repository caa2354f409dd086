// Reads samples of a machine from a recording and puts their ticks on its clock.
#include "ingest/system/system.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/number_text.h"
#include "ingest/scope/blocks.h"
#include "wire/reader.h"
#include "wire/ticks.h"

namespace stepscope::ingest::system {
namespace {

using base::Note;

constexpr std::int64_t kEdgeOfTime = std::int64_t{1} << 62;
// A node has some thousand series; a number beyond this is damage.
constexpr wire::SeriesId kMostSeries = 1U << 20;

bool says_node(const wire::Fields& fields) {
  return std::ranges::any_of(
      fields, [](const auto& field) { return field.first == "role" && field.second == "node"; });
}

// Puts the blocks together. Ticks become times when all anchors are known.
class Assembly {
 public:
  void take(const wire::BlockView& block) {
    switch (block.kind) {
      case wire::BlockKind::kProcess:
        if (const auto fields = wire::read_process(block.payload)) return take_process(*fields);
        break;
      case wire::BlockKind::kAnchor:
        if (const auto anchor = wire::read_anchor(block.payload)) return take_anchor(*anchor);
        break;
      case wire::BlockKind::kSeries:
        if (auto series = wire::read_series(block.payload); series && series->series < kMostSeries)
          return take_series(*std::move(series));
        break;
      case wire::BlockKind::kSamples:
        if (const auto samples = wire::read_samples(block.payload)) return take_samples(*samples);
        break;
      case wire::BlockKind::kLogs:
        if (auto lines = wire::read_logs(block.payload)) {
          for (wire::LogLine& line : *lines) {
            notice_ticks_.push_back(line.ticks);
            node_.notices.push_back({0, std::move(line.logger), std::move(line.text)});
          }
          return;
        }
        break;
      case wire::BlockKind::kEnd:
        if (const auto cost = wire::read_end(block.payload)) {
          node_.finished = true;
          node_.cpu_ns = cost->writer_ns;
          return;
        }
        break;
      default:
        break;
    }
    node_.log.add(Note::kUnreadableEvent, block.offset,
                  fmt::format("a block of kind {}", static_cast<std::uint32_t>(block.kind)));
  }

  bool has_process() const { return has_process_; }
  base::ImportLog& log() { return node_.log; }

  series::Node finish(std::string path) {
    node_.path = std::move(path);
    if (!node_.finished) node_.log.add(Note::kNotFinished);
    if (const base::Nanos set = clock_.largest_set(); set > 1'000'000) {
      node_.clock_set = set;
      node_.log.add(Note::kClockWasSet, base::ImportLog::kNowhere,
                    fmt::format("by {} ms", set / 1'000'000));
    }
    node_.times.reserve(ticks_.size());
    for (const std::uint64_t ticks : ticks_) node_.times.push_back(clock_.elapsed_ns(ticks));
    for (std::size_t i = 0; i < notice_ticks_.size(); ++i) {
      node_.notices[i].time = notice_ticks_[i] == 0 ? 0 : clock_.elapsed_ns(notice_ticks_[i]);
    }
    if (last_anchor_) node_.end = clock_.elapsed_ns(last_anchor_->ticks);
    if (!std::ranges::is_sorted(node_.times)) put_in_order();
    std::erase_if(node_.series, [](const series::Series& one) { return one.name.empty(); });
    return std::move(node_);
  }

 private:
  void take_process(const wire::Fields& fields) {
    has_process_ = true;
    for (const auto& [key, value] : fields) {
      if (key == "host") node_.host = value;
      if (key == "boot") node_.boot = value;
      if (key == "interval_ns")
        node_.interval_ns = base::parse_number<std::int64_t>(value).value_or(0);
    }
  }

  void take_anchor(const wire::Anchor& anchor) {
    if (!last_anchor_) {
      node_.wall_ns = std::clamp(anchor.wall_ns, -kEdgeOfTime, kEdgeOfTime);
      node_.monotonic_ns = std::clamp(anchor.monotonic_ns, -kEdgeOfTime, kEdgeOfTime);
    }
    last_anchor_ = anchor;
    clock_.add(anchor);
  }

  void take_series(wire::SeriesInfo info) {
    if (info.series >= node_.series.size()) node_.series.resize(info.series + 1);
    series::Series& series = node_.series[info.series];
    for (auto& [key, value] : info.about) {
      if (key == "name") {
        series.name = value;
      } else if (key == "unit") {
        series.unit = value;
      } else if (key == "kind") {
        series.kind = value == "counter" ? series::Kind::kCounter : series::Kind::kGauge;
      } else {
        series.about.emplace_back(std::move(key), std::move(value));
      }
    }
  }

  void take_samples(const wire::SampleBlock& block) {
    const auto first = static_cast<std::uint32_t>(ticks_.size());
    ticks_.insert(ticks_.end(), block.ticks.begin(), block.ticks.end());
    for (const wire::SampleColumn& column : block.columns) {
      // Its definition was lost: a number without a meaning.
      if (column.series >= node_.series.size()) continue;
      series::Series& series = node_.series[column.series];
      for (const std::uint32_t at : column.at) series.at.push_back(first + at);
      series.values.insert(series.values.end(), column.values.begin(), column.values.end());
    }
  }

  // Blocks of several threads take turns, and damage may have changed ticks without breaking a
  // checksum.
  void put_in_order() {
    std::vector<std::uint32_t> order(node_.times.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return node_.times[i]; });
    std::vector<std::uint32_t> place(order.size());
    std::vector<base::Nanos> times;
    times.reserve(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      times.push_back(node_.times[order[i]]);
    }
    node_.times = std::move(times);
    for (series::Series& series : node_.series) {
      std::vector<std::pair<std::uint32_t, std::int64_t>> moved;
      moved.reserve(series.at.size());
      for (std::size_t i = 0; i < series.at.size(); ++i) {
        moved.emplace_back(place[series.at[i]], series.values[i]);
      }
      std::ranges::sort(moved);
      for (std::size_t i = 0; i < moved.size(); ++i) {
        series.at[i] = moved[i].first;
        series.values[i] = moved[i].second;
      }
    }
  }

  series::Node node_;
  bool has_process_ = false;
  wire::TickClock clock_;
  std::optional<wire::Anchor> last_anchor_;
  std::vector<std::uint64_t> ticks_, notice_ticks_;
};

}  // namespace

bool is_of_node(std::string_view first_bytes) {
  if (!wire::is_scope_file(first_bytes)) return false;
  wire::BlockReader blocks;
  blocks.add(first_bytes);
  const auto block = blocks.next();
  if (!block || block->kind != wire::BlockKind::kProcess) return false;
  const auto fields = wire::read_process(block->payload);
  return fields && says_node(*fields);
}

int sniff(std::string_view first_bytes) { return is_of_node(first_bytes) ? 100 : 0; }

base::Result<series::Node> read(std::unique_ptr<bytes::ByteSource> source,
                                const ReadOptions& options) {
  wire::BlockReader blocks;
  Assembly assembly;
  SCOPE_TRY(scope::for_each_block(*source, options, blocks,
                                  [&](const wire::BlockView& block) { assembly.take(block); }));
  if (!assembly.has_process()) {
    return base::fail(base::Code::kFormat,
                      source->name() + ": the samples hold nothing: not even whose they are");
  }
  scope::note_damage(blocks, source->text_position(), assembly.log());
  return assembly.finish(source->name());
}

}  // namespace stepscope::ingest::system
