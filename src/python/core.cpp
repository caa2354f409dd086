// The extension: session's functions under Python's names. Whatever takes time runs without
// Python's lock, and errors become stepscope's exceptions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <exception>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "python/recording.h"
#include "report/help/help.h"
#include "session/config/config_file.h"
#include "session/config/recording_plan.h"

namespace nb = nanobind;

namespace stepscope::python {
namespace {

// errors.py decides which exception a code becomes.
void raise_failed(const Failed& failed) {
  const nb::object make = nb::module_::import_("stepscope.errors").attr("exception_from");
  const nb::object error = make(static_cast<int>(failed.error.code), failed.error.message);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Failed& failed) {
    try {
      raise_failed(failed);
    } catch (nb::python_error& error) {
      error.restore();
    }
  }
}

using Released = nb::call_guard<nb::gil_scoped_release>;

void bind_recording(nb::module_& module) {
  nb::class_<PageChoice>(module, "PageChoice")
      .def(
          "__init__",
          [](PageChoice* choice, std::vector<std::int32_t> ranks, std::vector<std::int64_t> steps,
             bool memory, std::map<std::string, std::string> settings) {
            new (choice)
                PageChoice{std::move(ranks), std::move(steps), memory, std::move(settings)};
          },
          nb::arg("ranks"), nb::arg("steps"), nb::arg("memory"), nb::arg("settings"));
  nb::class_<OpenRun>(module, "Recording")
      .def("ask", &OpenRun::ask, nb::arg("analysis"), nb::arg("options"), nb::arg("ranks"),
           nb::arg("steps"), Released())
      .def(
          "diff",
          [](const OpenRun& self, const OpenRun& other, std::vector<std::int32_t> ranks,
             std::vector<std::int64_t> steps, std::vector<std::int32_t> other_ranks,
             std::vector<std::int64_t> other_steps) {
            return self.diff(other, {std::move(ranks), std::move(steps)},
                             {std::move(other_ranks), std::move(other_steps)});
          },
          nb::arg("other"), nb::arg("ranks"), nb::arg("steps"), nb::arg("other_ranks"),
          nb::arg("other_steps"), Released())
      .def("info_json", &OpenRun::info_json, Released())
      .def("report_text", &OpenRun::report_text, nb::arg("choice"), nb::arg("width"),
           nb::arg("colour"), Released())
      .def("loader_trial", &OpenRun::loader_trial, Released())
      .def("report_html", &OpenRun::report_html, nb::arg("choice"), Released())
      .def("advise", &OpenRun::advise, nb::arg("choice"), nb::arg("thresholds"), Released());
  nb::class_<Compared>(module, "Compared")
      .def_prop_ro("answer", [](const Compared& self) { return self.answer; })
      .def_ro("sentence", &Compared::sentence);
  nb::class_<Advised>(module, "Advice")
      .def_prop_ro("table", [](const Advised& self) { return AnsweredTable{self.table}; })
      .def_ro("json", &Advised::json);
}

void bind_functions(nb::module_& module) {
  module.def("check_steps", check_steps, nb::arg("runs"), nb::arg("baseline"), nb::arg("rules"),
             Released());
  module.def(
      "open",
      [](std::vector<std::string> paths, unsigned jobs, std::uint64_t max_memory_bytes,
         std::string steps, std::string peaks, const nb::object& progress) {
        return open_run(
            {std::move(paths), jobs, max_memory_bytes, std::move(steps), std::move(peaks)},
            progress);
      },
      nb::arg("paths"), nb::arg("jobs"), nb::arg("max_memory_bytes"), nb::arg("steps"),
      nb::arg("peaks"), nb::arg("progress").none());
  module.def(
      "config_json",
      [](const std::string& path) {
        return session::plan_json(value_or_throw(session::read_config(path)));
      },
      nb::arg("path"), Released());
  module.def("version", cli::version_line);
  module.def("analyses_json", report::analyses_json);
  module.def("analysis_names", [] {
    std::vector<std::string> names;
    for (const analysis::Analysis* about : analysis::analyses()) names.emplace_back(about->name);
    return names;
  });
  module.def(
      "main",  // bytes: what a command is given may be no UTF-8
      [](const std::vector<nb::bytes>& words) {
        std::vector<std::string> given;
        given.reserve(words.size());
        for (const nb::bytes& word : words) given.emplace_back(word.c_str(), word.size());
        const nb::gil_scoped_release released;
        return cli::run_command_line(given);
      },
      nb::arg("words"));
}

}  // namespace
}  // namespace stepscope::python

NB_MODULE(_core, module) {
  nb::register_exception_translator(stepscope::python::translate);
  stepscope::python::bind_tables(module);
  stepscope::python::bind_recording(module);
  stepscope::python::bind_functions(module);
  stepscope::python::bind_sweeping(module);
}
