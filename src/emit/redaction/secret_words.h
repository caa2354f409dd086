// Names of users and hosts that a run gives away itself, to be found inside any other text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/run.h"

namespace stepscope::emit {

class SecretWords {
 public:
  // Takes a name that says who or where; names that say nothing ("root", "localhost") and those
  // that are words of the format ("device") are ignored.
  void add(std::string_view name);
  void learn(const trace::Run& run);

  struct Match {
    std::size_t at, size;
  };
  // The first secret in the text, the longest when several start there; size 0 when there is none.
  Match find(std::string_view text) const;
  bool empty() const { return words_.empty(); }

 private:
  void add_host(std::string_view host);
  void learn_homes(std::string_view text);
  void learn_file_name(std::string_view path);
  void learn_header(const trace::Header& header);

  std::vector<std::string> words_;  // lower case, the longest first
};

// Keys whose values name a host, a user or a place: "host_name", "USER", "cwd".
bool is_secret_key(std::string_view key);

}  // namespace stepscope::emit
