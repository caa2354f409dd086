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
#include "emit/redaction/secret_words.h"
#include "trace/run.h"

namespace stepscope::emit {

struct RedactKey {
  std::uint64_t low = 0, high = 0;
};

base::Result<RedactKey> random_redact_key();             // from the operating system
RedactKey redact_key_from(std::string_view passphrase);  // the same hashes in every export

class Redactor {
 public:
  // Learns the host and user names of the run first, from its headers and from the home folders in
  // its names, so that they are found inside other text too. `words` are further secrets.
  Redactor(RedactKey key, const trace::Run& run, const std::vector<std::string>& words = {});

  std::string text(std::string_view text) const;  // any string: a name, a label
  // The value of an argument or of a header's key; what some keys hold is secret as a whole.
  std::string value(std::string_view key, std::string_view text) const;
  // A value that is secret whatever it looks like.
  std::string secret(std::string_view text) const;
  std::string category(std::string_view category) const;  // those that decide a kind are kept

  // A secret as a whole: a host, a user, a folder. Starts with a letter.
  std::string hash(std::string_view secret) const;

  // A number that may be a hash of a text, as large ones may: another one in its place. Counted
  // ones stay.
  std::uint64_t number(std::uint64_t id) const;

 private:
  void append_frames(std::string& out, std::string_view text, bool may_be_version) const;
  void append_text(std::string& out, std::string_view text, bool may_be_version) const;
  // The rest of a URL behind a token that ended at `at`; returns where it ends.
  std::size_t append_query(std::string& out, std::string_view text, std::size_t at) const;
  void append_path(std::string& out, std::string_view path) const;
  void append_part(std::string& out, std::string_view part, bool is_last) const;
  void append_dotted(std::string& out, std::string_view token, bool keep_last) const;
  void append_words(std::string& out, std::string_view text) const;

  RedactKey key_;
  SecretWords words_;
};

}  // namespace stepscope::emit
