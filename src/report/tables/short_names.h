// Long names made to fit a column so that different names still look different. Kernels are C++
// templates whose first hundred characters agree: the part that tells them apart has to survive.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::report {

// "void at::native::reduce<512, float>(int, float*)" → "reduce<512, float>": without the return
// type, the argument list, well-known namespaces and what compilers write around lambdas.
std::string plain_name(std::string_view name);

// One per name, in order, at most `width` columns each (0: unlimited). Different names give
// different texts as long as the width allows it.
std::vector<std::string> short_names(std::span<const std::string_view> names, std::size_t width);

}  // namespace stepscope::report
