// The tables of the analysis `system`: their columns, and what fills their rows.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/key_columns.h"
#include "analysis/system/node_curves.h"
#include "base/table.h"

namespace stepscope::analysis {

extern const std::array<base::TableShape, 10> kSystemTables;

struct SystemTables {
  SystemTables();
  base::Table machines, gpus, processes, traffic, file_systems, missing, cores, steps, load, memory;

  std::vector<base::Table> take();
};

void add_machine(base::Table& table, const NodeCurves& node, base::Nanos window);
void add_gpus(base::Table& table, const NodeCurves& node, base::Nanos window);
// `of_program`: no training announced itself, but the command that watches the program.
void add_processes(base::Table& table, const NodeCurves& node, base::Nanos window, bool of_program);
// What the processes of the rank with most hold together, in a sentence; empty: not known.
std::string about_shared_memory(const std::vector<NodeCurves>& nodes);
void add_traffic(base::Table& table, const NodeCurves& node, base::Nanos window);
void add_file_systems(base::Table& table, const NodeCurves& node);
void add_cores(base::Table& table, const NodeCurves& node, base::Nanos window);
void add_missing(base::Table& table, const NodeCurves& node);

}  // namespace stepscope::analysis
