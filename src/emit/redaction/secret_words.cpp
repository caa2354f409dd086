#include "emit/redaction/secret_words.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"
#include "base/json_string.h"

namespace stepscope::emit {
namespace {

// Whole keys, since their words alone say little.
constexpr std::array kSecretKeys =
    std::to_array<std::string_view>({"domain", "kernel_file", "worker_name"});

// Keys of which one of these is a word name somebody or some place, too: "master-host",
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

// Accounts and hosts that many people have, and words of the format itself: hiding them hides
// nobody and would break names that readers depend on.
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

}  // namespace stepscope::emit
