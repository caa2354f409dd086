// The opcodes of pickle protocols 0 to 5, as Python's pickletools names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stepscope::ingest::pickle {

enum class Op : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kFloat = 'F',
  kInt = 'I',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kLong = 'L',
  kBinInt2 = 'M',
  kNone = 'N',
  kString = 'S',
  kBinString = 'T',
  kShortBinString = 'U',
  kUnicode = 'V',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kDict = 'd',
  kEmptyDict = '}',
  kAppends = 'e',
  kGet = 'g',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kEmptyList = ']',
  kPut = 'p',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kBinFloat = 'G',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
  kReadonlyBuffer = 0x98,
  // What follows names or calls code, or wants data from outside the file.
  kPersId = 'P',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBuild = 'b',
  kGlobal = 'c',
  kInst = 'i',
  kObj = 'o',
  kNewObj = 0x81,
  kExt1 = 0x82,
  kExt2 = 0x83,
  kExt4 = 0x84,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kNextBuffer = 0x97,
};

// Of the fixed part after the opcode.
std::size_t argument_bytes(unsigned char opcode);

// "GLOBAL", …; empty for every other opcode.
std::string_view name_of_refused(unsigned char opcode);

}  // namespace stepscope::ingest::pickle
