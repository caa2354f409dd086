// stepscope._capture: the recorder for Python. Written against Python's own C interface, because a
// range is entered and left in a hundred nanoseconds and a binding's layer costs as much again.
#define PY_SSIZE_T_CLEAN  // NOLINT(readability-identifier-naming): Python's
#include <Python.h>
#include <fcntl.h>
#include <stepscope/stepscope.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "python/capture/names.h"

namespace {

using stepscope::id_of;
using stepscope::written_form;

// What this module knows of others; all null until they are there.
struct Hooks {
  PyObject* asyncio_name = nullptr;  // the text "asyncio": made once, not per range
  PyObject* running_loop = nullptr;  // asyncio's; null until it is imported
  PyObject* current_task = nullptr;
  PyObject* decorate = nullptr;  // stepscope.ranges.decorate
  PyObject* enter = nullptr;     // of torch's record_function and NVTX, while a profiler listens
};
Hooks hooks;

// asyncio's two questions, once it is imported: looking costs a dictionary's lookup.
bool has_asyncio() {
  if (hooks.current_task != nullptr) return true;
  PyObject* const modules = PyImport_GetModuleDict();
  PyObject* const asyncio = PyDict_GetItemWithError(modules, hooks.asyncio_name);
  if (asyncio == nullptr) return false;
  PyObject* const loop = PyObject_GetAttrString(asyncio, "_get_running_loop");
  PyObject* const task = PyObject_GetAttrString(asyncio, "current_task");
  if (loop == nullptr || task == nullptr) {  // still being imported
    PyErr_Clear();
    Py_XDECREF(loop);
    Py_XDECREF(task);
    return false;
  }
  hooks.running_loop = loop;
  hooks.current_task = task;
  return true;
}

// The task this code runs in, or 0: ranges of a task nest in themselves across awaits.
std::uint64_t current_lane() {
  if (!has_asyncio()) return 0;
  PyObject* const loop = PyObject_CallNoArgs(hooks.running_loop);
  if (loop == nullptr || loop == Py_None) {
    PyErr_Clear();
    Py_XDECREF(loop);
    return 0;
  }
  PyObject* const task = PyObject_CallOneArg(hooks.current_task, loop);
  Py_DECREF(loop);
  if (task == nullptr) PyErr_Clear();
  const std::uint64_t lane =
      task == nullptr || task == Py_None ? 0 : reinterpret_cast<std::uintptr_t>(task) >> 4;
  Py_XDECREF(task);
  return lane;
}

struct Range {
  PyObject_HEAD PyObject* name;
  PyObject* leave;  // what hooks.enter gave: to be called at the end, whoever listens by then
  std::uint32_t id;
  std::uint64_t lane;
};

PyObject* range_of(PyTypeObject* type, PyObject* name) {
  // @range without a name: the function's own.
  // A class method is no callable, but one is within it.
  const bool is_method = PyObject_TypeCheck(name, &PyClassMethod_Type) != 0;
  if (!PyUnicode_Check(name) && (is_method || PyCallable_Check(name) != 0)) {
    return PyObject_CallFunctionObjArgs(hooks.decorate, name, Py_None, nullptr);
  }
  if (!PyUnicode_Check(name) && Py_TYPE(name)->tp_descr_get != nullptr) {
    PyErr_Format(PyExc_TypeError, "a range stands above a function: below %.80s, not above it",
                 Py_TYPE(name)->tp_name);
    return nullptr;
  }
  PyObject* const text = stepscope::text_of(name, "a range");
  const std::uint32_t id = text == nullptr ? 0 : id_of(text);
  auto* const self = id == 0 ? nullptr : reinterpret_cast<Range*>(type->tp_alloc(type, 0));
  if (self == nullptr) {
    Py_XDECREF(text);
    return nullptr;
  }
  self->name = text;
  self->id = id;
  return reinterpret_cast<PyObject*>(self);
}

PyObject* range_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  PyObject* name = nullptr;
  static const char* names[] = {"name", nullptr};
  if (PyArg_ParseTupleAndKeywords(args, keywords, "O:range", const_cast<char**>(names), &name) ==
      0) {
    return nullptr;
  }
  return range_of(type, name);
}

// range("forward") as it is nearly always called: neither a tuple nor a parser of arguments.
PyObject* range_vectorcall(PyObject* type, PyObject* const* args, std::size_t flags,
                           PyObject* keywords) {
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count == 1 && keywords == nullptr) {
    return range_of(reinterpret_cast<PyTypeObject*>(type), args[0]);
  }
  PyObject* const tuple = PyTuple_New(count);
  PyObject* const named = keywords == nullptr ? nullptr : PyDict_New();
  PyObject* made = nullptr;
  if (tuple != nullptr && (keywords == nullptr || named != nullptr)) {
    bool whole = true;
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    const Py_ssize_t named_count = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < named_count && whole; ++i) {
      whole = PyDict_SetItem(named, PyTuple_GET_ITEM(keywords, i), args[count + i]) == 0;
    }
    if (whole) made = range_new(reinterpret_cast<PyTypeObject*>(type), tuple, named);
  }
  Py_XDECREF(tuple);
  Py_XDECREF(named);
  return made;
}

void range_dealloc(PyObject* object) {
  auto* const self = reinterpret_cast<Range*>(object);
  PyTypeObject* const type = Py_TYPE(object);
  Py_XDECREF(self->name);
  Py_XDECREF(self->leave);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* range_enter(PyObject* object, PyObject* /*unused*/) {
  auto* const self = reinterpret_cast<Range*>(object);
  if (hooks.enter != nullptr) {
    Py_XSETREF(self->leave, PyObject_CallOneArg(hooks.enter, self->name));
    if (self->leave == nullptr) PyErr_Clear();  // trouble in a profiler must not be the user's
  }
  if (stepscope_is_recording() != 0) {
    self->lane = current_lane();
    stepscope_begin_on(self->id, self->lane);
  }
  Py_INCREF(object);
  return object;
}

PyObject* range_exit(PyObject* object, PyObject* const* /*error*/, Py_ssize_t /*count*/) {
  auto* const self = reinterpret_cast<Range*>(object);
  stepscope_end_on(self->id, self->lane);
  if (self->leave != nullptr) {
    PyObject* const leave = self->leave;
    self->leave = nullptr;
    PyObject* const done = PyObject_CallNoArgs(leave);
    if (done == nullptr) PyErr_Clear();
    Py_XDECREF(done);
    Py_DECREF(leave);
  }
  Py_RETURN_NONE;
}

// @range("name") above a function.
PyObject* range_call(PyObject* object, PyObject* args, PyObject* keywords) {
  PyObject* function = nullptr;
  if (keywords != nullptr && PyDict_Size(keywords) > 0) {
    PyErr_SetString(PyExc_TypeError, "a range decorates one function and takes nothing else");
    return nullptr;
  }
  if (PyArg_ParseTuple(args, "O:range", &function) == 0) return nullptr;
  auto* const self = reinterpret_cast<Range*>(object);
  return PyObject_CallFunctionObjArgs(hooks.decorate, function, self->name, nullptr);
}

PyObject* range_repr(PyObject* object) {
  return PyUnicode_FromFormat("stepscope.range(%R)", reinterpret_cast<Range*>(object)->name);
}

PyMethodDef range_methods[] = {
    {"__enter__", range_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(range_exit)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot range_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(range_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(range_dealloc)},
    {Py_tp_call, reinterpret_cast<void*>(range_call)},
    {Py_tp_repr, reinterpret_cast<void*>(range_repr)},
    {Py_tp_methods, range_methods},
    {Py_tp_doc, const_cast<char*>("range(name)\n--\n\nA stretch of time with a name: "
                                  "`with range(\"forward\"):`, or `@range` above a function.")},
    {0, nullptr}};
PyType_Spec range_spec = {"stepscope._capture.range", sizeof(Range), 0, Py_TPFLAGS_DEFAULT,
                          range_slots};

PyObject* start(PyObject* /*module*/, PyObject* args) {
  const char *folder = nullptr, *file = nullptr;
  PyObject* about = nullptr;
  if (PyArg_ParseTuple(args, "ssO!:start", &folder, &file, &PyDict_Type, &about) == 0) {
    return nullptr;
  }
  std::vector<const char*> pairs;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(about, &at, &key, &value) != 0) {
    pairs.push_back(PyUnicode_AsUTF8(key));
    pairs.push_back(PyUnicode_AsUTF8(value));
    if (PyErr_Occurred() != nullptr) return nullptr;
  }
  const auto count = static_cast<std::uint32_t>(pairs.size() / 2);
  if (stepscope_start_as(folder, file, pairs.data(), count) == 0) Py_RETURN_NONE;
  PyErr_SetString(PyExc_OSError, stepscope_error());
  return nullptr;
}

PyObject* stop(PyObject* /*module*/, PyObject* /*unused*/) {
  Py_BEGIN_ALLOW_THREADS;  // the writer may wait for a disk
  stepscope_stop();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyObject* end_on_unseen_sigterm(PyObject* /*module*/, PyObject* /*unused*/) {
  stepscope_end_on_unseen_sigterm();
  Py_RETURN_NONE;
}

PyObject* sigterm_seen(PyObject* /*module*/, PyObject* /*unused*/) {
  stepscope_sigterm_seen();
  Py_RETURN_NONE;
}

PyObject* finish_on_sigterm(PyObject* /*module*/, PyObject* /*unused*/) {
  stepscope_finish_on_sigterm();
  Py_RETURN_NONE;
}

PyObject* flush(PyObject* /*module*/, PyObject* /*unused*/) {
  Py_BEGIN_ALLOW_THREADS;
  stepscope_flush();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyObject* is_recording(PyObject* /*module*/, PyObject* /*unused*/) {
  return PyBool_FromLong(stepscope_is_recording());
}

PyObject* path(PyObject* /*module*/, PyObject* /*unused*/) {
  return PyUnicode_DecodeFSDefault(stepscope_path());
}

PyObject* write_error(PyObject* /*module*/, PyObject* /*unused*/) {
  return PyUnicode_DecodeFSDefault(stepscope_write_error());
}

PyObject* cost(PyObject* /*module*/, PyObject* /*unused*/) {
  stepscope_cost cost{};
  stepscope_get_cost(&cost);
  return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:L}", "records", cost.records, "dropped",
                       cost.dropped, "log_lines", cost.log_lines, "bytes", cost.bytes, "lost_bytes",
                       cost.lost_bytes, "writer_cpu_ns", cost.writer_cpu_ns);
}

PyObject* step(PyObject* /*module*/, PyObject* number) {
  const long long value = PyLong_AsLongLong(number);
  if (value == -1 && PyErr_Occurred() != nullptr) return nullptr;
  stepscope_step(value);
  Py_RETURN_NONE;
}

PyObject* begin_step(PyObject* /*module*/, PyObject* number) {
  const long long value = PyLong_AsLongLong(number);
  if (value == -1 && PyErr_Occurred() != nullptr) return nullptr;
  stepscope_begin_step(value);
  Py_RETURN_NONE;
}

// The number of what was given as the name of WHAT; 0 with an exception set: no memory.
std::uint32_t id_of_given(PyObject* name, const char* what) {
  PyObject* const text = stepscope::text_of(name, what);
  if (text == nullptr) return 0;
  const std::uint32_t id = id_of(text);
  Py_DECREF(text);
  return id;
}

PyObject* instant(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count,
                  PyObject* keywords) {
  PyObject* taken[1] = {};
  if (!stepscope::take_arguments("instant", {"name"}, args, count, keywords, taken)) return nullptr;
  const std::uint32_t id = id_of_given(taken[0], "an instant");
  if (id == 0) return nullptr;
  if (stepscope_is_recording() != 0) stepscope_instant_on(id, current_lane());
  Py_RETURN_NONE;
}

PyObject* counter(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count,
                  PyObject* keywords) {
  PyObject* taken[2] = {};
  if (!stepscope::take_arguments("counter", {"name", "value"}, args, count, keywords, taken)) {
    return nullptr;
  }
  const std::uint32_t id = id_of_given(taken[0], "a counter");
  if (id == 0) return nullptr;
  const double value = PyFloat_AsDouble(taken[1]);
  if (value == -1 && PyErr_Occurred() != nullptr) {  // found out in the middle of a training
    PyErr_Clear();
    const std::string key = "counter " + std::to_string(id);
    stepscope::warn(key.c_str(), PyUnicode_FromFormat("no number for the counter %.80S: %.80R",
                                                      taken[0], taken[1]));
    Py_RETURN_NONE;
  }
  stepscope_counter(id, value);
  Py_RETURN_NONE;
}

PyObject* log(PyObject* /*module*/, PyObject* args) {
  int level = 0;
  PyObject *logger = nullptr, *text = nullptr;
  if (PyArg_ParseTuple(args, "iUU:log", &level, &logger, &text) == 0) return nullptr;
  if (stepscope_is_recording() == 0) Py_RETURN_NONE;
  std::string logger_form, text_form;
  if (!written_form(logger, logger_form) || !written_form(text, text_form)) return nullptr;
  stepscope_log_on(level, logger_form.c_str(), text_form.c_str(), current_lane());
  Py_RETURN_NONE;
}

std::atomic<long long> opened = 0;
thread_local bool importing = false;  // files of code are no files of data

// Of "open" (path, mode, flags): whether it may be read from.
bool is_for_reading(PyObject* args) {
  if (args == nullptr || PyTuple_Check(args) == 0 || PyTuple_GET_SIZE(args) < 3) return false;
  PyObject* const flags = PyTuple_GET_ITEM(args, 2);
  if (PyLong_Check(flags) == 0) return false;
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(flags, &overflow);
  // A file that is new has nothing to read.
  const bool is_new = (value & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  return overflow == 0 && (value & O_ACCMODE) != O_WRONLY && !is_new;
}

// Called by Python at every event it has a name for; it must be quick and never fail.
int on_audit(const char* event, PyObject* args, void* /*unused*/) {
  if (!importing && std::strcmp(event, "open") == 0 && is_for_reading(args)) {
    opened.fetch_add(1, std::memory_order_relaxed);
  }
  return 0;
}

PyObject* set_importing(PyObject* /*module*/, PyObject* now) {
  importing = now == Py_True;
  Py_RETURN_NONE;
}

PyObject* opened_files(PyObject* /*module*/, PyObject* /*unused*/) {
  static const int kAdded = PySys_AddAuditHook(on_audit, nullptr);
  if (kAdded != 0) {  // forbidden: nothing is counted
    PyErr_Clear();
    Py_RETURN_NONE;
  }
  return PyLong_FromLongLong(opened.load(std::memory_order_relaxed));
}

PyObject* start_system(PyObject* /*module*/, PyObject* args) {
  stepscope_system options{};
  long long rank = 0;
  long long local_rank = 0;
  if (PyArg_ParseTuple(args, "sdLL|zzz:start_system", &options.folder, &options.hz, &rank,
                       &local_rank, &options.proc, &options.sys, &options.nvml) == 0) {
    return nullptr;
  }
  options.rank = rank;
  options.local_rank = local_rank;
  if (stepscope_start_system(&options) == 0) Py_RETURN_NONE;
  PyErr_SetString(PyExc_OSError, stepscope_error());
  return nullptr;
}

PyObject* stop_system(PyObject* /*module*/, PyObject* /*unused*/) {
  Py_BEGIN_ALLOW_THREADS;
  stepscope_stop_system();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyObject* system_state(PyObject* /*module*/, PyObject* /*unused*/) {
  stepscope_system_state state{};
  stepscope_get_system(&state);
  return Py_BuildValue("{s:O,s:K,s:K,s:L,s:N,s:N}", "running",
                       state.running != 0 ? Py_True : Py_False, "moments", state.moments, "values",
                       state.values, "cpu_ns", state.cpu_ns, "path",
                       PyUnicode_DecodeFSDefault(state.path), "write_error",
                       PyUnicode_DecodeFSDefault(state.write_error));
}

PyObject* set_hook(PyObject* /*module*/, PyObject* enter) {
  Py_XSETREF(hooks.enter, enter == Py_None ? nullptr : Py_NewRef(enter));
  Py_RETURN_NONE;
}

PyObject* set_decorate(PyObject* /*module*/, PyObject* decorate) {
  Py_XSETREF(hooks.decorate, Py_NewRef(decorate));
  Py_RETURN_NONE;
}

PyObject* set_warn(PyObject* /*module*/, PyObject* warn) {
  Py_XSETREF(stepscope::names.warn, Py_NewRef(warn));
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"start", start, METH_VARARGS, "start(folder, file, about)"},
    {"stop", stop, METH_NOARGS, nullptr},
    {"flush", flush, METH_NOARGS, nullptr},
    {"finish_on_sigterm", finish_on_sigterm, METH_NOARGS, nullptr},
    {"end_on_unseen_sigterm", end_on_unseen_sigterm, METH_NOARGS, nullptr},
    {"sigterm_seen", sigterm_seen, METH_NOARGS, nullptr},
    {"is_recording", is_recording, METH_NOARGS, nullptr},
    {"path", path, METH_NOARGS, nullptr},
    {"write_error", write_error, METH_NOARGS, nullptr},
    {"cost", cost, METH_NOARGS, nullptr},
    {"step", step, METH_O, nullptr},
    {"begin_step", begin_step, METH_O, nullptr},
    {"instant", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(instant)),
     METH_FASTCALL | METH_KEYWORDS,
     "instant(name)\n--\n\nA moment with a name: \"checkpoint written\"."},
    {"counter", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(counter)),
     METH_FASTCALL | METH_KEYWORDS,
     "counter(name, value)\n--\n\nA number over time, such as the loss; drawn as a curve."},
    {"log", log, METH_VARARGS, "log(level, logger, text)"},
    {"opened_files", opened_files, METH_NOARGS,
     "opened_files(): for reading, by this process since the first call, but for imports"},
    {"set_importing", set_importing, METH_O, "set_importing(now): what this thread opens is code"},
    {"start_system", start_system, METH_VARARGS,
     "start_system(folder, hz, rank, local_rank, proc=None, sys=None, nvml=None)"},
    {"stop_system", stop_system, METH_NOARGS, nullptr},
    {"system_state", system_state, METH_NOARGS, nullptr},
    {"set_hook", set_hook, METH_O, "set_hook(enter): another tool's range; gives what ends it"},
    {"set_decorate", set_decorate, METH_O, nullptr},
    {"set_warn", set_warn, METH_O, "set_warn(warn): warn(key, text) tells the user"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef module_definition = {PyModuleDef_HEAD_INIT,
                                 "stepscope._capture",
                                 nullptr,
                                 -1,
                                 methods,
                                 nullptr,
                                 nullptr,
                                 nullptr,
                                 nullptr};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming, bugprone-reserved-identifier): Python's name for it
PyMODINIT_FUNC PyInit__capture() {
  stepscope::names.ids = PyDict_New();
  hooks.asyncio_name = PyUnicode_InternFromString("asyncio");
  PyObject* const module = PyModule_Create(&module_definition);
  if (module == nullptr || stepscope::names.ids == nullptr || hooks.asyncio_name == nullptr) {
    return nullptr;
  }
  PyObject* const range = PyType_FromSpec(&range_spec);
  if (range != nullptr) {
    reinterpret_cast<PyTypeObject*>(range)->tp_vectorcall = range_vectorcall;
  }
  if (range == nullptr || PyModule_AddObject(module, "range", range) != 0) return nullptr;
  if (PyModule_AddStringConstant(module, "version", STEPSCOPE_VERSION) != 0) return nullptr;
  stepscope_name_threads(stepscope::python_thread_name);
  return module;
}
