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

// Finds what names a file, a host or a person in running text. When in doubt it is taken for one:
// a word too many is a nuisance, a word too few is a leak.

// A quick look: false when there is nothing in the text that the functions below would find, Python
// frames of files without an extension apart.
bool may_name_something(std::string_view text);

// A run of characters that a path, a dotted name or an address can have.
struct Token {
  std::size_t at, size;
};
Token next_token(std::string_view text, std::size_t from);

enum class Shape : std::uint8_t {
  kPlain,
  kPath,     // "/a/b", "a/b/c", "dir/file.py", "C:\a"
  kModule,   // "company.project.Class", and names of hosts with their domain
  kMail,     // "user@host"
  kAddress,  // "10.0.0.1"
  kHost,     // "server" before ":/export"
};
// `rest` is the text that follows the token.
Shape shape_of(std::string_view token, std::string_view rest);

// Does all of a text look like one path: "/…", "~/…", "C:\…", "\\server\…"?
bool is_rooted(std::string_view text);

// Does the path of a "file://…" begin here?
bool is_file_url(std::string_view text, std::size_t at);

// Does a "://" stand before this, and no blank after it?
bool is_in_url(std::string_view text, std::size_t at);

// Is this the "?" or "#" of a URL? What follows may be a token or a name.
bool begins_query(std::string_view text, std::size_t at);

// ".py", ".json": an ending that says what a file is and nothing else; empty when it has none.
std::string_view known_extension(std::string_view file);

// The file of the first Python frame, "FILE(LINE): FUNCTION"; file_size is 0 when there is none.
struct Frame {
  std::size_t file_at, file_size;
};
Frame find_frame(std::string_view text);

// Names of users and hosts that a run gives away itself, to be found inside any other text.

class SecretWords {
 public:
  // Takes the name of a person or a place; names that say nothing ("root", "localhost") and those
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
  // The rest of a URL after a token that ended at `at`; returns where it ends.
  std::size_t append_query(std::string& out, std::string_view text, std::size_t at) const;
  void append_path(std::string& out, std::string_view path) const;
  void append_part(std::string& out, std::string_view part, bool is_last) const;
  void append_dotted(std::string& out, std::string_view token, bool keep_last) const;
  void append_words(std::string& out, std::string_view text) const;

  RedactKey key_;
  SecretWords words_;
};

}  // namespace stepscope::emit
