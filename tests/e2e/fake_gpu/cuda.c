// A CUDA driver with one device made of host memory: the calls that `stepscope doctor` makes, so that
// it is tested where there is no GPU. FAKE_CUDA_ERROR and FAKE_CUDA_HANG make cuInit fail or hang.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long Pointer;

int cuInit(unsigned flags) {
  (void)flags;
  if (getenv("FAKE_CUDA_HANG")) pause();
  if (getenv("FAKE_CUDA_CRASH")) abort();
  const char* error = getenv("FAKE_CUDA_ERROR");
  return error ? atoi(error) : 0;
}
int cuDriverGetVersion(int* version) { return *version = 12080, 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* name, int size, int device) {
  (void)device;
  return strncpy(name, "NVIDIA H200", (size_t)size), 0;
}
int cuDeviceGetAttribute(int* value, int which, int device) {
  (void)device;
  return *value = which == 16 ? 132 : which == 75 ? 9 : 0, 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  return *bytes = (size_t)150 << 30, 0;
}
int cuDeviceGetPCIBusId(char* text, int size, int device) {
  (void)device;
  return strncpy(text, "0000:01:00.0", (size_t)size), 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  (void)device;
  static int only;
  return *context = &only, 0;
}
int cuCtxSetCurrent(void* context) { return context ? 0 : 1; }
int cuCtxSynchronize(void) { return 0; }
int cuMemGetInfo_v2(size_t* free_bytes, size_t* all) { return *free_bytes = *all = 1 << 29, 0; }
int cuMemAlloc_v2(Pointer* to, size_t bytes) {
  *to = (Pointer)(size_t)malloc(bytes);
  return *to ? 0 : 2;
}
int cuMemAllocHost_v2(void** to, size_t bytes) { return (*to = malloc(bytes)) ? 0 : 2; }
int cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes) {
  return memcpy((void*)(size_t)to, from, bytes), 0;
}
int cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, void* stream) {
  (void)stream;
  return cuMemcpyHtoD_v2(to, from, bytes);
}
int cuEventCreate(void** event, unsigned flags) {
  (void)flags;
  return (*event = malloc(sizeof(struct timespec))) ? 0 : 2;
}
int cuEventRecord(void* event, void* stream) {
  (void)stream;
  return clock_gettime(CLOCK_MONOTONIC, event);
}
int cuEventSynchronize(void* event) { return event ? 0 : 1; }
int cuEventElapsedTime(float* ms, void* begin, void* end) {
  const struct timespec *a = begin, *b = end;
  *ms = (float)(b->tv_sec - a->tv_sec) * 1e3f + (float)(b->tv_nsec - a->tv_nsec) / 1e6f;
  return 0;
}
