// Fills a RawEvent from tokens: times, text, numbers and lists.
#include "ingest/kineto/raw_event.h"

#include "ingest/kineto/numbers.h"

namespace stepscope::ingest::kineto {
namespace {

bool is_text(const Token& token) {
  return token.type == TokenType::kString || token.type == TokenType::kNumber;
}

struct FieldTime {
  bool usable = false;
  bool out_of_range = false;
  base::Nanos ns = 0;
};

FieldTime time_of(RawEvent& draft, const Token& token) {
  if (!is_text(token)) return {};
  const std::optional<Time> time = parse_time(token.text);
  if (!time) return {};
  if (time->out_of_range) return {false, true, 0};
  draft.number_as_text |= token.type == TokenType::kString;
  draft.rounded |= time->rounded;
  return {true, false, time->ns};
}

bool may_be_list(Arg arg) {
  return arg == Arg::kGroupRanks || arg == Arg::kInSplit || arg == Arg::kOutSplit;
}

void clear(RawEvent& draft, Arg arg) {
  draft.present &= ~(std::uint64_t{1} << static_cast<unsigned>(arg));
}

bool names_no_number(std::string_view text) {
  return text == "NaN" || text == "Infinity" || text == "-Infinity";
}

}  // namespace

void set_field(RawEvent& draft, Field field, const Token& token) {
  const std::string_view text = is_text(token) ? token.text : std::string_view{};
  switch (field) {
    case Field::kPhase:
      draft.phase = token.type != TokenType::kString ? '\0' : text.size() == 1 ? text[0] : '?';
      break;
    case Field::kCategory:
      draft.category = text;
      break;
    case Field::kName:
      draft.name = text;
      draft.has_name = is_text(token);
      break;
    case Field::kPid:
      draft.pid = text;
      break;
    case Field::kTid:
      draft.tid = text;
      break;
    case Field::kId:
      draft.id = text;
      break;
    case Field::kScope:
      draft.scope = text;
      break;
    case Field::kTime: {
      const FieldTime time = time_of(draft, token);
      draft.has_time = time.usable;
      draft.time_out_of_range = time.out_of_range;
      draft.time = time.ns;
      break;
    }
    case Field::kDuration: {
      const FieldTime time = time_of(draft, token);
      draft.has_duration = time.usable;
      draft.duration_out_of_range = time.out_of_range;
      draft.duration = time.ns;
      break;
    }
    default:
      break;
  }
}

void set_arg(RawEvent& draft, Arg arg, const Token& token) {
  const auto index = static_cast<std::size_t>(arg);
  clear(draft, arg);
  switch (type_of(arg)) {
    case ArgType::kInteger: {
      if (!is_text(token)) return;
      const std::optional<std::int64_t> value = parse_integer(token.text);
      if (!value) return;
      draft.integers[index] = *value;
      break;
    }
    case ArgType::kReal: {
      if (!is_text(token)) return;
      const std::optional<double> value = parse_real(token.text);
      if (!value) return;
      draft.reals[index] = *value;
      break;
    }
    case ArgType::kText:
      // Lists of ranks and sizes are kept as their JSON text.
      if (!is_text(token) && !(token.type == TokenType::kArray && may_be_list(arg))) return;
      draft.texts[index] = token.text;
      break;
    case ArgType::kTriple:
      if (token.type != TokenType::kArray && token.type != TokenType::kString) return;
      draft.texts[index] = token.text;
      break;
    case ArgType::kList:
      if (token.type == TokenType::kString) {
        // Such a number in place of a list says nothing, also where it was mended to a text.
        if (names_no_number(token.text)) return;
        // With its quotes: it is a value among values.
        draft.texts[index] = {token.text.data() - 1, token.text.size() + 2};
      } else if (token.type == TokenType::kArray) {
        draft.texts[index] = token.text;
      } else {
        return;
      }
      break;
    case ArgType::kTruth: {
      const bool yes = token.type == TokenType::kTrue || token.text == "1" ||
                       token.text == "True" || token.text == "true";
      const bool no = token.type == TokenType::kFalse || token.text == "0" ||
                      token.text == "False" || token.text == "false";
      if (!yes && !no) return;
      draft.integers[index] = yes ? 1 : 0;
      break;
    }
  }
  draft.present |= std::uint64_t{1} << static_cast<unsigned>(arg);
}

}  // namespace stepscope::ingest::kineto
