// The table of pickle opcodes: argument sizes, and names of those refused.
#include "ingest/pickle/opcodes.h"

namespace stepscope::ingest::pickle {

std::size_t argument_bytes(unsigned char opcode) {
  switch (static_cast<Op>(opcode)) {
    case Op::kBinGet:
    case Op::kBinPut:
    case Op::kBinInt1:
    case Op::kProto:
    case Op::kLong1:
    case Op::kShortBinUnicode:
    case Op::kShortBinString:
    case Op::kShortBinBytes:
      return 1;
    case Op::kBinInt2:
      return 2;
    case Op::kBinInt:
    case Op::kLongBinGet:
    case Op::kLongBinPut:
    case Op::kBinUnicode:
    case Op::kBinString:
    case Op::kBinBytes:
    case Op::kLong4:
      return 4;
    case Op::kBinFloat:
    case Op::kFrame:
    case Op::kBinUnicode8:
    case Op::kBinBytes8:
    case Op::kByteArray8:
      return 8;
    default:
      return 0;
  }
}

std::string_view name_of_refused(unsigned char opcode) {
  switch (static_cast<Op>(opcode)) {
    case Op::kPersId:
      return "PERSID";
    case Op::kBinPersId:
      return "BINPERSID";
    case Op::kReduce:
      return "REDUCE";
    case Op::kBuild:
      return "BUILD";
    case Op::kGlobal:
      return "GLOBAL";
    case Op::kInst:
      return "INST";
    case Op::kObj:
      return "OBJ";
    case Op::kNewObj:
      return "NEWOBJ";
    case Op::kExt1:
      return "EXT1";
    case Op::kExt2:
      return "EXT2";
    case Op::kExt4:
      return "EXT4";
    case Op::kNewObjEx:
      return "NEWOBJ_EX";
    case Op::kStackGlobal:
      return "STACK_GLOBAL";
    case Op::kNextBuffer:
      return "NEXT_BUFFER";
    default:
      return {};
  }
}

}  // namespace stepscope::ingest::pickle
