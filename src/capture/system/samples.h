// What sources saw, on its way into the node's file. A series is defined once and has a value at
// every moment it could be read; what could not be read is said once, and never a 0. One thread
// puts, any may take: a thread that waits for a driver keeps back nothing that it saw before.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/writer.h"

namespace stepscope::capture {

enum class SeriesKind : std::uint8_t {
  kGauge,    // a value of the moment: memory, temperature
  kCounter,  // a running total that never falls: bytes, joules
};

struct NewSeries {
  std::string_view name;  // "gpu.power"
  std::string_view unit;  // "mW"
  SeriesKind kind = SeriesKind::kGauge;
  wire::Fields about = {};  // of which device, process, core
};

// What all threads that put into one file have in common.
class SampleBook {
 public:
  wire::SeriesId define(const wire::Fields& fields);
  std::string take_definitions();
  // False: somebody did already.
  bool say(std::string_view source, const std::string& sentence);

 private:
  std::mutex mutex_;
  wire::SeriesId next_ = 0;
  std::string defined_;  // blocks that wait
  std::set<std::pair<std::string, std::string>> said_;
};

class Samples {
 public:
  explicit Samples(std::shared_ptr<SampleBook> book = std::make_shared<SampleBook>())
      : book_(std::move(book)) {}

  wire::SeriesId define(const NewSeries& series);

  // What follows was seen at this moment.
  void begin_moment(std::uint64_t ticks);
  std::uint64_t moment() const { return now_; }
  void put(wire::SeriesId series, std::int64_t value);
  // A value that hardly ever changes is written when it does.
  void put_if_new(wire::SeriesId series, std::int64_t value);
  // A plain sentence of a source about what it cannot see. The same one again is not repeated.
  void say(std::string_view source, const std::string& sentence);

  bool has_more() const;  // since the last time
  // Everything since then, as blocks.
  void take(std::string& out);
  std::uint64_t values() const;

 private:
  std::shared_ptr<SampleBook> book_;
  std::uint64_t now_ = 0;     // of the thread that puts
  mutable std::mutex mutex_;  // of all below
  wire::SampleBlock block_;
  std::vector<std::size_t> column_of_;  // by series; kNone: has no value in this block
  std::map<wire::SeriesId, std::int64_t> last_;
  std::vector<wire::LogLine> lines_;
  std::uint64_t values_ = 0;
};

}  // namespace stepscope::capture
