// Names of ranges, instants and counters, from whatever a program gives for one. A wrong one is
// found out in the middle of a training: it is reported and taken as well as possible, never
// refused.
#pragma once

#include <Python.h>
#include <stepscope/stepscope.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace stepscope {

struct Names {
  PyObject* ids = nullptr;   // from text to number
  PyObject* warn = nullptr;  // stepscope.ranges: tells the user, once for each key
};
inline Names names;

// Tells the user; TEXT is taken over, and null where it could not be made.
inline void warn(const char* key, PyObject* text) {
  if (text == nullptr || names.warn == nullptr) {
    PyErr_Clear();
    Py_XDECREF(text);
    return;
  }
  PyObject* const done = PyObject_CallFunction(names.warn, "sN", key, text);
  if (done == nullptr) PyErr_Clear();  // where warnings are errors this one is not
  Py_XDECREF(done);
}

// What can be written of a text: a name of a file that is no UTF-8 (a lone surrogate), and a NUL,
// are shown as Python shows them. A recorded program must not fail for what it logs. False with an
// exception set: no memory.
inline bool written_form(PyObject* text, std::string& form) {
  PyObject* const bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  if (bytes == nullptr) return false;
  form.clear();
  for (const char letter : std::string_view(PyBytes_AS_STRING(bytes),
                                            static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)))) {
    if (letter == 0) {
      form += "\\x00";
    } else {
      form += letter;
    }
  }
  Py_DECREF(bytes);
  return true;
}

// A text of what was given as the name of WHAT, as str() shows it; a new reference. Null with an
// exception set: no memory.
inline PyObject* text_of(PyObject* given, const char* what) {
  if (PyUnicode_CheckExact(given)) return Py_NewRef(given);
  if (PyUnicode_Check(given)) return PyUnicode_FromObject(given);  // of a kind that may do anything
  PyObject* text = PyObject_Str(given);
  if (text == nullptr) {
    PyErr_Clear();
    text = PyUnicode_FromFormat("(a %.80s that cannot be shown)", Py_TYPE(given)->tp_name);
  } else if (!PyUnicode_CheckExact(text)) {
    Py_SETREF(text, PyUnicode_FromObject(text));
  }
  if (text == nullptr) return nullptr;
  warn(what, PyUnicode_FromFormat("the name of %s is a text, not %.80s; it is recorded as %.80R",
                                  what, Py_TYPE(given)->tp_name, text));
  return text;
}

// The number of a name, from a dictionary: text that Python interned finds it by identity. 0 with
// an exception set: no memory.
inline std::uint32_t id_of(PyObject* name) {
  PyObject* const known = PyDict_GetItemWithError(names.ids, name);
  if (known != nullptr) return static_cast<std::uint32_t>(PyLong_AsUnsignedLong(known));
  std::string text;
  if (PyErr_Occurred() != nullptr || !written_form(name, text)) return 0;
  const std::uint32_t id = stepscope_name(text.c_str());
  if (stepscope_is_name(id, text.c_str()) == 0) {  // one of too many, and not worth keeping
    warn("names",
         PyUnicode_FromFormat("so many names were given to ranges, instants and counters that "
                              "further ones, such as %.80R, are recorded as one; put numbers into "
                              "counters instead",
                              name));
    return id;
  }
  PyObject* const number = PyLong_FromUnsignedLong(id);
  if (number == nullptr || PyDict_SetItem(names.ids, name, number) != 0) {
    Py_XDECREF(number);
    return 0;
  }
  Py_DECREF(number);
  return id;
}

// Of a function that takes NAMES, each once and in this order or by name. False with an exception
// set.
template <std::size_t count>
bool take_arguments(const char* function, const char* const (&names)[count], PyObject* const* args,
                    Py_ssize_t positional, PyObject* keywords, PyObject* (&taken)[count]) {
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  bool fits = positional + named == static_cast<Py_ssize_t>(count);
  for (Py_ssize_t i = 0; fits && i < positional; ++i) taken[i] = args[i];
  for (Py_ssize_t i = 0; fits && i < named; ++i) {
    std::size_t place = static_cast<std::size_t>(positional);
    while (place < count &&
           PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, i), names[place]) != 0) {
      ++place;
    }
    fits = place < count && taken[place] == nullptr;
    if (fits) taken[place] = args[positional + i];
  }
  if (fits) return true;
  std::string all;
  for (const char* const name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  PyErr_Format(PyExc_TypeError, "%s takes %s", function, all.c_str());
  return false;
}

}  // namespace stepscope

// What Python calls the thread that runs.

namespace stepscope {

// As Python calls a thread that it started. The main thread's name says less than the system's.
inline const char* python_thread_name() {
  thread_local std::string name;
  name.clear();
  if (PyGILState_Check() == 0) return nullptr;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  // threading.current_thread() would make an object for a thread that Python did not start.
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
