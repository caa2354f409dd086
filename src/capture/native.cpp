// The C interface (include/stepscope/stepscope.h): names count from 1 there, so that 0 can mean
// "not asked yet".
#include <stepscope/stepscope.h>

#include <string>

#include "capture/recorder.h"

namespace {

thread_local std::string last_error;

}  // namespace

uint32_t stepscope_name(const char* name) { return stepscope::capture::name_id(name) + 1; }

void stepscope_begin(uint32_t name) {
  if (name != 0) stepscope::capture::begin(name - 1);
}

void stepscope_end(uint32_t name) {
  if (name != 0) stepscope::capture::end(name - 1);
}

void stepscope_instant(uint32_t name) {
  if (name != 0) stepscope::capture::instant(name - 1);
}

void stepscope_counter(uint32_t name, double value) {
  if (name != 0) stepscope::capture::counter(name - 1, value);
}

void stepscope_step(int64_t number) { stepscope::capture::step(number); }

void stepscope_log(int32_t level, const char* logger, const char* text) {
  stepscope::capture::log(level, logger, text);
}

int stepscope_start(const char* folder) {
  const auto started = stepscope::capture::start({.folder = folder});
  last_error = started ? std::string() : started.error().message;
  return started ? 0 : 1;
}

void stepscope_stop(void) { stepscope::capture::stop(); }

const char* stepscope_error(void) { return last_error.c_str(); }
