// Tables of typed columns, and their rows.
#include "base/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stepscope::base {
namespace {

Table::Values empty_values(Type type) {
  switch (type) {
    case Type::kInt:
      return std::vector<std::int64_t>{};
    case Type::kReal:
      return std::vector<double>{};
    case Type::kBool:
      return std::vector<std::uint8_t>{};
    case Type::kText:
      return Words{};
    case Type::kIntList:
      return IntLists{};
  }
  return std::vector<std::int64_t>{};
}

// Where looking back for a word ends.
auto last_few(const std::vector<std::uint32_t>& codes) {
  constexpr std::size_t kFew = 6;
  return codes.crbegin() + static_cast<std::ptrdiff_t>(std::min(kFew, codes.size()));
}

template <class T>
const T* get(const Cell& cell) {
  return std::get_if<T>(&cell.value());
}

}  // namespace

Table::Table(const TableShape& shape) : shape_(&shape) {
  columns_.resize(shape.columns.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    columns_[c].values = empty_values(shape.columns[c].type);
  }
}

void Table::reserve(std::size_t rows) {
  for (Column& column : columns_) {
    column.null.reserve(rows);
    if (auto* ints = std::get_if<std::vector<std::int64_t>>(&column.values)) ints->reserve(rows);
    if (auto* reals = std::get_if<std::vector<double>>(&column.values)) reals->reserve(rows);
    if (auto* words = std::get_if<Words>(&column.values)) words->codes.reserve(rows);
  }
}

void Table::add(std::span<const Cell> row) {
  if (row.size() != columns_.size() && fault_.empty()) {
    fault_ = "row " + std::to_string(rows_) + " has " + std::to_string(row.size()) +
             " values for " + std::to_string(columns_.size()) + " columns";
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const ColumnShape& shape = shape_->columns[c];
    if (!put(columns_[c], shape, c < row.size() ? row[c] : Cell(Null{})) && fault_.empty()) {
      fault_ = "row " + std::to_string(rows_) + " has a value of another type in column '" +
               std::string(shape.name) + "'";
    }
  }
  ++rows_;
}

bool Table::put(Column& column, const ColumnShape& shape, const Cell& cell) {
  bool null = get<Null>(cell) != nullptr;
  bool fits = true;
  switch (shape.type) {
    case Type::kInt: {
      const auto* number = get<std::int64_t>(cell);
      fits = null || number != nullptr;
      std::get<0>(column.values).push_back(number == nullptr ? 0 : *number);
      break;
    }
    case Type::kReal: {
      double value = std::numeric_limits<double>::quiet_NaN();
      if (const auto* real = get<double>(cell)) value = *real;
      if (const auto* number = get<std::int64_t>(cell)) value = static_cast<double>(*number);
      fits = null || get<double>(cell) != nullptr || get<std::int64_t>(cell) != nullptr;
      null = !std::isfinite(value);
      std::get<1>(column.values).push_back(null ? std::numeric_limits<double>::quiet_NaN() : value);
      break;
    }
    case Type::kBool: {
      const auto* truth = get<bool>(cell);
      fits = null || truth != nullptr;
      std::get<2>(column.values).push_back(truth != nullptr && *truth ? 1 : 0);
      break;
    }
    case Type::kText: {
      const auto* text = get<std::string_view>(cell);
      fits = null || text != nullptr;
      auto& words = std::get<Words>(column.values);
      const std::string_view word = text == nullptr ? std::string_view{} : *text;
      // In most columns a word comes many times in a row, or soon again.
      const auto recent = std::ranges::find(
          words.codes.crbegin(), last_few(words.codes), word,
          [&](std::uint32_t code) -> std::string_view { return words.words[code]; });
      if (recent != last_few(words.codes)) {
        words.codes.push_back(*recent);
        break;
      }
      const auto [entry, fresh] = column.codes.try_emplace(
          std::string(word), static_cast<std::uint32_t>(words.words.size()));
      if (fresh) words.words.push_back(entry->first);
      words.codes.push_back(entry->second);
      break;
    }
    case Type::kIntList: {
      const auto* list = get<std::span<const std::int64_t>>(cell);
      fits = null || list != nullptr;
      auto& lists = std::get<IntLists>(column.values);
      if (list != nullptr) lists.values.insert(lists.values.end(), list->begin(), list->end());
      lists.first.push_back(static_cast<std::uint32_t>(lists.values.size()));
      break;
    }
  }
  column.null.push_back(null || !fits);
  return fits;
}

std::optional<std::size_t> Table::find(std::string_view column) const {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (shape_->columns[c].name == column) return c;
  }
  return std::nullopt;
}

std::int64_t Table::int_at(std::size_t column, std::size_t row) const {
  const Values& values = columns_[column].values;
  if (const auto* truth = std::get_if<std::vector<std::uint8_t>>(&values)) return (*truth)[row];
  return std::get<std::vector<std::int64_t>>(values)[row];
}

double Table::real_at(std::size_t column, std::size_t row) const {
  const Values& values = columns_[column].values;
  if (const auto* reals = std::get_if<std::vector<double>>(&values)) return (*reals)[row];
  return static_cast<double>(int_at(column, row));
}

std::string_view Table::text_at(std::size_t column, std::size_t row) const {
  return std::get<Words>(columns_[column].values)[row];
}

std::span<const std::int64_t> Table::list_at(std::size_t column, std::size_t row) const {
  return std::get<IntLists>(columns_[column].values)[row];
}

Table Table::select(std::span<const std::size_t> rows) const {
  Table out(*shape_);
  out.reserve(rows.size());
  std::vector<Cell> cells;
  for (const std::size_t row : rows) {
    cells.clear();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (is_null(c, row)) {
        cells.emplace_back(Null{});
        continue;
      }
      switch (shape_->columns[c].type) {
        case Type::kInt:
          cells.emplace_back(int_at(c, row));
          break;
        case Type::kReal:
          cells.emplace_back(real_at(c, row));
          break;
        case Type::kBool:
          cells.emplace_back(int_at(c, row) != 0);
          break;
        case Type::kText:
          cells.emplace_back(text_at(c, row));
          break;
        case Type::kIntList:
          cells.emplace_back(list_at(c, row));
          break;
      }
    }
    out.add(cells);
  }
  return out;
}

}  // namespace stepscope::base
