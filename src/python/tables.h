// Tables and answers as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

namespace stepscope::python {

void bind_tables(nanobind::module_& module);

}  // namespace stepscope::python
