#include "emit/redaction/redact.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "emit/redaction/path_text.h"
#include "emit/siphash.h"
#include "trace/kind.h"

namespace stepscope::emit {

base::Result<RedactKey> random_redact_key() {
  RedactKey key;
  if (getrandom(&key, sizeof(key), 0) != static_cast<ssize_t>(sizeof(key))) {
    return base::fail(base::Code::kIo,
                      fmt::format("no random key from the system: {}", std::strerror(errno)));
  }
  return key;
}

RedactKey redact_key_from(std::string_view passphrase) {
  return {siphash(0x7374657073636f70, 1, passphrase), siphash(0x7374657073636f70, 2, passphrase)};
}

Redactor::Redactor(RedactKey key, const trace::Run& run, const std::vector<std::string>& words)
    : key_(key) {
  for (const std::string& word : words) words_.add(word);
  words_.learn(run);
}

std::string Redactor::hash(std::string_view secret) const {
  // 48 bits: enough that two names of one job do not meet, short enough to read past.
  return fmt::format("x{:012x}", siphash(key_.low, key_.high, secret) >> 16);
}

std::uint64_t Redactor::number(std::uint64_t id) const {
  constexpr std::uint64_t kCounted = std::uint64_t{1} << 32;
  if (id < kCounted) return id;
  std::array<char, sizeof id> bytes{};
  std::memcpy(bytes.data(), &id, sizeof id);
  return siphash(key_.low, key_.high, {bytes.data(), bytes.size()}) | kCounted;
}

std::string Redactor::text(std::string_view text) const {
  std::string out;
  append_frames(out, text, false);
  return out;
}

std::string Redactor::value(std::string_view key, std::string_view text) const {
  if (is_secret_key(key)) return secret(text);
  std::string out;
  append_frames(out, text, key.find("version") != std::string_view::npos);
  return out;
}

std::string Redactor::secret(std::string_view text) const {
  if (text.empty()) return {};
  if (text.find_first_of("/\\") == std::string_view::npos) return hash(text);
  std::string out;
  append_path(out, text);
  return out;
}

std::string Redactor::category(std::string_view category) const {
  if (trace::kind_of(category, {}) != trace::Kind::kOther) return std::string(category);
  return text(category);
}

// Call stacks are frames "FILE(LINE): FUNCTION", one a line or separated by semicolons. A frame's
// file is a path whatever it looks like: it may have spaces or no folder.
void Redactor::append_frames(std::string& out, std::string_view text, bool may_be_version) const {
  if (!may_name_something(text) && text.find("): ") == std::string_view::npos) {
    append_words(out, text);
    return;
  }
  while (!text.empty()) {
    const Frame frame = find_frame(text);
    append_text(out, text.substr(0, frame.file_at), may_be_version);
    if (frame.file_size == 0) return;
    const std::string_view file = text.substr(frame.file_at, frame.file_size);
    if (file.front() == '<' && file.find_first_of("/\\") == std::string_view::npos) {
      out += file;  // <string>, <frozen importlib._bootstrap>: Python's own
    } else {
      append_path(out, file);
    }
    text.remove_prefix(frame.file_at + frame.file_size);
    // The line number goes out with the next stretch of text.
  }
}

void Redactor::append_text(std::string& out, std::string_view text, bool may_be_version) const {
  if (is_rooted(text)) {
    // Spaces in a path cannot be told from the end of it, so all of the line is one.
    const std::size_t end = std::min(text.find_first_of("\r\n\""), text.size());
    append_path(out, text.substr(0, end));
    text.remove_prefix(end);
  }
  std::size_t plain = 0;  // what stands before the token and is not out yet
  for (std::size_t at = 0; at < text.size();) {
    Token token = next_token(text, at);
    // The path of a file's URL may have blanks, as one that begins a text.
    if (is_file_url(text, token.at)) {
      token.size = std::min(text.find_first_of("\r\n\"'<>", token.at), text.size()) - token.at;
    }
    at = token.at + token.size;
    const std::string_view piece = text.substr(token.at, token.size);
    Shape shape = shape_of(piece, text.substr(at));
    // "8080/page" behind a host is no ratio.
    const bool has_slash = piece.find_first_not_of('/') != std::string_view::npos &&
                           piece.find('/') != std::string_view::npos;
    if (has_slash && is_in_url(text, token.at)) shape = Shape::kPath;
    const bool is_plain = shape == Shape::kPlain || (shape == Shape::kAddress && may_be_version);
    if (is_plain && begins_query(text, at)) {
      append_words(out, text.substr(plain, at - plain));
      plain = at = append_query(out, text, at);
    }
    if (is_plain) continue;
    append_words(out, text.substr(plain, token.at - plain));
    plain = at;
    if (shape == Shape::kPath) append_path(out, piece);
    if (shape == Shape::kModule) append_dotted(out, piece, true);
    if (shape == Shape::kMail) append_dotted(out, piece, false);
    if (shape == Shape::kAddress || shape == Shape::kHost) out += hash(piece);
    plain = at = append_query(out, text, at);
  }
  append_words(out, text.substr(plain));
}

std::size_t Redactor::append_query(std::string& out, std::string_view text, std::size_t at) const {
  if (!begins_query(text, at)) return at;
  const std::size_t end = std::min(text.find_first_of(" \t\r\n\"'<>", at), text.size());
  out += text[at];
  if (end > at + 1) out += hash(text.substr(at + 1, end - at - 1));
  return end;
}

void Redactor::append_path(std::string& out, std::string_view path) const {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find_first_of("/\\", at), path.size());
    append_part(out, path.substr(at, end - at), end == path.size());
    at = end;
    while (at < path.size() && (path[at] == '/' || path[at] == '\\')) out += path[at++];
  }
}

void Redactor::append_part(std::string& out, std::string_view part, bool is_last) const {
  if (part.empty()) return;
  if (part == "." || part == ".." || part == "~" || (part.size() == 2 && part[1] == ':')) {
    out += part;
    return;
  }
  const std::string_view extension = is_last ? known_extension(part) : std::string_view();
  out += hash(part.substr(0, part.size() - extension.size()));
  out += extension;
}

// Each name of "a.b.c" or "user@host" for itself; the last one of a module path says what it is.
void Redactor::append_dotted(std::string& out, std::string_view token, bool keep_last) const {
  while (!token.empty()) {
    const std::size_t end = std::min(token.find_first_of(".@"), token.size());
    const bool is_last = end == token.size();
    if (end != 0) {
      if (is_last && keep_last) {
        append_words(out, token);
      } else {
        out += hash(token.substr(0, end));
      }
    }
    if (is_last) return;
    out += token[end];
    token.remove_prefix(end + 1);
  }
}

void Redactor::append_words(std::string& out, std::string_view text) const {
  while (!text.empty()) {
    const SecretWords::Match match = words_.find(text);
    out += text.substr(0, match.at);
    if (match.size == 0) return;
    out += hash(text.substr(match.at, match.size));
    text.remove_prefix(match.at + match.size);
  }
}

}  // namespace stepscope::emit
