#include "capture/system/samples.h"

#include <algorithm>

namespace stepscope::capture {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::int32_t kInfo = 20;  // as Python counts

}  // namespace

wire::SeriesId Samples::define(const NewSeries& series) {
  wire::Fields fields = {{"name", std::string(series.name)},
                         {"unit", std::string(series.unit)},
                         {"kind", series.kind == SeriesKind::kCounter ? "counter" : "gauge"}};
  fields.insert(fields.end(), series.about.begin(), series.about.end());
  wire::put_series(defined_, next_, fields);
  column_of_.push_back(kNone);
  return next_++;
}

void Samples::begin_moment(std::uint64_t ticks) { block_.ticks.push_back(ticks); }

void Samples::put(wire::SeriesId series, std::int64_t value) {
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

void Samples::say(std::string_view source, const std::string& sentence) {
  if (!said_.emplace(std::string(source), sentence).second) return;
  const std::uint64_t now = block_.ticks.empty() ? 0 : block_.ticks.back();
  lines_.push_back({.ticks = now,
                    .thread = 0,
                    .lane = 0,
                    .step = -1,
                    .level = kInfo,
                    .logger = std::string(source),
                    .text = sentence});
}

void Samples::take(std::string& out) {
  out += defined_;
  defined_.clear();
  if (!block_.columns.empty()) wire::put_samples(out, block_);
  block_ = {};
  std::ranges::fill(column_of_, kNone);
  wire::put_logs(out, lines_);
  lines_.clear();
}

}  // namespace stepscope::capture
