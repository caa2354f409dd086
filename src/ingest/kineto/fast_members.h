// What the fast scanner asks about the members of an event: where a value begins, which key stands
// before a colon. Part of fast.cpp, so that all of it becomes one function.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "ingest/kineto/fast_numbers.h"
#include "ingest/kineto/keys.h"

namespace stepscope::ingest::kineto {
namespace {

using fast::is_space;
using fast::value_behind;

// Objects in objects, as in no event.
constexpr int kMostNested = 16;

// Phases that need nothing but what this scanner collects.
bool is_plain_phase(char phase) {
  return phase == 'X' || phase == 'i' || phase == 's' || phase == 'f' || phase == 't' ||
         phase == 'B' || phase == 'E';
}

char behind_space(const char* at) {
  while (is_space(*at)) ++at;
  return *at;
}

// At most eight bytes as a number; longer text has none.
std::uint64_t word_of(std::string_view text) {
  if (text.empty() || text.size() > 8) return 0;
  return fast::load(&text.front()) << (64 - 8 * text.size());
}

constexpr std::string_view name_of(Field field) {
  switch (field) {
    case Field::kPhase:
      return "ph";
    case Field::kCategory:
      return "cat";
    case Field::kName:
      return "name";
    case Field::kPid:
      return "pid";
    case Field::kTid:
      return "tid";
    case Field::kTime:
      return "ts";
    case Field::kDuration:
      return "dur";
    case Field::kArgs:
      return "args";
    case Field::kId:
      return "id";
    case Field::kScope:
      return "scope";
    case Field::kNone:
      return "s";  // of an instant; not read
  }
  return {};
}

// Zero if the key before `colon` is the field's, opening and closing quote included.
template <Field kField>
std::uint64_t difference(const char* colon) {
  constexpr std::size_t kSize = name_of(kField).size() + 2;
  char quoted[8] = {};
  quoted[8 - kSize] = quoted[7] = '"';
  std::memcpy(quoted + 8 - kSize + 1, name_of(kField).data(), kSize - 2);
  return (fast::load(colon - 8) ^ fast::load(quoted)) >> (64 - 8 * kSize);
}

}  // namespace
}  // namespace stepscope::ingest::kineto
