#include "emit/redaction/path_text.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

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

}  // namespace stepscope::emit
