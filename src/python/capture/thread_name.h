// What Python calls the thread that runs.
#pragma once

#include <Python.h>

#include <cstring>
#include <string>

namespace stepscope {

// As Python calls a thread that it started. The main thread's name says less than the system's.
inline const char* python_thread_name() {
  thread_local std::string name;
  name.clear();
  if (PyGILState_Check() == 0) return nullptr;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  // threading.current_thread() would make an object for a thread of somebody else.
  PyObject* const threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");
  PyObject* const active =
      threading == nullptr ? nullptr : PyObject_GetAttrString(threading, "_active");
  PyObject* const number = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
  if (active != nullptr && number != nullptr && PyDict_Check(active)) {
    PyObject* const thread = PyDict_GetItemWithError(active, number);
    PyObject* const text = thread == nullptr ? nullptr : PyObject_GetAttrString(thread, "name");
    const char* const utf8 =
        text != nullptr && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
    if (utf8 != nullptr && std::strcmp(utf8, "MainThread") != 0) name = utf8;
    Py_XDECREF(text);
  }
  Py_XDECREF(number);
  Py_XDECREF(active);
  PyErr_Restore(type, value, trace);
  return name.c_str();
}

}  // namespace stepscope
