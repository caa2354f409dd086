/* Ranges, steps, counters and log lines from native code, into the recording of the process it runs
 * in (stepscope.profile in Python, or stepscope_start here). Where nothing records, every call
 * returns after two loads. Link with libstepscope_capture.so.
 *
 * C:    static uint32_t read_batch;  if (!read_batch) read_batch = stepscope_name("read batch");
 *       stepscope_begin(read_batch);  ...  stepscope_end(read_batch);
 * C++:  STEPSCOPE_RANGE("read batch");   until the end of the block
 */
#ifndef STEPSCOPE_H
#define STEPSCOPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STEPSCOPE_API __attribute__((visibility("default")))

/* The number of a name, above 0 and the same for the life of the process. Takes a lock: keep it.
 * Names take memory for good: beyond 131,072 of them, or 16 MiB, further ones share one number. */
STEPSCOPE_API uint32_t stepscope_name(const char* name);
/* 1: the number is this name's; 0: it is not, or that of further names. */
STEPSCOPE_API int stepscope_is_name(uint32_t number, const char* name);

STEPSCOPE_API void stepscope_begin(uint32_t name);
STEPSCOPE_API void stepscope_end(uint32_t name);
STEPSCOPE_API void stepscope_instant(uint32_t name);
STEPSCOPE_API void stepscope_counter(uint32_t name, double value);
/* The training step of this number ends now. */
STEPSCOPE_API void stepscope_step(int64_t number);
/* It begins now. Needed only where something that is no part of it came before: validation, say. */
STEPSCOPE_API void stepscope_begin_step(int64_t number);
/* Levels as Python counts them: 10 debug, 20 info, 30 warning, 40 error. */
STEPSCOPE_API void stepscope_log(int32_t level, const char* logger, const char* text);

/* The same on a lane: 0 is the thread itself, any other number a task that several threads or
 * other tasks interrupt, such as a coroutine. Ranges nest within their lane. */
STEPSCOPE_API void stepscope_begin_on(uint32_t name, uint64_t lane);
STEPSCOPE_API void stepscope_end_on(uint32_t name, uint64_t lane);
STEPSCOPE_API void stepscope_instant_on(uint32_t name, uint64_t lane);
STEPSCOPE_API void stepscope_log_on(int32_t level, const char* logger, const char* text,
                                    uint64_t lane);

/* Records to FOLDER/events.scope until stepscope_stop or the end of the process. 0: it does;
 * otherwise nothing is recorded and stepscope_error says why. Not needed under stepscope.profile.
 */
STEPSCOPE_API int stepscope_start(const char* folder);
/* The same to FOLDER/FILE, with COUNT pairs of texts about the process: rank, versions. */
STEPSCOPE_API int stepscope_start_as(const char* folder, const char* file, const char* const* pairs,
                                     uint32_t count);
STEPSCOPE_API void stepscope_stop(void);
/* For a process that is ended by SIGTERM: the recording is finished first, within a tenth of a
 * second, then the signal does what it would have done. */
STEPSCOPE_API void stepscope_finish_on_sigterm(void);
/* For a handler of SIGTERM that may never run: where stepscope_sigterm_seen() was not called within
 * five seconds of the signal, the recording is finished and the process ends by it. To be called
 * after the handler's installation, which is kept. */
STEPSCOPE_API void stepscope_end_on_unseen_sigterm(void);
STEPSCOPE_API void stepscope_sigterm_seen(void);
/* All that was recorded so far is in the file when it returns. */
STEPSCOPE_API void stepscope_flush(void);
/* How threads are called: asked in each thread before its first record, without any lock held; NULL
   or "" leaves it the system's name. */
STEPSCOPE_API void stepscope_name_threads(const char* (*name)(void));
STEPSCOPE_API int stepscope_is_recording(void);

/* Texts last until the thread's next call of a function that returns one. */
STEPSCOPE_API const char* stepscope_error(void);       /* why the last start failed */
STEPSCOPE_API const char* stepscope_path(void);        /* where this process writes, or "" */
STEPSCOPE_API const char* stepscope_write_error(void); /* the first one while writing, or "" */

/* What recording cost this process so far. */
struct stepscope_cost {
  uint64_t records, dropped, log_lines, bytes, lost_bytes;
  int64_t writer_cpu_ns;
};
STEPSCOPE_API void stepscope_get_cost(struct stepscope_cost* cost);

/* Samples the machine into FOLDER/system.scope, once per folder: of the processes that ask for the
 * same one, the first samples and the others wait until it ends. 0: it does or waits. */
struct stepscope_system {
  const char* folder;            /* of the node; must exist */
  double hz;                     /* samples a second, up to 100; 0: another samples this process */
  int64_t rank, local_rank;      /* of this process */
  const char *proc, *sys, *nvml; /* where to look; NULL: the machine's own */
};
STEPSCOPE_API int stepscope_start_system(const struct stepscope_system* options);
STEPSCOPE_API void stepscope_stop_system(void);

/* What sampling did in this process so far. */
struct stepscope_system_state {
  int running; /* samples or waits */
  uint64_t moments, values;
  int64_t cpu_ns;
  const char* path;        /* of its file, "" where another process samples; texts as above */
  const char* write_error; /* the first one while writing, or "" */
};
STEPSCOPE_API void stepscope_get_system(struct stepscope_system_state* state);

#ifdef __cplusplus
}

namespace stepscope_native {

class Range {
 public:
  explicit Range(uint32_t name) : name_(name) { stepscope_begin(name_); }
  ~Range() { stepscope_end(name_); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  uint32_t name_;
};

}  // namespace stepscope_native

#define STEPSCOPE_JOIN2(a, b) a##b
#define STEPSCOPE_JOIN(a, b) STEPSCOPE_JOIN2(a, b)
#define STEPSCOPE_RANGE(name)                                                             \
  static const uint32_t STEPSCOPE_JOIN(stepscope_name_, __LINE__) = stepscope_name(name); \
  const ::stepscope_native::Range STEPSCOPE_JOIN(                                         \
      stepscope_range_, __LINE__)(STEPSCOPE_JOIN(stepscope_name_, __LINE__))
#endif

#endif
