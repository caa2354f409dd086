// Tables through the Arrow C data interface.
#include "report/tables/arrow.h"

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "report/tables/cell_text.h"

namespace stepscope::report {
namespace {

constexpr std::int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

// ---- schema

struct SchemaParts {
  std::string name, metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
  auto* parts = static_cast<SchemaParts*>(schema->private_data);
  for (ArrowSchema& child : parts->children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (parts->dictionary.release != nullptr) parts->dictionary.release(&parts->dictionary);
  delete parts;
  schema->release = nullptr;
}

ArrowSchema make_schema(const char* format, std::string name, std::string metadata,
                        std::vector<ArrowSchema> children = {}) {
  auto* parts = new SchemaParts{std::move(name), std::move(metadata), std::move(children), {}, {}};
  for (ArrowSchema& child : parts->children) parts->pointers.push_back(&child);
  return {.format = format,
          .name = parts->name.c_str(),
          .metadata = parts->metadata.empty() ? nullptr : parts->metadata.data(),
          .flags = kNullable,
          .n_children = static_cast<std::int64_t>(parts->children.size()),
          .children = parts->pointers.data(),
          .dictionary = nullptr,
          .release = release_schema,
          .private_data = parts};
}

void put(std::string& out, std::int32_t number) {
  std::array<char, sizeof number> bytes{};
  std::memcpy(bytes.data(), &number, sizeof number);
  out.append(bytes.data(), bytes.size());
}
void put(std::string& out, std::string_view text) {
  put(out, static_cast<std::int32_t>(text.size()));
  out += text;
}

std::string metadata_of(const base::ColumnShape& shape) {
  std::string out;
  put(out, std::int32_t{2});
  put(out, "unit");
  put(out, unit_name(shape.unit));
  put(out, "about");
  put(out, shape.about);
  return out;
}

ArrowSchema schema_of(const base::ColumnShape& shape) {
  const std::string name(shape.name);
  const std::string metadata = metadata_of(shape);
  switch (shape.type) {
    case base::Type::kInt:
      return make_schema("l", name, metadata);
    case base::Type::kReal:
      return make_schema("g", name, metadata);
    case base::Type::kBool:
      return make_schema("b", name, metadata);
    case base::Type::kIntList: {
      std::vector<ArrowSchema> items;
      items.push_back(make_schema("l", "item", {}));
      return make_schema("+l", name, metadata, std::move(items));
    }
    case base::Type::kText:
      break;
  }
  ArrowSchema text = make_schema("i", name, metadata);
  auto* parts = static_cast<SchemaParts*>(text.private_data);
  parts->dictionary = make_schema("u", "", {});
  text.dictionary = &parts->dictionary;
  return text;
}

// ---- arrays

struct ArrayParts {
  std::shared_ptr<const base::Table> table;
  std::vector<std::uint8_t> valid, bits;  // packed
  std::vector<std::int32_t> offsets;      // of words
  std::string text;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

void release_array(ArrowArray* array) {
  auto* parts = static_cast<ArrayParts*>(array->private_data);
  // Whoever took a child has set its release to null and owns it now.
  for (ArrowArray& child : parts->children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (parts->dictionary.release != nullptr) parts->dictionary.release(&parts->dictionary);
  delete parts;
  array->release = nullptr;
}

ArrowArray finish(std::unique_ptr<ArrayParts> made, std::size_t length, std::int64_t nulls) {
  ArrayParts* const parts = made.release();  // release_array's from here on
  for (ArrowArray& child : parts->children) parts->pointers.push_back(&child);
  return {.length = static_cast<std::int64_t>(length),
          .null_count = nulls,
          .offset = 0,
          .n_buffers = static_cast<std::int64_t>(parts->buffers.size()),
          .n_children = static_cast<std::int64_t>(parts->children.size()),
          .buffers = parts->buffers.data(),
          .children = parts->pointers.data(),
          .dictionary = parts->dictionary.release == nullptr ? nullptr : &parts->dictionary,
          .release = release_array,
          .private_data = parts};
}

template <class IsSet>
std::vector<std::uint8_t> packed(std::size_t size, IsSet is_set) {
  std::vector<std::uint8_t> bits((size + 7) / 8);
  for (std::size_t i = 0; i < size; ++i) {
    if (is_set(i)) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (1U << (i % 8)));
  }
  return bits;
}

ArrowArray plain(const std::shared_ptr<const base::Table>& table, const void* values,
                 std::size_t size) {
  auto parts = std::make_unique<ArrayParts>();
  parts->table = table;
  parts->buffers = {nullptr, values};
  return finish(std::move(parts), size, 0);
}

ArrowArray words_array(const base::Words& words) {
  auto parts = std::make_unique<ArrayParts>();
  parts->offsets.push_back(0);
  for (const std::string& word : words.words) {
    parts->text += word;
    parts->offsets.push_back(static_cast<std::int32_t>(parts->text.size()));
  }
  parts->buffers = {nullptr, parts->offsets.data(), parts->text.data()};
  return finish(std::move(parts), words.words.size(), 0);
}

ArrowArray column_array(const std::shared_ptr<const base::Table>& table, std::size_t column) {
  auto parts = std::make_unique<ArrayParts>();
  parts->table = table;
  const std::size_t rows = table->rows();
  const std::vector<bool>& null = table->nulls(column);
  std::int64_t nulls = 0;
  for (const bool is_null : null) nulls += is_null ? 1 : 0;
  if (nulls > 0) parts->valid = packed(rows, [&](std::size_t i) { return !null[i]; });
  const void* const valid = nulls > 0 ? parts->valid.data() : nullptr;

  const base::Table::Values& values = table->values(column);
  if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&values)) {
    parts->buffers = {valid, ints->data()};
  } else if (const auto* reals = std::get_if<std::vector<double>>(&values)) {
    parts->buffers = {valid, reals->data()};
  } else if (const auto* bools = std::get_if<std::vector<std::uint8_t>>(&values)) {
    parts->bits = packed(rows, [&](std::size_t i) { return (*bools)[i] != 0; });
    parts->buffers = {valid, parts->bits.data()};
  } else if (const auto* words = std::get_if<base::Words>(&values)) {
    parts->buffers = {valid, words->codes.data()};
    parts->dictionary = words_array(*words);
  } else {
    const auto& lists = std::get<base::IntLists>(values);
    parts->buffers = {valid, lists.first.data()};
    parts->children.push_back(plain(table, lists.values.data(), lists.values.size()));
  }
  return finish(std::move(parts), rows, nulls);
}

// ---- stream

struct StreamParts {
  std::shared_ptr<const base::Table> table;
  bool done = false;
};

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  export_schema(*static_cast<StreamParts*>(stream->private_data)->table, out);
  return 0;
}
int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto* parts = static_cast<StreamParts*>(stream->private_data);
  if (parts->done) {
    out->release = nullptr;  // the end
  } else {
    export_array(parts->table, out);
    parts->done = true;
  }
  return 0;
}
const char* stream_error(ArrowArrayStream* /*stream*/) { return nullptr; }
void release_stream(ArrowArrayStream* stream) {
  delete static_cast<StreamParts*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void export_schema(const base::Table& table, ArrowSchema* out) {
  std::vector<ArrowSchema> fields;
  for (const base::ColumnShape& shape : table.shape().columns) fields.push_back(schema_of(shape));
  *out = make_schema("+s", "", {}, std::move(fields));
  out->flags = 0;
}

void export_array(std::shared_ptr<const base::Table> table, ArrowArray* out) {
  auto parts = std::make_unique<ArrayParts>();
  for (std::size_t column = 0; column < table->width(); ++column) {
    parts->children.push_back(column_array(table, column));
  }
  const std::size_t rows = table->rows();
  parts->table = std::move(table);
  parts->buffers = {nullptr};
  *out = finish(std::move(parts), rows, 0);
}

void export_stream(std::shared_ptr<const base::Table> table, ArrowArrayStream* out) {
  *out = {.get_schema = stream_schema,
          .get_next = stream_next,
          .get_last_error = stream_error,
          .release = release_stream,
          .private_data = new StreamParts{std::move(table), false}};
}

}  // namespace stepscope::report
