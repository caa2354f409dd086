// Which columns of a table are worth a place on a page: numbers that name something and never
// change stand above the table once, and columns without any value are only named.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace stepscope::report {

struct ShownColumns {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> lifted;  // never change
  std::vector<std::size_t> empty;   // nothing but nulls
};

// Of the columns asked for (none: all), those that exist, in that order.
ShownColumns shown_columns(const base::Table& table, std::span<const std::string_view> asked);

// The same without a look at what is in them: for programs.
std::vector<std::size_t> asked_columns(const base::Table& table,
                                       std::span<const std::string_view> asked);

// How to say which rank a table is of: not at all when there is only one; "rank 0, the first of 8"
// when it stands for all.
struct RankNote {
  bool shown = true;
  std::size_t first_of = 0;
  bool device_shown = true;  // of memory: the snapshot and the device; not when there is only one
};

// "rank 0 · device 0"
std::string lifted_text(const base::Table& table, const ShownColumns& shown, RankNote note = {});

}  // namespace stepscope::report
