// Tables as Arrow arrays, by the Arrow C data interface: what Python, and through it every data
// frame library, reads without copying. Numbers, codes and lists are handed out where they are;
// only null marks and bools are packed into bits, and the few words of a text column laid out.
#pragma once

#include <cstdint>
#include <memory>

#include "base/table.h"

// The interface is these three structs; the guard is the one its specification names.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE  // NOLINT(readability-identifier-naming)
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
}
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE  // NOLINT(readability-identifier-naming)
extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}
#endif

namespace stepscope::report {

// A struct of the table's columns. Fields carry "unit" and "about" as metadata; texts are
// dictionaries with 32-bit codes.
void export_schema(const base::Table& table, ArrowSchema* out);

// The rows as one batch. What is handed out keeps the table alive.
void export_array(std::shared_ptr<const base::Table> table, ArrowArray* out);

// Schema and batch, as a stream of one.
void export_stream(std::shared_ptr<const base::Table> table, ArrowArrayStream* out);

}  // namespace stepscope::report
