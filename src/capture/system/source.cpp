// Collects the samples of one moment and defines each series before its first value.
#include "capture/system/source.h"

#include <algorithm>

namespace stepscope::capture {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::int32_t kInfo = 20;  // as Python counts

}  // namespace

wire::SeriesId SampleBook::define(const wire::Fields& fields) {
  const std::lock_guard lock(mutex_);
  wire::put_series(defined_, next_, fields);
  return next_++;
}

std::string SampleBook::take_definitions() {
  const std::lock_guard lock(mutex_);
  return std::exchange(defined_, {});
}

bool SampleBook::add_notice(std::string_view source, const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  return said_.emplace(std::string(source), sentence).second;
}

wire::SeriesId Samples::define(const NewSeries& series) {
  wire::Fields fields = {{"name", std::string(series.name)},
                         {"unit", std::string(series.unit)},
                         {"kind", series.kind == SeriesKind::kCounter ? "counter" : "gauge"}};
  fields.insert(fields.end(), series.about.begin(), series.about.end());
  return book_->define(fields);
}

void Samples::begin_moment(std::uint64_t ticks) { now_ = ticks; }

void Samples::put(wire::SeriesId series, std::int64_t value) {
  const std::lock_guard lock(mutex_);
  // What was seen before may have been taken within a moment.
  if (block_.ticks.empty() || block_.ticks.back() != now_) block_.ticks.push_back(now_);
  if (series >= column_of_.size()) column_of_.resize(std::size_t{series} + 1, kNone);
  std::size_t& place = column_of_[series];
  if (place == kNone) {
    place = block_.columns.size();
    block_.columns.push_back({.series = series, .at = {}, .values = {}});
  }
  wire::SampleColumn& column = block_.columns[place];
  const auto moment = static_cast<std::uint32_t>(block_.ticks.size() - 1);
  if (!column.at.empty() && column.at.back() == moment) return;  // the first one stands
  column.at.push_back(moment);
  column.values.push_back(value);
  ++values_;
}

void Samples::put_if_new(wire::SeriesId series, std::int64_t value) {
  const auto [last, is_new] = last_.try_emplace(series, value);
  if (!is_new && last->second == value) return;
  last->second = value;
  put(series, value);
}

void Samples::add_notice(std::string_view source, const std::string& sentence) {
  if (!book_->add_notice(source, sentence)) return;
  const std::lock_guard lock(mutex_);
  lines_.push_back({.ticks = now_,
                    .thread = 0,
                    .lane = 0,
                    .step = -1,
                    .level = kInfo,
                    .logger = std::string(source),
                    .text = sentence});
}

std::uint64_t Samples::values() const {
  const std::lock_guard lock(mutex_);
  return values_;
}

bool Samples::has_more() const {
  const std::lock_guard lock(mutex_);
  return !block_.columns.empty();
}

void Samples::take(std::string& out) {
  std::string seen;
  {
    const std::lock_guard lock(mutex_);
    if (!block_.columns.empty()) wire::put_samples(seen, block_);
    block_ = {};
    std::ranges::fill(column_of_, kNone);
    wire::put_logs(seen, lines_);
    lines_.clear();
  }
  // Asked for after the samples and written before them: what has a value was defined.
  out += book_->take_definitions();
  out += seen;
}

}  // namespace stepscope::capture
