// Runs a pickle as data. A pickle is a program for a stack machine; this one knows the opcodes that
// build numbers, text and containers. The ones that name or call code are refused, so nothing that
// a file says is ever executed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/notes.h"
#include "base/result.h"
#include "ingest/pickle/feed.h"
#include "ingest/pickle/records.h"
#include "ingest/pickle/values.h"
#include "ingest/reading.h"

namespace stepscope::ingest::pickle {

class Machine {
 public:
  Machine(std::unique_ptr<bytes::ByteSource> source, const ReadOptions& options);

  // The object the pickle makes. A file that ends early gives what it held, and a note says so.
  base::Result<Cell> run();

  int protocol() const { return protocol_; }
  Values& values() { return values_; }
  Records& records() { return records_; }
  base::StringPool& strings() { return strings_; }
  base::ImportLog& log() { return log_; }
  bytes::ByteSource& source() { return feed_.source(); }

 private:
  enum class State : std::uint8_t { kGoing, kStopped, kCut, kFailed };

  State loop();
  State step(unsigned char opcode);
  State step_text(unsigned char opcode);
  State step_line(unsigned char opcode);
  State step_container(unsigned char opcode);
  State text(std::uint64_t length, bool keep);
  State integer(std::uint64_t length);
  bool line(std::string& into);
  State housekeeping();

  bool known_event();
  bool fetched(const char*& at, Cell& cell) const;
  bool known_value(const char*& at, const Cell& key, Cell& value);
  bool known_pair(const char*& at, Cell& value);
  const char* run_end(const char* at) const;
  memory::StackId next_stack(const char*& at);
  memory::StackId known_stack(std::string_view run);
  bool known_run();
  State learn_run(State state);
  State append_items();
  State append_one();
  State set_items();
  State set_one();
  State collect(Tag tag);
  State tuple(std::size_t count);
  State memoize(std::uint64_t index);
  State fetch(std::uint64_t index);
  bool set_members(const Cell& dict, std::size_t first);
  void close_all();
  void close_dict(std::size_t first);

  State fail(base::Code code, std::string what);
  State bad(std::string_view what);
  State refused(unsigned char opcode);
  void push(const Cell& cell) { values_.stack.push_back(cell); }
  std::size_t floor() const { return values_.marks.empty() ? 0 : values_.marks.back(); }
  // Whether so many values lie above the last mark.
  bool holds(std::size_t count) const { return values_.stack.size() >= floor() + count; }
  template <class T>
  T take();

  Feed feed_;
  const ReadOptions& options_;
  base::ImportLog log_;
  base::StringPool strings_;
  Values values_;
  Records records_;
  base::Error error_{};
  // Stacks by the bytes that fetch their frames: see known_run.
  base::StringPool runs_;
  std::vector<memory::StackId> run_stacks_;
  base::StringId run_id_ = 0, last_run_ = 0;
  std::vector<base::StringId> next_runs_;   // by run: what followed it the last time
  std::vector<Cell> members_, remembered_;  // of the event at hand
  std::size_t run_mark_ = 0;  // where the list lies that the run at hand fills; 0: none does
  std::uint64_t replaced_ = 0;
  const char* opcode_at_ = nullptr;
  int protocol_ = 0;
};

}  // namespace stepscope::ingest::pickle
