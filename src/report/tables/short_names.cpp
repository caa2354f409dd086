// Long names cut to a width so that they stay different.
#include "report/tables/short_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

// What nearly every name carries and says nothing; longer ones first.
constexpr std::array kNoise = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"(anonymous namespace)::", ""},
    {"<unnamed>::", ""},
    {"::operator()() const", ""},
    {"at::native::modern::detail::", ""},
    {"at::native::templates::cuda::", ""},
    {"at::native::", ""},
    {"at::cuda::detail::", ""},
    {"at::cuda::", ""},
    {"at::detail::", ""},
    {"cuda_utils::", ""},
    {"c10::", ""},
    {"at::", ""},
    {"std::", ""},
    {" >", ">"},
    {"{lambda()#", "{λ#"},
});

bool continues_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void remove_noise(std::string& name) {
  for (const auto& [noise, instead] : kNoise) {
    for (std::size_t at = 0; (at = name.find(noise, at)) != std::string::npos;) {
      const bool inside_word = at > 0 && continues_word(noise.front()) &&
                               (continues_word(name[at - 1]) || name[at - 1] == ':');
      if (inside_word) {
        ++at;
        continue;
      }
      name.replace(at, noise.size(), instead);
    }
  }
}

// How many pointers an elementwise kernel was given says nothing that its functor does not.
void remove_pointers(std::string& name) {
  constexpr std::string_view kBegin = ", array<char*, ";
  for (std::size_t at = 0; (at = name.find(kBegin, at)) != std::string::npos;) {
    const std::size_t end = name.find_first_not_of("0123456789", at + kBegin.size());
    if (end == std::string::npos || !name.substr(end).starts_with("ul>")) {
      ++at;
      continue;
    }
    name.erase(at, end + 3 - at);
  }
}

// Where the argument list at the end begins, or the size: "f<g()>(int)" → at "(int)".
std::size_t arguments_begin(std::string_view name) {
  std::string_view rest = name;
  for (const std::string_view ending : {" const", " [clone .kd]", ".kd"}) {
    if (rest.ends_with(ending)) rest.remove_suffix(ending.size());
  }
  if (!rest.ends_with(')')) return name.size();
  int depth = 0;
  for (std::size_t i = rest.size(); i-- > 0;) {
    if (rest[i] == ')') ++depth;
    if (rest[i] == '(' && --depth == 0) {
      // A name alone in brackets, or "operator()": nothing would be left of it.
      const bool operators = rest.substr(0, i).ends_with("operator");
      return i == 0 || rest[i - 1] == ' ' || operators ? name.size() : i;
    }
  }
  return name.size();
}

// "void f<int>": the return type ends at the last space outside all brackets.
std::string_view without_return_type(std::string_view name) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return name.substr(begin);
}

// HIP leaves names as the compiler made them: "_ZN7ck_tile6kentryILi1E…".
std::string demangled(std::string_view name) {
  std::string text(name);
  if (!name.starts_with("_Z")) return text;
  if (name.ends_with(".kd")) text.resize(text.size() - 3);
  int status = 0;
  char* readable = abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status);
  if (readable == nullptr) return std::string(name);
  text = readable;
  std::free(readable);
  return text;
}

bool is_signature(std::string_view name) {
  if (name.starts_with("void ")) return true;
  // "ncclDevKernel_AllReduce(ncclDevKernelArgsStorage<4096ul>)", but not "enumerate(loader)".
  const std::string_view arguments = name.substr(arguments_begin(name));
  return arguments.find_first_of("*&<") != std::string_view::npos;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto [end, other] = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(end - a.begin());
}

// Back to where a word or a character begins, but not further than a few steps.
std::size_t word_begin(std::string_view text, std::size_t at) {
  constexpr std::size_t kFurthest = 12;
  std::size_t begin = at;
  while (begin > 0 && at - begin < kFurthest && continues_word(text[begin - 1])) --begin;
  if (at - begin == kFurthest) begin = at;
  // A name may be the beginning of another: then it ends where they part.
  while (begin > 0 && begin < text.size() &&
         (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80)
    --begin;
  return begin;
}

// The first word before `begin` from which on all fits; `begin` itself where none does.
std::size_t tail_begin(std::string_view name, std::size_t begin, std::size_t room) {
  std::size_t found = begin;
  for (std::size_t at = begin; at-- > 0;) {
    if (text_width(name.substr(at)) > room) break;
    const bool within_character = (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80;
    if (within_character || name[at] == ' ') continue;
    if (at == 0 || !continues_word(name[at - 1])) found = at;
  }
  return found;
}

// The beginning, an ellipsis, and what follows `differs`, as far as it fits. What stands before it
// says more than a long beginning, which such names share: the functor of an elementwise kernel.
std::string around(std::string_view name, std::size_t differs, std::size_t width) {
  const std::size_t least_head = width * 2 / 5;
  const std::size_t begin = tail_begin(name, word_begin(name, differs), width - least_head);
  const std::size_t tail = text_width(name.substr(begin));
  const std::size_t head_width = tail < width ? std::max(least_head, width - tail) : least_head;
  if (text_width(name.substr(0, begin)) <= head_width) return cut_end(name, width);
  const std::string head = cut_end(name, head_width);  // ends with the ellipsis
  return head + cut_end(name.substr(begin), width - text_width(head));
}

// Kernels of NCCL, CUTLASS and cuBLAS: words with underscores between, of which the last tell the
// algorithm, the tile and the layout.
bool ends_with_what_differs(std::string_view name) {
  constexpr std::size_t kFewWords = 4;
  const std::size_t template_begin = name.find('<');
  std::string_view words = name;
  if (template_begin != std::string_view::npos && name.ends_with('>')) {
    words = name.substr(template_begin + 1, name.size() - template_begin - 2);
  }
  return std::ranges::all_of(words, continues_word) &&
         static_cast<std::size_t>(std::ranges::count(words, '_')) >= kFewWords;
}

// "ncclDevK…_Sum_bf16_RING_LL": the end whole, from an underscore on.
std::string cut_before_end(std::string_view name, std::size_t width) {
  constexpr std::size_t kLeastHead = 4;
  constexpr std::size_t kLongestWord = 10;
  const std::size_t head_width = width / 3;
  if (head_width < kLeastHead || name.size() <= width) return cut_end(name, width);
  const std::size_t begin = name.size() - (width - head_width - 1);
  const std::size_t word = name.find('_', begin);
  const std::size_t tail = word < begin + kLongestWord && word + 1 < name.size() ? word : begin;
  const std::size_t head = width - 1 - (name.size() - tail);
  return fmt::format("{}…{}", name.substr(0, head), name.substr(tail));
}

std::string cut_name(std::string_view name, std::size_t width) {
  return ends_with_what_differs(name) ? cut_before_end(name, width) : cut_end(name, width);
}

// The same as around(), and the last word where it says something: "ampere…128x64_ldg8…_nn".
std::string around_and_end(std::string_view name, std::size_t differs, std::size_t width) {
  const std::size_t end = name.rfind('_');
  if (!ends_with_what_differs(name) || end == name.npos || differs >= end ||
      (name.size() - end) * 3 > width) {
    return around(name, differs, width);
  }
  const std::string_view last = name.substr(end);
  return around(name.substr(0, end), differs, width - last.size()) + std::string(last);
}

class Shortener {
 public:
  Shortener(std::vector<std::string> names, std::size_t width)
      : names_(std::move(names)), width_(width), shorts_(names_.size()) {
    std::vector<std::size_t> all(names_.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = i;
      shorts_[i] = cut_name(names_[i], width);
    }
    separate(all, 0);
    number_the_rest();
  }
  std::vector<std::string> take() && { return std::move(shorts_); }

 private:
  // Names whose short forms agree show the place where they part; those that still agree part
  // further on.
  void separate(const std::vector<std::size_t>& members, std::size_t seen) {
    std::map<std::string, std::vector<std::size_t>> same;
    for (const std::size_t i : members) same[shorts_[i]].push_back(i);
    for (const auto& [text, group] : same) {
      if (group.size() < 2) continue;
      std::size_t shared = names_[group.front()].size();
      for (const std::size_t i : group) {
        shared = std::min(shared, common_prefix(names_[group.front()], names_[i]));
      }
      if (shared < seen) continue;
      for (const std::size_t i : group) shorts_[i] = around_and_end(names_[i], shared, width_);
      separate(group, shared + 1);
    }
  }

  // What still agrees by chance shows where it parts from its double; where the width is too small
  // for any difference, count.
  void number_the_rest() {
    std::map<std::string, std::size_t> used;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      auto [at, is_new] = used.emplace(shorts_[i], i);
      if (is_new) continue;
      const std::string text = shorts_[i];
      shorts_[i] = around(names_[i], common_prefix(names_[i], names_[at->second]), width_);
      for (std::size_t n = 2; !used.emplace(shorts_[i], i).second; ++n) {
        const std::string mark = fmt::format("#{}", n);
        if (width_ <= mark.size()) break;
        shorts_[i] = cut_end(text, width_ - mark.size()) + mark;
      }
    }
  }

  std::vector<std::string> names_;
  std::size_t width_;
  std::vector<std::string> shorts_;
};

}  // namespace

std::string plain_name(std::string_view given) {
  // "f(int) and 2 more": of several, the first was named.
  constexpr std::string_view kMore = " more";
  const std::size_t others = given.rfind(" and ");
  if (given.ends_with(kMore) && others != std::string_view::npos && others > 0) {
    const std::string_view count =
        given.substr(others + 5, given.size() - kMore.size() - others - 5);
    const bool counts = !count.empty() && count.find_first_not_of("0123456789,") == count.npos;
    if (counts) return plain_name(given.substr(0, others)) + std::string(given.substr(others));
  }
  const std::string readable = demangled(given);
  const std::string_view name = readable;
  std::string text(name);
  if (is_signature(name)) {
    text = without_return_type(name.substr(0, arguments_begin(name)));
  }
  remove_noise(text);
  remove_pointers(text);
  return text.empty() ? std::string(given) : text;
}

std::vector<std::string> short_names(std::span<const std::string_view> names, std::size_t width) {
  // Each different name once; equal names get equal texts.
  std::map<std::string_view, std::size_t> index;
  std::vector<std::string_view> distinct;
  for (const std::string_view name : names) {
    if (index.emplace(name, distinct.size()).second) distinct.push_back(name);
  }
  std::map<std::string, std::vector<std::size_t>> by_plain;
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    by_plain[plain_name(distinct[i])].push_back(i);
  }
  std::vector<std::string> texts(distinct.size());
  for (const auto& [plain, members] : by_plain) {
    for (const std::size_t i : members) {
      // Overloads differ in what was dropped: they keep it.
      texts[i] = printable(members.size() == 1 ? std::string_view(plain) : distinct[i]);
    }
  }
  if (width > 0) texts = Shortener(std::move(texts), width).take();
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const std::string_view name : names) result.push_back(texts[index.at(name)]);
  return result;
}

}  // namespace stepscope::report
