// The C interface (include/stepscope/stepscope.h): names count from 1 there, so that 0 can mean
// "not asked yet".
#include <stepscope/stepscope.h>

#include <string>
#include <string_view>

#include "capture/recorder.h"
#include "capture/system/sampler.h"

namespace {

namespace capture = stepscope::capture;

thread_local std::string last_error;
thread_local std::string last_text;
thread_local capture::SystemState last_system;

const char* kept(std::string text) {
  last_text = std::move(text);
  return last_text.c_str();
}

// Nothing that native code hands over may end its process.
std::string_view given(const char* text) { return text == nullptr ? std::string_view() : text; }

}  // namespace

uint32_t stepscope_name(const char* name) { return capture::name_id(given(name)) + 1; }

int stepscope_is_name(uint32_t number, const char* name) {
  return number != 0 && capture::is_name(number - 1, given(name)) ? 1 : 0;
}

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
  capture::log(level, given(logger), given(text), lane);
}

int stepscope_start(const char* folder) {
  return stepscope_start_as(folder, "events.scope", nullptr, 0);
}

int stepscope_start_as(const char* folder, const char* file, const char* const* pairs,
                       uint32_t count) {
  capture::RecordOptions options{.folder = std::string(given(folder)),
                                 .file = std::string(given(file))};
  for (uint32_t i = 0; pairs != nullptr && i < count; ++i) {
    options.about.emplace_back(given(pairs[2 * i]), given(pairs[2 * i + 1]));
  }
  const auto started = capture::start(options);
  last_error = started ? std::string() : started.error().message;
  return started ? 0 : 1;
}

void stepscope_stop(void) { capture::stop(); }
void stepscope_finish_on_sigterm(void) { capture::finish_on_sigterm(); }
void stepscope_end_on_unseen_sigterm(void) { capture::end_on_unseen_sigterm(); }
void stepscope_sigterm_seen(void) { capture::sigterm_seen(); }
void stepscope_name_threads(const char* (*name)()) { capture::name_threads(name); }
void stepscope_flush(void) { capture::flush(); }
int stepscope_is_recording(void) { return capture::is_recording() ? 1 : 0; }
const char* stepscope_error(void) { return last_error.c_str(); }
const char* stepscope_path(void) { return kept(capture::path()); }
const char* stepscope_write_error(void) { return kept(capture::write_error()); }

void stepscope_get_cost(stepscope_cost* cost) {
  if (cost == nullptr) return;
  const stepscope::wire::Cost now = capture::cost();
  *cost = {.records = now.records,
           .dropped = now.dropped,
           .log_lines = now.log_lines,
           .bytes = now.bytes,
           .lost_bytes = now.lost_bytes,
           .writer_cpu_ns = now.writer_ns};
}

int stepscope_start_system(const stepscope_system* options) {
  constexpr stepscope_system kNothing{};
  if (options == nullptr) options = &kNothing;
  capture::SystemOptions chosen{.folder = std::string(given(options->folder)),
                                .hz = options->hz,
                                .rank = options->rank,
                                .local_rank = options->local_rank};
  if (options->proc != nullptr) chosen.place.proc = options->proc;
  if (options->sys != nullptr) chosen.place.sys = options->sys;
  if (options->nvml != nullptr) chosen.place.nvml = options->nvml;
  const auto started = capture::start_system(chosen);
  last_error = started ? std::string() : started.error().message;
  return started ? 0 : 1;
}

void stepscope_stop_system(void) { capture::stop_system(); }

void stepscope_get_system(stepscope_system_state* state) {
  if (state == nullptr) return;
  last_system = capture::system_state();
  *state = {.running = last_system.running ? 1 : 0,
            .moments = last_system.moments,
            .values = last_system.values,
            .cpu_ns = last_system.cpu_ns,
            .path = last_system.path.c_str(),
            .write_error = last_system.write_error.c_str()};
}
