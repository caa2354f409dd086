// The yardstick: how fast simdjson's on-demand parser walks a trace that lies in memory, reading
// ph, cat, name, ts and dur of every event and keeping nothing. One thread. Several ways, because
// the importer is to be compared with the fastest of them.
#include <string>
#include <vector>

#include <simdjson.h>

#include "harness.h"

namespace stepscope::bench {
namespace {

namespace ondemand = simdjson::ondemand;

struct Sum {
  std::uint64_t events = 0;
  std::uint64_t value = 0;
  void add(std::string_view text) {
    value += text.size() + (text.empty() ? 0 : static_cast<unsigned char>(text.back()));
  }
  void add(double number) { value += static_cast<std::uint64_t>(number); }
};

enum class Number { kDouble, kToken };
enum class Lookup { kFields, kFind };
enum class Parser { kWarm, kFresh };  // fresh: its buffers are new pages, as an importer's are

template <Number number>
void read_number(Sum& sum, ondemand::value value) {
  if constexpr (number == Number::kToken) {
    sum.add(value.raw_json_token());
  } else {
    sum.add(value.get_double().value());
  }
}

// Every member passes by once, so the order of the keys does not matter.
template <Number number>
void read_fields(Sum& sum, ondemand::object event) {
  for (ondemand::field field : event) {
    const std::string_view key = field.escaped_key();
    if (key == "ph" || key == "cat" || key == "name") {
      sum.add(field.value().get_string().value());
    } else if (key == "ts" || key == "dur") {
      read_number<number>(sum, field.value());
    }
  }
}

// Asks for the keys in the order Kineto writes most events; others cost a second turn.
template <Number number>
void find_fields(Sum& sum, ondemand::object event) {
  for (const char* key : {"ph", "cat", "name"}) {
    std::string_view text;
    if (event.find_field_unordered(key).get(text) == simdjson::SUCCESS) sum.add(text);
  }
  for (const char* key : {"ts", "dur"}) {
    ondemand::value value;
    if (event.find_field_unordered(key).get(value) == simdjson::SUCCESS) {
      read_number<number>(sum, value);
    }
  }
}

template <Lookup lookup, Number number, Parser buffers = Parser::kWarm>
Sample walk(ondemand::parser& warm, const simdjson::padded_string& text) {
  const Stopwatch watch;
  Sum sum;
  ondemand::parser fresh;
  ondemand::parser& parser = buffers == Parser::kFresh ? fresh : warm;
  ondemand::document document = parser.iterate(text);
  for (ondemand::object event : document["traceEvents"].get_array()) {
    if constexpr (lookup == Lookup::kFields) {
      read_fields<number>(sum, event);
    } else {
      find_fields<number>(sum, event);
    }
    ++sum.events;
  }
  Sample sample;
  sample.seconds = watch.seconds();
  sample.events = sum.events;
  sample.checksum = sum.value;
  return sample;
}

struct Variant {
  const char* name;
  Sample (*run)(ondemand::parser&, const simdjson::padded_string&);
};

constexpr Variant kVariants[] = {
    {"fields, double", walk<Lookup::kFields, Number::kDouble>},
    {"fields, double, fresh parser", walk<Lookup::kFields, Number::kDouble, Parser::kFresh>},
    {"fields, token", walk<Lookup::kFields, Number::kToken>},
    {"find, double", walk<Lookup::kFind, Number::kDouble>},
    {"find, token", walk<Lookup::kFind, Number::kToken>},
};

int run(const Options& options) {
  const simdjson::padded_string text = simdjson::padded_string::load(options.path);
  ondemand::parser parser;
  std::vector<Variant> chosen;
  std::vector<Result> results;
  for (const Variant& variant : kVariants) {
    if (!options.only.empty() && options.only != variant.name) continue;
    chosen.push_back(variant);
    results.push_back({"simdjson_walk", variant.name, options.path, text.size(), {}});
  }
  // In turn, so that a slow moment of the machine falls on all of them. The first turn grows the
  // parser's buffers and warms the text; it does not count.
  for (int i = -1; i < options.runs; ++i) {
    for (std::size_t j = 0; j < results.size(); ++j) {
      const Sample sample = chosen[j].run(parser, text);
      if (i >= 0) results[j].samples.push_back(sample);
    }
  }
  for (const Result& result : results) print_result(result);
  return 0;
}

}  // namespace
}  // namespace stepscope::bench

int main(int argc, char** argv) {
  return stepscope::bench::bench_main("bench_simdjson_walk", argc, argv, stepscope::bench::run);
}
