// Replaces what is secret in texts: paths, names of users and hosts, by hashes that stay the same
// within an export.
#include "emit/redaction/redact.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/json_string.h"
#include "emit/siphash.h"
#include "trace/kind.h"

namespace stepscope::emit {

namespace {

constexpr std::array kExtensions = std::to_array<std::string_view>({
    ".amdgcn",      ".bin",  ".c",    ".cc",     ".ckpt", ".cpp",  ".csv",   ".cu",      ".cubin",
    ".cuh",         ".db",   ".dll",  ".exe",    ".gz",   ".h",    ".hpp",   ".hsaco",   ".html",
    ".ipynb",       ".json", ".llir", ".log",    ".md",   ".npy",  ".npz",   ".parquet", ".pickle",
    ".pkl",         ".pt",   ".pth",  ".ptx",    ".py",   ".pyc",  ".pyd",   ".pyi",     ".pyx",
    ".safetensors", ".sh",   ".so",   ".sqlite", ".tar",  ".toml", ".ttgir", ".ttir",    ".txt",
    ".whl",         ".yaml", ".yml",  ".zip",    ".zst",
});

// Roots of dotted names that everybody has.
constexpr std::array kPublicRoots = std::to_array<std::string_view>({
    "_C",
    "apex",
    "asyncio",
    "at",
    "aten",
    "autograd",
    "builtins",
    "c10",
    "c10d",
    "collections",
    "concurrent",
    "cuda",
    "deepspeed",
    "dynamo",
    "flax",
    "functools",
    "functorch",
    "importlib",
    "inductor",
    "jax",
    "lightning",
    "logging",
    "multiprocessing",
    "nccl",
    "nn",
    "np",
    "numpy",
    "nvidia",
    "optim",
    "os",
    "prim",
    "prims",
    "profiler",
    "pytorch_lightning",
    "self",
    "sys",
    "threading",
    "torch",
    "torchaudio",
    "torchvision",
    "transformers",
    "triton",
});

template <class Array>
bool contains_path_text(const Array& sorted, std::string_view text) {
  return std::find(sorted.begin(), sorted.end(), text) != sorted.end();
}

bool is_slash(char c) { return c == '/' || c == '\\'; }
bool is_name(char c) { return base::is_letter(c) || base::is_digit(c) || c == '_' || c == '-'; }

constexpr std::array<bool, 256> characters(std::string_view of) {
  std::array<bool, 256> table{};
  for (const char c : of) table[static_cast<unsigned char>(c)] = true;
  return table;
}

constexpr std::array<bool, 256> kEnds = characters("\"'`()[]{}<>|;,*?!&=:#^");
// No path, address, dotted name or frame is without one of these.
constexpr std::array<bool, 256> kRepresentative = characters("/\\.@~");

bool ends_token(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || kEnds[byte];
}

// "GB/s", "N/A", "0/1", "fwd/bwd": one slash between short words or numbers is no path.
bool is_ratio(std::string_view token) {
  constexpr std::size_t kShort = 4;
  const std::size_t slash = token.find_first_of("/\\");
  const std::string_view left = token.substr(0, slash);
  const std::string_view right = token.substr(slash + 1);
  if (left.empty() || right.empty() || right.find_first_of("/\\") != std::string_view::npos) {
    return false;
  }
  if (!known_extension(right).empty() || left == "." || left == ".." || left == "~") return false;
  const auto is_number = [](char c) {
    return base::is_digit(c) || c == '_' || c == '.' || c == '%';
  };
  return (left.size() <= kShort && right.size() <= kShort) ||
         (std::all_of(left.begin(), left.end(), is_number) &&
          std::all_of(right.begin(), right.end(), is_number));
}

bool is_address(std::string_view token) {
  return std::count(token.begin(), token.end(), '.') == 3 && base::is_digit(token.front()) &&
         base::is_digit(token.back()) && token.find("..") == std::string_view::npos &&
         std::all_of(token.begin(), token.end(),
                     [](char c) { return base::is_digit(c) || c == '.'; });
}

// Three names or more. A number among them means a path inside a model ("layers.0.attention"), two
// underscores at the front a hardware metric ("sm__cycles_active.avg.per_second").
bool is_module(std::string_view token) {
  if (!base::is_letter(token.front()) && token.front() != '_') return false;
  const std::string_view root = token.substr(0, token.find('.'));
  if (contains_path_text(kPublicRoots, root) || root.find("__", 1) != std::string_view::npos)
    return false;
  int names = 0;
  for (std::size_t at = 0; at <= token.size(); ++names) {
    const std::size_t end = std::min(token.find('.', at), token.size());
    const std::string_view name = token.substr(at, end - at);
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name)) return false;
    if (std::all_of(name.begin(), name.end(), base::is_digit)) return false;
    at = end + 1;
  }
  return names >= 3;
}

bool is_mail(std::string_view token) {
  const std::size_t at = token.find('@');
  return at != std::string_view::npos && at != 0 && at + 1 < token.size() &&
         is_name(token[at - 1]) && is_name(token[at + 1]);
}

}  // namespace

bool may_name_something(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return kRepresentative[static_cast<unsigned char>(c)]; });
}

Token next_token(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size() && ends_token(text[at])) ++at;
  std::size_t end = at;
  while (end < text.size() && !ends_token(text[end])) ++end;
  // A drive's letter belongs to its path.
  if (end - at == 1 && base::is_letter(text[at]) && end + 1 < text.size() && text[end] == ':' &&
      text[end + 1] == '\\') {
    ++end;
    while (end < text.size() && !ends_token(text[end])) ++end;
  }
  return {at, end - at};
}

Shape shape_of(std::string_view token, std::string_view rest) {
  if (token.empty()) return Shape::kPlain;
  if (token.find_first_not_of("/\\") == std::string_view::npos) return Shape::kPlain;
  if (token.find_first_of("/\\") != std::string_view::npos) {
    return is_ratio(token) ? Shape::kPlain : Shape::kPath;
  }
  if (rest.starts_with(":/") && !rest.starts_with("://") && token.size() > 1) return Shape::kHost;
  if (is_mail(token)) return Shape::kMail;
  if (token.find('.') == std::string_view::npos) return Shape::kPlain;
  if (!known_extension(token).empty()) return Shape::kPath;
  if (is_address(token)) return Shape::kAddress;
  return is_module(token) ? Shape::kModule : Shape::kPlain;
}

bool is_rooted(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : ' '; };
  if (text.starts_with("\\\\")) return true;
  if (at(0) == '/') return at(1) != ' ';
  if (at(0) == '~') return is_slash(at(1)) || is_name(at(1));
  return base::is_letter(at(0)) && at(1) == ':' && is_slash(at(2));
}

bool is_file_url(std::string_view text, std::size_t at) {
  constexpr std::string_view kScheme = "file:";
  return at >= kScheme.size() && text.substr(at).starts_with("//") &&
         base::lowered(text.substr(at - kScheme.size(), kScheme.size())) == kScheme;
}

bool is_in_url(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::size_t blank = before.find_last_of(" \t\r\n\"'<>");
  return before.substr(blank == std::string_view::npos ? 0 : blank + 1).find("://") !=
         std::string_view::npos;
}

bool begins_query(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == '?' || text[at] == '#') && is_in_url(text, at);
}

std::string_view known_extension(std::string_view file) {
  const std::size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view extension = file.substr(dot);
  return contains_path_text(kExtensions, extension) ? extension : std::string_view();
}

Frame find_frame(std::string_view text) {
  for (std::size_t open = text.find('('); open != std::string_view::npos;
       open = text.find('(', open + 1)) {
    std::size_t close = open + 1;
    while (close < text.size() && base::is_digit(text[close])) ++close;
    if (close == open + 1 || !text.substr(close).starts_with("): ")) continue;
    std::size_t begin = text.find_last_of(";\r\n", open);
    begin = begin == std::string_view::npos ? 0 : begin + 1;
    while (begin < open && text[begin] == ' ') ++begin;
    if (begin < open) return {begin, open - begin};
  }
  return {text.size(), 0};
}

namespace {

// Whole keys, since their words alone say little.
constexpr std::array kSecretKeys =
    std::to_array<std::string_view>({"domain", "kernel_file", "worker_name"});

// Keys of which one of these is a word name a person or a place, too: "master-host",
// "trace_host", "output_dir", "hostNames".
constexpr std::array kSecretParts = std::to_array<std::string_view>({
    "account", "apikey", "author",   "cluster", "credential", "cwd",    "dir",      "directory",
    "email",   "folder", "fqdn",     "home",    "host",       "ip",     "ipaddr",   "ipv4",
    "ipv6",    "login",  "logname",  "machine", "mail",       "node",   "nodelist", "nodename",
    "owner",   "passwd", "password", "pod",     "pwd",        "secret", "server",   "submitter",
    "user",    "userid", "username", "workdir", "workspace",
});
// Of those, the ones whose values are places: a folder "results" says nothing of other names.
constexpr std::array kPlaces = std::to_array<std::string_view>({
    "cwd",
    "dir",
    "directory",
    "folder",
    "home",
    "pwd",
    "workdir",
    "workspace",
});
// Words that are secret beside one of others: "OPENAI_API_KEY" and "created_by", but neither the
// key of a dictionary nor "max_tokens"; the address of a machine, but not one of memory.
struct Beside {
  std::string_view word;
  std::span<const std::string_view> others;
};
constexpr std::array kMachines = std::to_array<std::string_view>({
    "bind",
    "endpoint",
    "ip",
    "leader",
    "listen",
    "master",
    "peer",
    "rdzv",
    "remote",
});
constexpr std::array kDoors = std::to_array<std::string_view>({
    "access",
    "api",
    "auth",
    "bearer",
    "github",
    "gitlab",
    "hf",
    "hub",
    "private",
    "refresh",
    "session",
    "ssh",
});
constexpr std::array kDeeds = std::to_array<std::string_view>({"created", "started", "submitted"});
constexpr std::array kSecretBeside = std::to_array<Beside>({
    {"addr", kMachines},
    {"address", kMachines},
    {"by", kDeeds},
    {"key", kDoors},
    {"token", kDoors},
});

// Accounts and hosts that many people have, and words of the format itself: hiding them protects
// no person and would break names that readers depend on.
constexpr std::array kHarmless = std::to_array<std::string_view>({
    "admin",        "anonymous", "aten",     "block",    "bytes",       "collective", "context",
    "correlation",  "cuda",      "debian",   "default",  "device",      "docker",     "driver",
    "event",        "external",  "group",    "grid",     "guest",       "home",       "input",
    "jovyan",       "kernel",    "launch",   "local",    "localdomain", "localhost",  "memcpy",
    "memory",       "memset",    "model",    "module",   "name",        "nccl",       "nobody",
    "node",         "none",      "null",     "operator", "output",      "process",    "profiler",
    "profilerstep", "public",    "python",   "python3",  "pytorch",     "rank",       "root",
    "runner",       "runtime",   "sequence", "shared",   "spans",       "step",       "stream",
    "test",         "thread",    "torch",    "trace",    "traces",      "train",      "training",
    "ubuntu",       "unknown",   "user",     "users",    "vagrant",     "worker",     "workspace",
});

constexpr std::size_t kShortest = 3;
// Names this long are found inside other words too; shorter ones only as words of their own.
constexpr std::size_t kFoundAnywhere = 5;

bool is_letter_or_digit(char c) {
  c = base::lowered(c);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool starts_with_at(std::string_view text, std::size_t at, std::string_view word) {
  if (text.size() - at < word.size()) return false;
  return std::equal(word.begin(), word.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, char b) { return a == base::lowered(b); });
}

template <class Array>
bool contains_secret_words(const Array& of, std::string_view word) {
  return std::find(of.begin(), of.end(), word) != of.end();
}

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

// "MASTER-hostNames" is "master", "host", "name": in small letters and in the singular.
std::vector<std::string> parts_of(std::string_view key) {
  std::vector<std::string> parts;
  std::string part;
  const auto finish = [&] {
    const bool is_plural = part.size() > 2 && part.ends_with('s') && !part.ends_with("ss");
    if (is_plural) part.pop_back();
    if (!part.empty()) parts.push_back(part);
    part.clear();
  };
  for (std::size_t i = 0; i < key.size(); ++i) {
    const bool is_new_word = is_capital(key[i]) && i > 0 && !is_capital(key[i - 1]);
    if (is_new_word || !is_letter_or_digit(key[i])) finish();
    if (is_letter_or_digit(key[i])) part += base::lowered(key[i]);
  }
  finish();
  // "hostname", "hostnames" and their like are one word to their writers.
  for (std::size_t i = parts.size(); i-- > 0;) {
    const std::string whole = parts[i];
    for (const std::string_view ending : {"name", "addr", "address"}) {
      if (whole.size() <= ending.size() || !whole.ends_with(ending)) continue;
      parts.push_back(whole.substr(0, whole.size() - ending.size()));
      parts.emplace_back(ending);
    }
  }
  return parts;
}

bool stands_alone(std::string_view text, std::size_t at, std::size_t size) {
  return (at == 0 || !is_letter_or_digit(text[at - 1])) &&
         (at + size == text.size() || !is_letter_or_digit(text[at + size]));
}

// The string that a value is, or those of a list, whatever else is in it.
std::vector<std::string> strings_of(std::string_view json) {
  std::vector<std::string> strings;
  if (!json.starts_with('[')) return {base::decode_json(json)};
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    const std::size_t begin = at + 1;
    std::size_t end = begin;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    end = std::min(end, json.size());
    strings.push_back(base::decode_string(json.substr(begin, end - begin)));
    at = std::min(end + 1, json.size());
  }
  return strings;
}

bool has_any(const std::vector<std::string>& parts, std::span<const std::string_view> of) {
  return std::ranges::any_of(parts,
                             [&](const auto& part) { return contains_secret_words(of, part); });
}

// Names of folders are not looked for in other text.
bool names_somebody(std::string_view key) {
  return is_secret_key(key) && !has_any(parts_of(key), kPlaces);
}

}  // namespace

bool is_secret_key(std::string_view key) {
  if (contains_secret_words(kSecretKeys, base::lowered(key))) return true;
  const std::vector<std::string> parts = parts_of(key);
  return has_any(parts, kSecretParts) ||
         std::ranges::any_of(kSecretBeside, [&](const Beside& beside) {
           return contains_secret_words(parts, beside.word) && has_any(parts, beside.others);
         });
}

void SecretWords::add(std::string_view name) {
  const std::string word = base::lowered(name);
  if (word.size() < kShortest || std::all_of(word.begin(), word.end(), base::is_digit)) return;
  if (std::find(kHarmless.begin(), kHarmless.end(), word) != kHarmless.end()) return;
  const auto longer = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  };
  const auto at = std::lower_bound(words_.begin(), words_.end(), word, longer);
  if (at == words_.end() || *at != word) words_.insert(at, word);
}

SecretWords::Match SecretWords::find(std::string_view text) const {
  if (words_.empty()) return {text.size(), 0};
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const std::string& word : words_) {
      if (word[0] != base::lowered(text[at]) || !starts_with_at(text, at, word)) continue;
      if (word.size() >= kFoundAnywhere || stands_alone(text, at, word.size())) {
        return {at, word.size()};
      }
    }
  }
  return {text.size(), 0};
}

void SecretWords::add_host(std::string_view host) {
  add(host);
  add(host.substr(0, host.find('.')));
}

// "home/NAME/", "Users/NAME/" and their like, with either kind of slash.
void SecretWords::learn_homes(std::string_view text) {
  for (const std::string_view folder : {"home", "Users", "users"}) {
    for (std::size_t at = text.find(folder); at != std::string_view::npos;
         at = text.find(folder, at + 1)) {
      std::size_t begin = at + folder.size();
      const auto is_slash = [&](std::size_t i) { return text[i] == '/' || text[i] == '\\'; };
      if (at == 0 || !is_slash(at - 1) || begin >= text.size() || !is_slash(begin)) continue;
      while (begin < text.size() && is_slash(begin)) ++begin;
      add(text.substr(begin, text.find_first_of("/\\\"' ,;:()<>\t\n", begin) - begin));
    }
  }
}

// TensorBoard's handler names files "HOST_PID.TIME.pt.trace.json".
void SecretWords::learn_file_name(std::string_view path) {
  learn_homes(path);
  const std::size_t slash = path.find_last_of("/\\");
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t trace = name.find(".pt.trace.json");
  if (trace == std::string_view::npos) return;
  const std::size_t stem_end = std::min(name.rfind('.', trace - 1), trace);
  const std::size_t cut = name.substr(0, stem_end).rfind('_');
  if (cut == std::string_view::npos) return;
  const std::string_view pid = name.substr(cut + 1, stem_end - cut - 1);
  if (!pid.empty() && std::all_of(pid.begin(), pid.end(), base::is_digit)) {
    add_host(name.substr(0, cut));
  }
}

void SecretWords::learn_header(const trace::Header& header) {
  add_host(header.host);
  learn_file_name(header.trace_name);
  for (const auto& [key, json] : header.metadata) {
    const std::string text = base::decode_json(json);
    learn_homes(text);
    if (!names_somebody(key)) continue;
    for (const std::string& each : strings_of(json)) {
      if (each.find_first_of("/\\ ") == std::string::npos) add_host(each);
    }
  }
}

void SecretWords::learn(const trace::Run& run) {
  for (const trace::RankTraces& rank : run.ranks) {
    for (const trace::Window& window : rank.windows) {
      learn_file_name(window.source.path);
      learn_header(window.trace.header());
      const base::StringTable& strings = window.trace.strings();
      for (base::StringId id = 0; id < strings.size(); ++id) learn_homes(strings[id]);
    }
  }
}

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
    // Spaces in a path look like the end of it, so all of the line is one.
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
    // "8080/page" after a host is no ratio.
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
