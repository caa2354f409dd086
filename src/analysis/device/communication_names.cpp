// Tells kernels that communicate by what they are called. A name says it in its namespace or in the
// function itself, never in template arguments or parameters: those hold what it works on.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device/classes.h"
#include "base/ascii.h"

namespace stepscope::analysis {
namespace {

enum class SignPlace : std::uint8_t {
  kBegins,     // a namespace or the function begins so
  kNamespace,  // one of the namespaces is called so
  kFunction,   // the function begins so
  kHolds,      // the function or a namespace holds it
};

// In lower case and without underscores, as names are compared.
struct CommunicationSign {
  std::string_view text;
  SignPlace where;
};

constexpr std::array kCommunicationSigns = std::to_array<CommunicationSign>({
    // Libraries: NCCL and its kin, MSCCL++, oneCCL, HCCL, NVSHMEM, rocSHMEM.
    {"nccl", SignPlace::kBegins},
    {"rccl", SignPlace::kBegins},
    {"msccl", SignPlace::kBegins},
    {"oneccl", SignPlace::kBegins},
    {"hccl", SignPlace::kBegins},
    {"hcom", SignPlace::kBegins},
    {"xccl", SignPlace::kBegins},
    {"nvshmem", SignPlace::kBegins},
    {"rocshmem", SignPlace::kBegins},
    // Experts on other ranks: DeepEP and its forks, hybrid-EP, MORI, TensorRT-LLM, FlashInfer.
    // "dispatch" and "combine" alone say nothing: attention combines its splits, too.
    {"deepep", SignPlace::kBegins},
    {"hybridep", SignPlace::kBegins},
    {"intranode", SignPlace::kNamespace},
    {"internode", SignPlace::kNamespace},
    {"internodell", SignPlace::kNamespace},
    {"mori", SignPlace::kNamespace},
    {"moecomm", SignPlace::kNamespace},
    {"epdispatch", SignPlace::kFunction},
    {"epcombine", SignPlace::kFunction},
    {"moea2a", SignPlace::kFunction},
    {"notifydispatch", SignPlace::kHolds},
    {"notifycombine", SignPlace::kHolds},
    // Symmetric memory, within torch and without.
    {"symmetricmemory", SignPlace::kNamespace},
    {"intranodecomm", SignPlace::kNamespace},
    {"multimem", SignPlace::kHolds},
    {"putsignalkernel", SignPlace::kHolds},
    {"waitsignalkernel", SignPlace::kHolds},
    {"barrierkernel", SignPlace::kFunction},
    {"exchangesplitandoffset", SignPlace::kFunction},
    // Reductions between devices that vLLM, SGLang, AITER, TensorRT-LLM and FlashInfer bring along.
    {"crossdevice", SignPlace::kHolds},
    {"quickreduce", SignPlace::kHolds},
    {"lamport", SignPlace::kHolds},
    {"arfusion", SignPlace::kNamespace},
    {"userbuffers", SignPlace::kHolds},
    // A function that is called after a collective is one.
    {"allreduce", SignPlace::kHolds},
    {"allgather", SignPlace::kHolds},
    {"reducescatter", SignPlace::kHolds},
    {"alltoall", SignPlace::kHolds},
    // Of what wrote traces before it called its kernels anything else.
    {"collective", SignPlace::kFunction},
});

// A product that communicates besides is a product, and a reduction may be one of a warp or a
// block.
constexpr std::array<std::string_view, 5> kNoCommunication = {"gemm", "matmul", "warpallreduce",
                                                              "blockallreduce", "collectivemma"};

// Compilers name arithmetic after the operators around it: "triton_poi_fused_all_reduce_0" of
// inductor, "input_reduce_scatter_fusion_3" of XLA.
bool is_made_by_compiler(std::string_view function) {
  while (!function.empty() && base::is_digit(function.back())) function.remove_suffix(1);
  return function.starts_with("triton") || function.ends_with("fusion");
}

std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_') out += base::lowered(c);
  }
  return out;
}

// "_ZN7deep_ep9intranode8dispatchILi8EEEvPi": lengths and names, up to the template arguments.
std::vector<std::string> mangled_path(std::string_view name) {
  std::vector<std::string> path;
  name.remove_prefix(2);
  while (!name.empty()) {
    // What is nested, const or local stands before a name.
    if (std::string_view("NKVRL").find(name.front()) != std::string_view::npos) {
      name.remove_prefix(1);
      continue;
    }
    std::size_t length = 0;
    std::size_t digits = 0;
    while (digits < name.size() && base::is_digit(name[digits])) {
      length = std::min<std::size_t>(length * 10 + static_cast<std::size_t>(name[digits] - '0'),
                                     name.size());
      ++digits;
    }
    if (digits == 0) break;
    path.push_back(plain_name(name.substr(digits, length)));
    name.remove_prefix(std::min(digits + length, name.size()));
  }
  return path;
}

// "void a::b<int>::c<8>(int*)": what stands outside of all brackets, after the return type and
// before the parameters.
std::vector<std::string> written_path(std::string_view name) {
  constexpr std::array<std::string_view, 2> kUnnamed = {"(anonymous namespace)", "<unnamed>"};
  std::vector<std::string> path;
  std::size_t begin = 0;
  int depth = 0;
  const auto add = [&](std::size_t end) {
    std::string_view part = name.substr(begin, end - begin);
    part = part.substr(0, part.find('<'));
    path.push_back(plain_name(part));
  };
  std::size_t at = 0;
  for (; at < name.size(); ++at) {
    const auto* const unnamed = std::ranges::find_if(
        kUnnamed, [&](std::string_view one) { return name.substr(at).starts_with(one); });
    if (depth == 0 && unnamed != kUnnamed.end()) {
      at += unnamed->size() - 1;
      begin = at + 1;
      continue;
    }
    const char c = name[at];
    if (c == '(' && depth == 0) break;
    if (c == '<' || c == '(' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == '}') && depth > 0) --depth;
    if (depth > 0) continue;
    if (c == ' ') {  // the return type stands before it
      path.clear();
      begin = at + 1;
    } else if (c == ':' && name.substr(at).starts_with("::")) {
      add(at);
      begin = ++at + 1;
    }
  }
  add(at);
  return path;
}

bool is_said_by(const CommunicationSign& sign, const std::vector<std::string>& path) {
  const auto any = [&](auto matches) { return std::ranges::any_of(path, matches); };
  switch (sign.where) {
    case SignPlace::kBegins:
      return any([&](const std::string& part) { return part.starts_with(sign.text); });
    case SignPlace::kNamespace:
      return std::find(path.begin(), path.end() - 1, sign.text) != path.end() - 1;
    case SignPlace::kFunction:
      return path.back().starts_with(sign.text);
    case SignPlace::kHolds:
      return any(
          [&](const std::string& part) { return part.find(sign.text) != std::string::npos; });
  }
  return false;
}

}  // namespace

bool names_communication_kernel(std::string_view kernel) {
  const std::vector<std::string> path =
      kernel.starts_with("_Z") ? mangled_path(kernel) : written_path(kernel);
  if (path.empty()) return false;
  const auto said = std::ranges::find_if(
      kCommunicationSigns, [&](const CommunicationSign& sign) { return is_said_by(sign, path); });
  if (said == kCommunicationSigns.end()) return false;
  // A library's own kernels are named by it alone.
  if (said->where == SignPlace::kBegins || said->where == SignPlace::kNamespace) return true;
  return !is_made_by_compiler(path.back()) &&
         std::ranges::none_of(kNoCommunication, [&](std::string_view other) {
           return path.back().find(other) != std::string::npos;
         });
}

}  // namespace stepscope::analysis
