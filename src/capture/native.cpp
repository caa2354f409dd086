// The C interface (include/stepscope/stepscope.h): names count from 1 there, so that 0 can mean
// "not asked yet".
#include <stepscope/stepscope.h>

#include <string>

#include "capture/recorder.h"

namespace {

namespace capture = stepscope::capture;

thread_local std::string last_error;
thread_local std::string last_text;

const char* kept(std::string text) {
  last_text = std::move(text);
  return last_text.c_str();
}

}  // namespace

uint32_t stepscope_name(const char* name) { return capture::name_id(name) + 1; }

void stepscope_begin(uint32_t name) { stepscope_begin_on(name, 0); }
void stepscope_end(uint32_t name) { stepscope_end_on(name, 0); }
void stepscope_instant(uint32_t name) { stepscope_instant_on(name, 0); }

void stepscope_begin_on(uint32_t name, uint64_t lane) {
  if (name != 0) capture::begin(name - 1, lane);
}

void stepscope_end_on(uint32_t name, uint64_t lane) {
  if (name != 0) capture::end(name - 1, lane);
}

void stepscope_instant_on(uint32_t name, uint64_t lane) {
  if (name != 0) capture::instant(name - 1, lane);
}

void stepscope_counter(uint32_t name, double value) {
  if (name != 0) capture::counter(name - 1, value);
}

void stepscope_step(int64_t number) { capture::step(number); }
void stepscope_begin_step(int64_t number) { capture::begin_step(number); }

void stepscope_log(int32_t level, const char* logger, const char* text) {
  stepscope_log_on(level, logger, text, 0);
}

void stepscope_log_on(int32_t level, const char* logger, const char* text, uint64_t lane) {
  capture::log(level, logger, text, lane);
}

int stepscope_start(const char* folder) {
  return stepscope_start_as(folder, "events.scope", nullptr, 0);
}

int stepscope_start_as(const char* folder, const char* file, const char* const* pairs,
                       uint32_t count) {
  capture::RecordOptions options{.folder = folder, .file = file};
  for (uint32_t i = 0; i < count; ++i) options.about.emplace_back(pairs[2 * i], pairs[2 * i + 1]);
  const auto started = capture::start(options);
  last_error = started ? std::string() : started.error().message;
  return started ? 0 : 1;
}

void stepscope_stop(void) { capture::stop(); }
void stepscope_flush(void) { capture::flush(); }
int stepscope_is_recording(void) { return capture::is_recording() ? 1 : 0; }
const char* stepscope_error(void) { return last_error.c_str(); }
const char* stepscope_path(void) { return kept(capture::path()); }
const char* stepscope_write_error(void) { return kept(capture::write_error()); }

void stepscope_get_cost(stepscope_cost* cost) {
  const stepscope::wire::Cost now = capture::cost();
  *cost = {.records = now.records,
           .dropped = now.dropped,
           .log_lines = now.log_lines,
           .bytes = now.bytes,
           .lost_bytes = now.lost_bytes,
           .writer_cpu_ns = now.writer_ns};
}
