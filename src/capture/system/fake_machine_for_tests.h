// Folders that look like /proc and /sys, and what a source saw in them, by name.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/temp_folder_for_tests.h"
#include "capture/system/source.h"
#include "wire/reader.h"

namespace stepscope::capture {

class FakeMachine {
 public:
  FakeMachine() { std::filesystem::create_directories(root_ / "node"); }

  void write(const std::string& path, const std::string& text) const { root_.write(path, text); }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ / path); }
  std::string path(const std::string& name) const { return root_ / name; }
  SystemPlace place() const {
    SystemPlace place;
    place.proc = root_ / "proc";
    place.sys = root_ / "sys";
    place.nvml = root_ / "libnvidia-ml.so.1";
    place.file_systems = {};
    place.process_cpu_ns = [this](int pid) -> std::optional<std::int64_t> {
      const auto found = cpu_ns.find(pid);
      return found == cpu_ns.end() ? std::nullopt : std::optional(found->second);
    };
    return place;
  }
  // A process of the machine; its start time is 7.
  void process(int pid, int parent) const {
    write("proc/" + std::to_string(pid) + "/stat", std::to_string(pid) + " (py (x) thon) S " +
                                                       std::to_string(parent) +
                                                       " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7 0\n");
  }
  // One that announced itself.
  void announced(int pid, int rank, const std::string& more = "") const {
    write("node/process-" + std::to_string(pid), "rank " + std::to_string(rank) + "\nlocal_rank " +
                                                     std::to_string(rank) + "\nstart 7\n" + more +
                                                     "end\n");
  }

  std::map<int, std::int64_t> cpu_ns;

 private:
  base::TempFolder root_;
};

struct Seen {
  // "name" or "name device", "name core 3", "name path /tmp", "name rank 0 children"; values in
  // order.
  std::map<std::string, std::vector<std::int64_t>> values;
  std::vector<std::string> notices;

  std::vector<std::int64_t> operator[](const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::vector<std::int64_t>() : found->second;
  }
};

inline std::string name_of(const wire::Fields& about) {
  std::string name;
  for (const auto& [key, value] : about) {
    if (key == "name") name = value;
    if (key == "device") name += " " + value;
    if (key == "core" || key == "rank" || key == "path")
      name.append(" ").append(key).append(" ").append(value);
    if (key == "of" || key == "list") name += " " + value;
  }
  return name;
}

// Decoded from the bytes they were written as.
inline Seen seen_in(const std::string& bytes) {
  Seen seen;
  std::map<wire::SeriesId, std::string> names;
  std::string file;
  wire::put_file_header(file);
  file += bytes;
  wire::BlockReader blocks;
  blocks.add(file);
  blocks.finish();
  while (const auto block = blocks.next()) {
    if (const auto series = block->kind == wire::BlockKind::kSeries
                                ? wire::read_series(block->payload)
                                : std::nullopt) {
      names[series->series] = name_of(series->about);
    } else if (block->kind == wire::BlockKind::kSamples) {
      const auto samples = wire::read_samples(block->payload);
      for (const wire::SampleColumn& column : samples->columns) {
        auto& values = seen.values[names.at(column.series)];
        values.insert(values.end(), column.values.begin(), column.values.end());
      }
    } else if (block->kind == wire::BlockKind::kLogs) {
      const auto lines = wire::read_logs(block->payload);
      for (const wire::LogLine& line : *lines) {
        seen.notices.push_back(line.logger + ": " + line.text);
      }
    }
  }
  return seen;
}

// Moments are added by sample(); all of them are decoded from the bytes they were written as.
class Watcher {
 public:
  void sample(Source& source) {
    if (prepared_.insert(&source).second) source.prepare(samples_);
    samples_.begin_moment(++ticks_);
    source.sample(samples_);
    samples_.take(bytes_);
  }
  Seen seen() const { return seen_in(bytes_); }

 private:
  Samples samples_;
  std::string bytes_;
  std::uint64_t ticks_ = 0;
  std::set<const Source*> prepared_;
};

}  // namespace stepscope::capture
