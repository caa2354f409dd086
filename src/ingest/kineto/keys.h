// The names a trace event uses for its members and arguments, in every spelling since 2021. Adding
// an argument that the model should hold means a row in the table and a line in stager.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope::ingest::kineto {

enum class Field : std::uint8_t {
  kNone,
  kPhase,
  kCategory,
  kName,
  kPid,
  kTid,
  kTime,
  kDuration,
  kArgs,
  kId,
  kScope,
};

enum class Arg : std::uint8_t {
  kExternalId,
  kCorrelation,
  kStream,
  kDevice,
  kContext,
  kSequence,
  kForwardThread,
  kPythonId,
  kPythonParentId,
  kBytes,
  kSize,
  kBandwidth,
  kRegisters,
  kSharedMemory,
  kBlocksPerSm,
  kWarpsPerSm,
  kOccupancy,
  kGrid,
  kBlock,
  kGraphId,
  kGraphNode,
  kTotalAllocated,
  kTotalReserved,
  kAddress,
  kDeviceType,
  kDeviceId,
  kSyncKind,
  kWaitOnStream,
  kWaitOnRecord,
  kEventId,
  kCollectiveName,
  kDtype,
  kInElements,
  kOutElements,
  kGroupSize,
  kGroupName,
  kGroupDescription,
  kGroupRanks,
  kRank,
  kCollectiveSequence,
  kCommsId,
  kSourceRank,
  kDestinationRank,
  kAsynchronous,
  kInSplit,
  kOutSplit,
  kLabelName,
  kLabels,
  kSortIndex,
  kCount,
  kNone = kCount
};

// How the value of an argument is kept.
enum class ArgType : std::uint8_t { kInteger, kReal, kText, kTriple, kTruth };

struct ArgInfo {
  std::string_view key;
  Arg arg;
};

ArgType type_of(Arg arg);
Field field_of(std::string_view key);
Arg arg_of(std::string_view key);

// The same look-ups for the fast scanner, which knows only where a key ends: `quote` is its closing
// quote, and at least 8 readable bytes stand before it.
Field field_before(const char* quote);
Arg arg_before(const char* quote);

}  // namespace stepscope::ingest::kineto
