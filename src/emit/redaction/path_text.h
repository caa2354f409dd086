// Finds what names a file, a host or a person in running text. When in doubt it is taken for one:
// a word too many is a nuisance, a word too few is a leak.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::emit {

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

// Does a "://" stand before this, and no blank behind it?
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

}  // namespace stepscope::emit
