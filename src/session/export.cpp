// Writes a run for other tools, with counters computed from it.
#include "session/export.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/arithmetic/intervals.h"
#include "emit/redaction/redact.h"

namespace stepscope::session {

Export::Export(const trace::Run& run, ExportFormat format) : run_(&run), format_(format) {
  for (const trace::RankTraces& rank : run.ranks) {
    for (std::size_t i = 0; i < rank.windows.size(); ++i) {
      windows_.push_back({rank.rank.value, i, &rank.windows[i]});
    }
  }
}
Export::Export(Export&&) noexcept = default;
Export::~Export() = default;

base::Result<Export> Export::prepare(const trace::Run& run, const ExportOptions& options) {
  Export result(run, options.format);
  // Chrome's form is copied from the text of a trace, and a recording has none.
  for (const Place& place : result.windows_) {
    if (options.format != ExportFormat::kChrome) break;
    if (!place.window->trace.is_recording()) continue;
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("{}: what stepscope.profile recorded cannot be written as Chrome "
                                  "JSON; perfetto and jsonl can hold it, or name the traces alone",
                                  place.window->source.path));
  }
  if (options.redact) {
    emit::RedactKey key = emit::redact_key_from(options.redact_key);
    if (options.redact_key.empty()) {
      SCOPE_TRY(key, emit::random_redact_key());
    }
    result.redactor_ = std::make_unique<emit::Redactor>(key, run);
  }
  if (options.with_counters && options.format != ExportFormat::kJsonl) {
    // Perfetto's format draws the memory events as counters anyway.
    const auto memory = options.format == ExportFormat::kPerfetto ? MemorySeries::kLeaveOut
                                                                  : MemorySeries::kInclude;
    SCOPE_TRY(result.counters_, counter_series(run, memory, options.threads));
  }
  return result;
}

std::size_t Export::files() const { return format_ == ExportFormat::kChrome ? windows_.size() : 1; }

std::string Export::file_name(std::size_t file) const {
  switch (format_) {
    case ExportFormat::kPerfetto:
      return "run.perfetto-trace";
    case ExportFormat::kJsonl:
      return "run.jsonl";
    case ExportFormat::kChrome:
      break;
  }
  return fmt::format("rank{:05}_window{}.json", windows_[file].rank, windows_[file].number);
}

base::Result<emit::Written> Export::write(std::size_t file, const emit::Sink& sink) const {
  emit::Options options;
  options.redactor = redactor_.get();
  options.counters = counters_;
  switch (format_) {
    case ExportFormat::kPerfetto:
      return emit::write_perfetto(*run_, sink, options);
    case ExportFormat::kJsonl:
      return emit::write_jsonl(*run_, sink, options);
    case ExportFormat::kChrome:
      break;
  }
  if (!counters_.empty()) options.counters = options.counters.subspan(file, 1);
  return emit::write_chrome(windows_[file].window->trace, sink, options);
}

namespace {

using analysis::DeviceView;
using analysis::WindowView;
using base::Nanos;
using emit::CounterSeries;
using Windows = std::vector<std::vector<CounterSeries>>;

// A counter is drawn in the process of its device.
std::optional<std::uint32_t> track_of(const trace::Trace& trace, std::int64_t device) {
  for (std::uint32_t i = 0; i < trace.tracks().size(); ++i) {
    const trace::Track& track = trace.tracks()[i];
    if (track.is_device && track.device == device) return i;
  }
  return std::nullopt;
}

// The rows of a series table, which come by window and series, as one series each.
struct SeriesTable {
  std::string_view analysis;
  std::string_view title;   // "Queue length, stream {}"
  std::string_view key;     // the column that names a series within its device
  std::string_view value;   // the column of its values
  std::string_view suffix;  // of the name
  double factor = 1;
};

std::string key_text(const base::Table& table, std::size_t column, std::size_t row) {
  return table.shape().columns[column].type == base::Type::kText
             ? std::string(table.text_at(column, row))
             : std::to_string(table.int_at(column, row));
}

// Where the windows of a run stand in its order; a view may leave some of them out.
struct WindowPlace {
  std::size_t index;
  const trace::Trace* trace;
};
using Places = std::map<std::pair<std::int64_t, std::int64_t>, WindowPlace>;

Places places_of(const trace::Run& run) {
  Places places;
  for (const trace::RankTraces& rank : run.ranks) {
    for (std::size_t w = 0; w < rank.windows.size(); ++w) {
      const WindowPlace place{places.size(), &rank.windows[w].trace};
      places.try_emplace({rank.rank.value, static_cast<std::int64_t>(w)}, place);
    }
  }
  return places;
}

base::Status add_table(Windows& out, const Places& places, const Study& study,
                       const SeriesTable& about) {
  SCOPE_TRY(const analysis::Answer answer, study.ask(about.analysis, {{"points", "0"}}));
  const base::Table* table = analysis::table_of(answer, "series");
  if (table == nullptr) return base::Done{};
  const auto column = [&](std::string_view name) { return table->find(name).value(); };
  const std::size_t rank = column("rank");
  const std::size_t window = column("window");
  const std::size_t device = column("device");
  const std::size_t key = column(about.key);
  const std::size_t time = column("time_ns");
  const std::size_t value = column(about.value);

  const auto same_series = [&](std::size_t a, std::size_t b) {
    return table->int_at(rank, a) == table->int_at(rank, b) &&
           table->int_at(window, a) == table->int_at(window, b) &&
           table->int_at(device, a) == table->int_at(device, b) &&
           key_text(*table, key, a) == key_text(*table, key, b);
  };
  for (std::size_t begin = 0; begin < table->rows();) {
    std::size_t end = begin + 1;
    while (end < table->rows() && same_series(begin, end)) ++end;
    const auto [w, trace] = places.at({table->int_at(rank, begin), table->int_at(window, begin)});
    const std::int64_t on = table->int_at(device, begin);
    if (const auto track = track_of(*trace, on)) {
      CounterSeries series{.name = fmt::format("GPU {} {} {}{}", on, about.title,
                                               key_text(*table, key, begin), about.suffix),
                           .track = *track};
      for (std::size_t row = begin; row < end; ++row) {
        series.points.push_back(
            {table->int_at(time, row), table->real_at(value, row) * about.factor});
      }
      out[w].push_back(std::move(series));
    }
    begin = end;
  }
  return base::Done{};
}

// About a thousand stretches of a length that people read easily: 1, 2 or 5 with zeros.
Nanos stretch_of(Nanos span) {
  Nanos stretch = 1000;
  while (span / stretch > 1000) {
    const bool two = std::to_string(stretch).front() == '2';
    stretch = two ? stretch / 2 * 5 : stretch * 2;
  }
  return stretch;
}

CounterSeries utilisation(const WindowView& window, const DeviceView& device, std::uint32_t track) {
  CounterSeries out{.name = fmt::format("GPU {} utilisation (%)", device.device), .track = track};
  const trace::Span span = window.trace->span();
  const analysis::Coverage busy(device.busy);
  const Nanos stretch = stretch_of(span.length());
  std::optional<double> last;
  for (Nanos at = span.start; at < span.end; at += stretch) {
    const Nanos end = std::min(at + stretch, span.end);
    const double percent =
        100.0 * static_cast<double>(busy.covered({at, end})) / static_cast<double>(end - at);
    if (last != percent) out.points.push_back({at, percent});
    last = percent;
  }
  return out;
}

void add_counters_memory(std::vector<CounterSeries>& out, const trace::Trace& trace) {
  const trace::MemoryTable& memory = trace.memory_events();
  std::map<std::string, CounterSeries> found;
  const auto add = [&](trace::Row row, std::uint32_t entry, std::string_view what,
                       base::Bytes bytes) {
    if (bytes < 0) return;
    const std::string name = memory.device_type[entry] == 0
                                 ? fmt::format("CPU memory {} (bytes)", what)
                                 : fmt::format("GPU {} memory {} (bytes)",
                                               std::max<int>(memory.device_id[entry], 0), what);
    CounterSeries& series = found[name];
    if (series.points.empty()) series.track = trace.track()[row];
    series.name = name;
    series.points.push_back({trace.start()[row], static_cast<double>(bytes)});
  };
  memory.rows.for_each([&](trace::Row row, std::uint32_t entry) {
    if ((trace.flags()[row] & trace::kFarTime) != 0) return;
    add(row, entry, "allocated", memory.total_allocated[entry]);
    add(row, entry, "reserved", memory.total_reserved[entry]);
  });
  for (auto& [name, series] : found) {
    // Threads allocate side by side; a counter has one line.
    std::ranges::stable_sort(series.points, {}, &emit::CounterPoint::time);
    out.push_back(std::move(series));
  }
}

void leave_out_known(std::vector<CounterSeries>& series, const trace::Trace& trace) {
  std::set<base::StringId> names;
  for (const trace::Row row : trace.counters().row.span()) names.insert(trace.name()[row]);
  std::set<std::string_view> texts;
  for (const base::StringId name : names) {
    if (name != base::kNoString) texts.insert(trace.text(name));
  }
  std::erase_if(series, [&](const CounterSeries& one) { return texts.contains(one.name); });
}

}  // namespace

base::Result<Windows> counter_series(const trace::Run& run, MemorySeries memory, unsigned threads) {
  SCOPE_TRY(const Study study, Study::prepare(run, {}, threads));
  return counter_series(run, study, memory);
}

base::Result<Windows> counter_series(const trace::Run& run, const Study& study,
                                     MemorySeries memory) {
  const Places places = places_of(run);
  Windows out(places.size());
  SCOPE_TRY(add_table(out, places, study,
                      {.analysis = "queue-length",
                       .title = "queue length, stream",
                       .key = "stream",
                       .value = "length",
                       .suffix = ""}));
  SCOPE_TRY(add_table(out, places, study,
                      {.analysis = "memory-bandwidth",
                       .title = "copies",
                       .key = "kind",
                       .value = "bytes_per_second",
                       .suffix = " (GB/s)",
                       .factor = 1e-9}));
  for (const WindowView& window : study.view().windows) {
    const trace::Trace& trace = *window.trace;
    const std::size_t w = places.at({window.rank, window.window}).index;
    for (const DeviceView& device : window.devices) {
      if (const auto track = track_of(trace, device.device)) {
        out[w].push_back(utilisation(window, device, *track));
      }
    }
    if (memory == MemorySeries::kInclude) add_counters_memory(out[w], trace);
    leave_out_known(out[w], trace);
  }
  return out;
}

}  // namespace stepscope::session
