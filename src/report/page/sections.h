// What the report shows and in which order, as data: an analysis that does not exist or has no rows
// is simply left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stepscope::report {

enum class Shown : std::uint8_t {
  kTable,  // rows and columns
  kChart,  // as its descriptor says; in text a stacked bar per row
  kSpark,  // a chart; in text a line of small bars per group
  kBoth,   // the chart in HTML, the table everywhere
  kList,   // one row as a list of its columns with their meaning
};

struct Part {
  std::string_view analysis, table;
  Shown shown = Shown::kTable;
  std::span<const std::string_view> columns = {};  // those that exist, in this order; none: all
  std::size_t rows = 0;                            // at most, of one rank; 0: all
  std::string_view caption = {};
  // Instead of `columns`, where no GPU worked.
  std::span<const std::string_view> host_columns = {};
  std::string_view needs = {};     // left out when this column is nowhere above 0
  bool host_needs = false;         // where no GPU worked, so are rows in which it is 0
  bool quiet = false;              // without rows, its analysis' remarks are left out too
  bool only_html = false;          // there is room for it
  bool folded = false;             // in HTML, under its caption
  bool several_ranks = false;      // left out for a single rank
  bool several_snapshots = false;  // its analysis is not asked about a single snapshot
  bool bars = true;                // in text, small ones beside shares
  bool one_rank = false;  // the first rank stands for all in text; HTML has the others folded
};

struct Section {
  std::string_view title;
  std::string_view about;  // how to read it, for a first time
  std::span<const Part> parts;
  std::string_view next;             // the command that shows more
  std::string_view host_about = {};  // instead of `about`, where no GPU worked
  bool of_gpu = false;               // without rows it has nothing to say where no GPU worked
  // Without rows it has nothing to say where a process recorded the same of itself.
  bool of_trace = false;
};

// A parameter an analysis is asked with; others have their defaults.
struct Setting {
  std::string_view analysis, name, value;
};

// A page as data.
struct PageKind {
  std::span<const Section> sections;
  std::span<const Setting> settings;
  bool of_memory = false;  // about snapshots alone, whatever else was recorded
};
extern const PageKind kRunPage;     // of `stepscope report`
extern const PageKind kMemoryPage;  // of `stepscope memory`

}  // namespace stepscope::report
