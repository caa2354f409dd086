// What the keys beside the event list say.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/header.h"

namespace stepscope::ingest::kineto {

class HeaderBuilder {
 public:
  explicit HeaderBuilder(trace::Header& header) : header_(header) {}

  // Takes one top-level member: its name and its value as JSON text. False if the value is not
  // JSON; it is then kept in no form.
  bool take(const std::string& name, std::string_view value);

 private:
  void keep(const std::string& name, std::string_view value);

  trace::Header& header_;
  std::unordered_map<std::string, std::size_t> places_;  // of names in the metadata
};

// Makes JSON of a header value that is nearly JSON: a user may have put anything there.

// Strings are decoded and written anew, bare words put in quotes, commas set right. What is beyond
// that stays broken: the caller parses the result.
std::string mend(std::string_view value);

}  // namespace stepscope::ingest::kineto
