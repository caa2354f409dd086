// NVML for the fake device: generation and width of its link.
#include <string.h>

int nvmlInit_v2(void) { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return strncpy(text, "570.1.2", size), 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 1, 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  static int only;
  *device = &only;
  return strcmp(id, "0000:01:00.0") ? 2 : 0;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* value) {
  (void)device;
  return *value = 5, 0;
}
int nvmlDeviceGetMaxPcieLinkWidth(void* device, unsigned* value) {
  (void)device;
  return *value = 16, 0;
}
