// What the headers of a run's files say about devices, versions and the recording's settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/info/info.h"

namespace stepscope::report {

bool lists_devices(const trace::Header& header);

// Adds what this header says and earlier ones did not.
void add_devices(const trace::Header& header, std::vector<DeviceInfo>& devices);
void add_versions(const trace::Header& header, std::vector<NamedText>& versions);
void add_settings(const trace::Header& header, std::vector<std::string>& settings);

// 13000 → "13.0", as CUDA counts; 60443483 → "6.4.43483", as HIP does.
std::string cuda_version_text(std::string_view json);
std::string hip_version_text(std::string_view json);
std::string cupti_version_text(std::string_view json);

}  // namespace stepscope::report
