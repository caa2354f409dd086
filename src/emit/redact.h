// Replaces names of files, hosts and users by keyed hashes, so that a trace can be shared. The same
// name gives the same hash everywhere in one export (all ranks, all files), so traces stay
// comparable; without the key a hash cannot be looked up in a dictionary. What is touched and what
// is not: docs/formats/redaction.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/run.h"

namespace stepscope::emit {

struct RedactKey {
  std::uint64_t low = 0, high = 0;
};

base::Result<RedactKey> random_redact_key();           // from the operating system
RedactKey redact_key_from(std::string_view passphrase);  // the same hashes in every export

class Redactor {
 public:
  // Learns the host and user names of the run first, from its headers and from the home folders in
  // its names, so that they are found inside other text too. `words` are further secrets.
  Redactor(RedactKey key, const trace::Run& run, std::vector<std::string> words = {});

  // What a piece of text may be. Structure that readers depend on is never changed.
  std::string text(std::string_view text) const;                             // any string
  std::string frame(std::string_view name) const;                            // a Python frame
  std::string value(std::string_view key, std::string_view text) const;      // of an argument
  std::string key(std::string_view key) const;                               // an argument's name
  std::string category(std::string_view category) const;

  // A secret as a whole: a host, a user, a file name.
  std::string hash(std::string_view secret) const;

 private:
  RedactKey key_;
  std::vector<std::string> words_;  // lower case, longest first
};

}  // namespace stepscope::emit
