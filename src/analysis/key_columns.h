// The columns that say whose row it is. Tables that share them can be joined on them, so they are
// spelled, typed and explained the same everywhere.
#pragma once

#include "base/table.h"

namespace stepscope::analysis::key {

inline constexpr base::ColumnShape kRank{"rank", base::Type::kInt, base::Unit::kId,
                                         "rank of the process"};
inline constexpr base::ColumnShape kWindow{"window", base::Type::kInt, base::Unit::kId,
                                           "recording of that rank, by time"};
inline constexpr base::ColumnShape kStep{"step", base::Type::kInt, base::Unit::kId,
                                         "number of the step"};
inline constexpr base::ColumnShape kSnapshot{"snapshot", base::Type::kText, base::Unit::kId,
                                             "the file"};
inline constexpr base::ColumnShape kDevice{"device", base::Type::kInt, base::Unit::kId,
                                           "number of the device"};

}  // namespace stepscope::analysis::key
