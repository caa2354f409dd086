// Copies between host and device one by one, with what their calls did to the host, and their sums.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/durations.h"
#include "analysis/view.h"

namespace stepscope::analysis {

struct Transfer {
  std::uint32_t work = 0;              // index into WindowView::work
  std::string_view kind, host_memory;  // see copies.h
  std::optional<base::Bytes> bytes;    // nothing: the trace does not say
  base::Nanos hidden_ns = 0;           // of its time, kernels computed on the device
  bool blocking = false;               // the host waited until it had ended
  base::Nanos blocked_ns = 0;          // the host waited for: from the call to its return
  trace::Row op = trace::kNoRow;       // that asked for it
};

// The counted copies between host and device, in the order of WindowView::work.
std::vector<Transfer> transfers_of(const WindowView& window);

struct TransferSums {
  std::uint64_t count = 0, blocking = 0, without_bytes = 0;
  base::Bytes bytes = 0;
  base::Nanos time = 0, timed = 0;  // of all; of those that say their bytes
  base::Nanos hidden = 0, blocked = 0;
  Durations sizes;  // bytes of each

  void add(const Transfer& transfer, base::Nanos length);
  void merge(const TransferSums& other);
};

}  // namespace stepscope::analysis
