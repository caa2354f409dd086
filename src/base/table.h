// The one currency between rooms and to the outside: typed columns with unit and meaning, nulls,
// and a row order that is part of the contract. A shape is static, so that help, docs and bindings
// can be made from it without running anything.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace stepscope::base {

enum class Type : std::uint8_t { kInt, kReal, kBool, kText, kIntList };

// What a number counts. Names carry it outside: busy_ns, peak_bytes, idle_share.
enum class Unit : std::uint8_t {
  kNone,     // a number as it is: grid size, factor, score
  kId,       // names something: rank, stream, step number; never summed, never grouped by 1,000
  kCount,    // how many
  kNanos,    // a length of time
  kInstant,  // nanoseconds since the window's own zero
  kBytes,    //
  kShare,    // 0 to 1; `about` says of what
  kBytesPerSecond,  //
  kPerSecond,       //
};

struct ColumnShape {
  std::string_view name;  // snake_case, with the unit: "busy_ns"
  Type type = Type::kInt;
  Unit unit = Unit::kNone;
  std::string_view about = {};  // one line: what it is, and of what a share is
};

// How a table is best drawn, by the names of its columns. Several y columns are stacked or lines.
enum class Chart : std::uint8_t { kNone, kBars, kStack, kHistogram, kLine, kTree };
struct Drawing {
  Chart chart = Chart::kNone;
  std::string_view x = {};
  std::span<const std::string_view> y = {};
  std::string_view group = {};  // one chart per value of this column
  std::string_view parts = {};  // a part of the one y column per value of this one; null: the rest
  std::string_view marks = {};  // a mark where the value of this column changes: steps
  std::string_view bands = {};  // a band below, by the value of this column: passes
  std::string_view level = {};  // a line at the value of this column, one for all places: the floor
};

struct TableShape {
  std::string_view name;   // "kernels"; unique within its analysis
  std::string_view about;  // one line: what a row is
  std::span<const ColumnShape> columns;
  Drawing drawing = {};
};

// A dictionary string column: few distinct words, many rows.
struct Words {
  std::vector<std::uint32_t> codes;
  std::vector<std::string> words;  // by first appearance
  std::string_view operator[](std::size_t row) const { return words[codes[row]]; }
};

struct IntLists {
  std::vector<std::uint32_t> first = {0};  // rows + 1 entries into values
  std::vector<std::int64_t> values;
  std::span<const std::int64_t> operator[](std::size_t row) const {
    return std::span(values).subspan(first[row], first[row + 1] - first[row]);
  }
};

struct Null {};

// One value on its way into a table. Implicit on purpose: rows are written as lists of values.
class Cell {
 public:
  Cell(Null) {}
  Cell(bool truth) : value_(truth) {}
  template <std::integral T>
  Cell(T number) : value_(static_cast<std::int64_t>(number)) {}
  Cell(double number) : value_(number) {}
  Cell(std::string_view text) : value_(text) {}
  Cell(const std::string& text) : value_(std::string_view(text)) {}
  Cell(const char* text) : value_(std::string_view(text)) {}
  Cell(std::span<const std::int64_t> list) : value_(list) {}
  template <class T>
  Cell(const std::optional<T>& value) {
    if (value) *this = Cell(*value);
  }

  using Value = std::variant<Null, bool, std::int64_t, double, std::string_view,
                             std::span<const std::int64_t>>;
  const Value& value() const { return value_; }

 private:
  Value value_;
};

inline Cell text_or_null(std::string_view text) { return text.empty() ? Cell(Null{}) : Cell(text); }

class Table {
 public:
  // The shape must outlive the table: shapes are static.
  explicit Table(const TableShape& shape);

  const TableShape& shape() const { return *shape_; }
  std::string_view name() const { return shape_->name; }
  std::size_t rows() const { return rows_; }
  std::size_t width() const { return columns_.size(); }

  // One value per column, of the column's type; whole numbers may stand where reals are expected. A
  // real that is not finite becomes null. Any other row is a fault of the program: see fault().
  void add(std::initializer_list<Cell> row) { add(std::span(row.begin(), row.size())); }
  void add(std::span<const Cell> row);
  void reserve(std::size_t rows);

  // Says of the first row that did not fit the columns what was wrong; empty: all did. Whoever
  // gives the table away has to look.
  const std::string& fault() const { return fault_; }

  std::optional<std::size_t> find(std::string_view column) const;

  bool is_null(std::size_t column, std::size_t row) const { return columns_[column].null[row]; }
  std::int64_t int_at(std::size_t column, std::size_t row) const;  // bools too, as 0 and 1
  double real_at(std::size_t column, std::size_t row) const;       // whole numbers too
  std::string_view text_at(std::size_t column, std::size_t row) const;
  std::span<const std::int64_t> list_at(std::size_t column, std::size_t row) const;

  // Rows in another order, or fewer of them.
  Table select(std::span<const std::size_t> rows) const;

  // Whole columns, for bindings. Null places hold 0, NaN or an empty text.
  using Values = std::variant<std::vector<std::int64_t>, std::vector<double>,
                              std::vector<std::uint8_t>, Words, IntLists>;
  const Values& values(std::size_t column) const { return columns_[column].values; }
  const std::vector<bool>& nulls(std::size_t column) const { return columns_[column].null; }

 private:
  struct Column {
    Values values;
    std::vector<bool> null;
    std::unordered_map<std::string, std::uint32_t> codes;  // of a text column, while it is filled
  };
  bool put(Column& column, const ColumnShape& shape, const Cell& cell);

  const TableShape* shape_;
  std::vector<Column> columns_;
  std::size_t rows_ = 0;
  std::string fault_;
};

}  // namespace stepscope::base
