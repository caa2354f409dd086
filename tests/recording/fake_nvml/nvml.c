// An NVML with two GPUs that draw power along a curve, so that energy is known by construction.
// FAKE_NVML_CURVE: a file of lines "milliseconds milliwatts", straight lines between them, from the
// moment FAKE_NVML_START (monotonic clock, ns) on. GPU 1 draws twice as much as GPU 0.
// FAKE_NVML_NO_ENERGY: no counter of energy. FAKE_NVML_LOST_AT: GPU 0 is gone from that
// millisecond. FAKE_NVML_UPDATE: the counter has a new value every so many milliseconds.
// FAKE_NVML_SLOW: reading the counter keeps a core busy for so many milliseconds, as on an H200; its
// value is that of the middle. FAKE_NVML_HANGS_AT: from that millisecond on GPU 0 does not answer;
// FAKE_NVML_ENERGY_HANGS: no GPU ever tells its counter. FAKE_NVML_SLOW_INIT: of opening.
// FAKE_NVML_NO_FIELDS: an older driver, whose only power is the mean of the last second.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 1024, kNotSupported = 3, kNotFound = 6, kLost = 15, kPowerInstant = 186 };
static double at_ms[kMost], milliwatts[kMost];
static int points;
static int gpus[2], parts[1];

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const char* start = getenv("FAKE_NVML_START");
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6 - (start ? atof(start) / 1e6 : 0);
}
static double power_at(double ms) {
  if (points == 0 || ms <= at_ms[0]) return points ? milliwatts[0] : 0;
  for (int i = 1; i < points; ++i) {
    if (ms > at_ms[i]) continue;
    const double part = (ms - at_ms[i - 1]) / (at_ms[i] - at_ms[i - 1]);
    return milliwatts[i - 1] + (milliwatts[i] - milliwatts[i - 1]) * part;
  }
  return milliwatts[points - 1];
}
// In millijoules, from the beginning of the curve.
static double energy_until(double ms) {
  double sum = 0;
  for (int i = 1; i <= points; ++i) {
    const double end = i == points || ms < at_ms[i] ? ms : at_ms[i];
    if (end <= at_ms[i - 1]) break;
    sum += (power_at(at_ms[i - 1]) + power_at(end)) / 2 * (end - at_ms[i - 1]) / 1e3;
  }
  return sum;
}
static int scale_of(void* device) { return device == &gpus[1] ? 2 : 1; }
// At every question about a device.
static int lost(void* device) {
  const char* hangs = getenv("FAKE_NVML_HANGS_AT");
  if (device == &gpus[0] && hangs && now_ms() >= atof(hangs)) {
    for (;;) pause();
  }
  const char* at = getenv("FAKE_NVML_LOST_AT");
  return device == &gpus[0] && at && now_ms() >= atof(at);
}

int nvmlInit_v2(void) {
  const char* error = getenv("FAKE_NVML_ERROR");
  const char* slow = getenv("FAKE_NVML_SLOW_INIT");
  if (slow) usleep((useconds_t)(atof(slow) * 1e3));
  if (error) return atoi(error);
  const char* name = getenv("FAKE_NVML_CURVE");
  FILE* file = name ? fopen(name, "r") : 0;
  while (file && points < kMost &&
         fscanf(file, "%lf %lf", &at_ms[points], &milliwatts[points]) == 2) {
    ++points;
  }
  if (file) fclose(file);
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  return index < 2 ? (*device = &gpus[index], 0) : kNotFound;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return strcmp(uuid, "MIG-fake") ? kNotFound : (*device = &parts[0], 0);
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* part, void** device) {
  return part == &parts[0] ? (*device = &gpus[1], 0) : kNotFound;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  snprintf(text, size, "GPU-fake-%d", device == &gpus[1]);
  return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  (void)device;
  snprintf(text, size, "Fake GPU");
  return 0;
}
int nvmlDeviceGetMinorNumber(void* device, unsigned* number) {
  return *number = device == &gpus[1] ? 5 : 4, 0;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  if (lost(device)) return kLost;
  if (device == &parts[0]) return kNotSupported;
  rates[0] = 40, rates[1] = 10;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  if (lost(device)) return kLost;
  memory[0] = 80ull << 30, memory[1] = 60ull << 30, memory[2] = 20ull << 30;
  return 0;
}
// The mean of the last second.
int nvmlDeviceGetPowerUsage(void* device, unsigned* power) {
  if (lost(device)) return kLost;
  if (device == &parts[0]) return kNotSupported;
  const double ms = now_ms(), mean = energy_until(ms) - energy_until(ms - 1e3);
  const double before = ms < 1e3 ? power_at(0) * (1e3 - ms) / 1e3 : 0;
  return *power = (unsigned)((mean + before) * scale_of(device) + 0.5), 0;
}
struct Field {
  unsigned id, scope;
  long long timestamp, latency;
  int type, result;
  unsigned long long value;
};
int nvmlDeviceGetFieldValues(void* device, int count, struct Field* fields) {
  if (lost(device)) return kLost;
  if (device == &parts[0]) return kNotSupported;
  for (int i = 0; i < count; ++i) {
    fields[i].result = kNotSupported;
    if (fields[i].id != kPowerInstant || getenv("FAKE_NVML_NO_FIELDS")) continue;
    fields[i].type = 1;  // unsigned int, in the first four bytes
    fields[i].value = (unsigned)(power_at(now_ms()) * scale_of(device) + 0.5);
    fields[i].result = 0;
  }
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* energy) {
  if (lost(device)) return kLost;
  if (device == &parts[0] || getenv("FAKE_NVML_NO_ENERGY")) return kNotSupported;
  const char* update = getenv("FAKE_NVML_UPDATE");
  const char* slow = getenv("FAKE_NVML_SLOW");
  if (getenv("FAKE_NVML_ENERGY_HANGS")) {
    for (;;) pause();
  }
  const double half = slow ? atof(slow) / 2 : 0;
  double ms = now_ms() + half;
  while (slow && now_ms() < ms + half) {
  }
  if (update) ms = (double)(long long)(ms / atof(update)) * atof(update);
  *energy = 1000000 + (unsigned long long)(energy_until(ms) * scale_of(device));
  return 0;
}
