// Tables and answers as Python classes, with columns for NumPy, pandas and Arrow.
#include "report/tables/tables.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "python/recording.h"
#include "report/page/table_html.h"
#include "report/tables/arrow.h"
#include "report/tables/cell_text.h"

namespace stepscope::python {
namespace {

namespace nb = nanobind;

using TablePointer = std::shared_ptr<const base::Table>;
template <class T>
using Vector = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

// Arrow's structs travel in capsules: what was not taken is released with the capsule.
template <class Struct>
nb::capsule capsule_of(Struct* made, const char* name) {
  return {made, name, [](void* pointer) noexcept {
            auto* held = static_cast<Struct*>(pointer);
            if (held->release != nullptr) held->release(held);
            delete held;
          }};
}

nb::capsule schema_capsule(const AnsweredTable& self) {
  auto* schema = new ArrowSchema{};
  report::export_schema(*self.table, schema);
  return capsule_of(schema, "arrow_schema");
}

nb::tuple array_capsules(const AnsweredTable& self, const nb::object& /*requested_schema*/) {
  auto* array = new ArrowArray{};
  report::export_array(self.table, array);
  return nb::make_tuple(schema_capsule(self), capsule_of(array, "arrow_array"));
}

nb::capsule stream_capsule(const AnsweredTable& self, const nb::object& /*requested_schema*/) {
  auto* stream = new ArrowArrayStream{};
  report::export_stream(self.table, stream);
  return capsule_of(stream, "arrow_array_stream");
}

nb::capsule owner_of(const TablePointer& table) {
  return {new TablePointer(table),
          [](void* pointer) noexcept { delete static_cast<TablePointer*>(pointer); }};
}

template <class T>
nb::object vector_of(const TablePointer& table, const std::vector<T>& values) {
  return nb::cast(Vector<T>(values.data(), {values.size()}, owner_of(table)));
}

// The values where they are: a vector of numbers; codes and words for text; offsets and numbers for
// lists.
nb::object column(const AnsweredTable& self, std::size_t index) {
  if (index >= self.table->width()) throw nb::index_error("no such column");
  const base::Table::Values& values = self.table->values(index);
  if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&values))
    return vector_of(self.table, *ints);
  if (const auto* reals = std::get_if<std::vector<double>>(&values))
    return vector_of(self.table, *reals);
  if (const auto* bools = std::get_if<std::vector<std::uint8_t>>(&values))
    return vector_of(self.table, *bools);
  if (const auto* words = std::get_if<base::Words>(&values))
    return nb::make_tuple(vector_of(self.table, words->codes), nb::cast(words->words));
  const auto& lists = std::get<base::IntLists>(values);
  return nb::make_tuple(vector_of(self.table, lists.first), vector_of(self.table, lists.values));
}

// True where there is no value; None where all have one.
nb::object nulls(const AnsweredTable& self, std::size_t index) {
  if (index >= self.table->width()) throw nb::index_error("no such column");
  const std::vector<bool>& null = self.table->nulls(index);
  bool any = false;
  auto marks = std::make_unique<std::vector<std::uint8_t>>(null.size());
  for (std::size_t i = 0; i < null.size(); ++i) {
    (*marks)[i] = null[i] ? 1 : 0;
    any |= null[i];
  }
  if (!any) return nb::none();
  std::vector<std::uint8_t>* const held = marks.release();
  const nb::capsule owner(
      held, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
  return nb::cast(Vector<std::uint8_t>(held->data(), {held->size()}, owner));
}

template <class ValueAt>
nb::list list_of(const std::vector<bool>& null, const ValueAt& value_at) {
  nb::list out;
  for (std::size_t row = 0; row < null.size(); ++row) {
    out.append(null[row] ? nb::none() : nb::object(value_at(row)));
  }
  return out;
}

// The values as Python's own, for which NumPy is not needed; None where there is none.
nb::list values(const AnsweredTable& self, std::size_t index) {
  if (index >= self.table->width()) throw nb::index_error("no such column");
  const base::Table::Values& values = self.table->values(index);
  const std::vector<bool>& null = self.table->nulls(index);
  if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&values))
    return list_of(null, [&](std::size_t row) { return nb::int_((*ints)[row]); });
  if (const auto* reals = std::get_if<std::vector<double>>(&values))
    return list_of(null, [&](std::size_t row) { return nb::float_((*reals)[row]); });
  if (const auto* bools = std::get_if<std::vector<std::uint8_t>>(&values))
    return list_of(null, [&](std::size_t row) { return nb::bool_((*bools)[row] != 0); });
  if (const auto* words = std::get_if<base::Words>(&values)) {
    std::vector<nb::object> texts;
    texts.reserve(words->words.size());
    for (const std::string& word : words->words) texts.push_back(nb::cast(word));
    return list_of(null, [&](std::size_t row) { return texts[words->codes[row]]; });
  }
  const auto& lists = std::get<base::IntLists>(values);
  return list_of(null, [&](std::size_t row) {
    nb::list items;
    for (const std::int64_t item : lists[row]) items.append(item);
    return items;
  });
}

nb::list columns(const AnsweredTable& self) {
  nb::list out;
  for (const base::ColumnShape& shape : self.table->shape().columns) {
    out.append(nb::make_tuple(std::string(shape.name), static_cast<int>(shape.type),
                              report::unit_name(shape.unit), std::string(shape.about)));
  }
  return out;
}

std::vector<AnsweredTable> tables_of(const Answered& answer) {
  std::vector<AnsweredTable> out;
  out.reserve(answer.tables.size());
  for (const TablePointer& table : answer.tables) out.push_back({table});
  return out;
}

std::vector<std::string> texts_of_remarks(const Answered& answer) {
  std::vector<std::string> out;
  out.reserve(answer.answer.remarks.size());
  for (const analysis::Remark& remark : answer.answer.remarks) out.push_back(remark.text);
  return out;
}

std::string answer_html(const Answered& answer) {
  std::vector<const base::Table*> tables;
  tables.reserve(answer.tables.size());
  for (const TablePointer& table : answer.tables) tables.push_back(table.get());
  return report::answer_fragment(*answer.about, tables, answer.answer.remarks);
}

}  // namespace

void bind_tables(nb::module_& module) {
  nb::class_<AnsweredTable>(module, "Table")
      .def_prop_ro("name", [](const AnsweredTable& t) { return std::string(t.table->name()); })
      .def_prop_ro("about",
                   [](const AnsweredTable& t) { return std::string(t.table->shape().about); })
      .def_prop_ro("num_rows", [](const AnsweredTable& t) { return t.table->rows(); })
      .def("columns", columns, "(name, type, unit, meaning) of every column.")
      .def("column", column, nb::arg("index"))
      .def("nulls", nulls, nb::arg("index"))
      .def("values", values, nb::arg("index"))
      .def("csv", [](const AnsweredTable& t) { return report::table_csv(*t.table); })
      .def(
          "text",
          [](const AnsweredTable& t, std::size_t width, std::size_t rows) {
            return report::table_text(*t.table,
                                      {.look = {.colour = false, .width = width}, .rows = rows});
          },
          nb::arg("width"), nb::arg("rows"))
      .def(
          "html",
          [](const AnsweredTable& t, std::size_t rows) {
            return report::table_fragment(*t.table, rows);
          },
          nb::arg("rows"))
      .def("__arrow_c_schema__", schema_capsule)
      .def("__arrow_c_array__", array_capsules, nb::arg("requested_schema") = nb::none())
      .def("__arrow_c_stream__", stream_capsule, nb::arg("requested_schema") = nb::none());

  nb::class_<Answered>(module, "Answer")
      .def_prop_ro("name", [](const Answered& a) { return std::string(a.about->name); })
      .def_prop_ro("title", [](const Answered& a) { return std::string(a.about->title); })
      .def_prop_ro("question", [](const Answered& a) { return std::string(a.about->question); })
      .def_prop_ro("remarks", texts_of_remarks)
      .def("tables", tables_of)
      .def("html", answer_html);
}

}  // namespace stepscope::python
