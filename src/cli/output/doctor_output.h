// What the doctor found, for people and for programs.
#pragma once

#include <span>
#include <string>

#include "doctor/check.h"
#include "report/writing/text_table.h"

namespace stepscope::cli {

// A line per check, then what to do about those that are not well.
std::string doctor_text(std::span<const doctor::Check> checks, const report::Look& look);

// Schema stepscope.doctor/1, described in docs/cli/doctor.md.
std::string doctor_json(std::span<const doctor::Check> checks);

}  // namespace stepscope::cli
