// Reads direction, host memory and size of a copy from its name and arguments.
#include "analysis/device/copies.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace stepscope::analysis {
namespace {

constexpr std::array kKinds = std::to_array<std::string_view>(
    {"HtoD", "DtoH", "DtoD", "PtoP", "HtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA"});

// Other spellings: XPU calls host memory M, ROCm wrote it out.
constexpr std::array kSpellings = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"H2D", "HtoD"},
    {"D2H", "DtoH"},
    {"D2D", "DtoD"},
    {"H2H", "HtoH"},
    {"P2P", "PtoP"},
    {"M2D", "HtoD"},
    {"D2M", "DtoH"},
    {"M2M", "HtoH"},
    {"HostToDevice", "HtoD"},
    {"DeviceToHost", "DtoH"},
    {"DeviceToDevice", "DtoD"},
    {"HostToHost", "HtoH"},
    {"PeerToPeer", "PtoP"},
});

bool holds_copies(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view kind_in(std::string_view name) {
  for (const std::string_view kind : kKinds) {
    if (holds_copies(name, kind)) return kind;
  }
  for (const auto& [spelling, kind] : kSpellings) {
    if (holds_copies(name, spelling)) return kind;
  }
  return "other";
}

}  // namespace

CopyName copy_name(std::string_view name) {
  const std::string_view places = name.substr(std::min(name.find('('), name.size()));
  std::string_view memory;
  if (holds_copies(places, "Pageable")) {
    memory = "pageable";
  } else if (holds_copies(places, "Pinned")) {
    memory = "pinned";
  } else if (holds_copies(places, "Managed") || holds_copies(places, "Unified")) {
    memory = "managed";
  }
  return {kind_in(name.substr(0, name.size() - places.size())), memory};
}

std::string_view memory_kind(const trace::Trace& trace, trace::Row row) {
  return trace.kind()[row] == trace::Kind::kMemset ? "Memset"
                                                   : copy_name(trace.name_text(row)).kind;
}

bool crosses_the_bus(std::string_view kind) {
  return kind.size() == 4 && kind != "HtoH" && (kind.front() == 'H' || kind.back() == 'H');
}

std::optional<base::Bytes> bytes_of(const trace::Trace& trace, trace::Row row) {
  const std::uint32_t entry = trace.copies().rows.find(row);
  if (entry == base::RowSet::kNone || trace.copies().bytes[entry] < 0) return std::nullopt;
  return trace.copies().bytes[entry];
}

std::int64_t bytes_per_second(base::Bytes bytes, base::Nanos time) {
  if (time <= 0) return 0;
  __extension__ using Wide = __int128;
  const Wide rate = static_cast<Wide>(bytes) * 1'000'000'000 / time;
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max() / 1024;
  return static_cast<std::int64_t>(rate < kMost ? rate : kMost);
}

}  // namespace stepscope::analysis
