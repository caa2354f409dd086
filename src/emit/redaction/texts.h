// The interned text of a trace as it goes out: as it is, or redacted. A string is redacted once,
// however many events have it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::emit {

class Redactor;

class Texts {
 public:
  Texts(const trace::Trace& trace, const Redactor* redactor);

  std::string_view name(base::StringId id) const {
    return redactor_ == nullptr ? trace_.text(id) : redacted(id);
  }
  // Of an event's category, by its number in trace.categories().
  std::string_view category(std::uint16_t number) const {
    return redactor_ == nullptr ? trace_.text(trace_.categories()[number]) : categories_[number];
  }
  // Of a category that is known only by its text, as those of flows are.
  std::string category_text(base::StringId id) const;
  // Text that is not interned: names of threads, of hosts.
  std::string plain(std::string_view text) const;
  std::string host(std::string_view name) const;
  // Of an arrow. What was text in the file is a hash that anybody can work out.
  std::uint64_t flow_id(std::uint64_t id) const;

 private:
  std::string_view redacted(base::StringId id) const;

  const trace::Trace& trace_;
  const Redactor* redactor_;
  std::vector<std::string> categories_;
  mutable std::vector<std::unique_ptr<const std::string>> cache_;  // by id, filled on first use
};

}  // namespace stepscope::emit
