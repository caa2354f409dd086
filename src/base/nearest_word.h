// The word that was probably meant.
#pragma once

#include <span>
#include <string_view>

namespace stepscope::base {

// The nearest of the words by edit distance, a swap of neighbours counting once; empty when none is
// near enough to be what was meant.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words);

}  // namespace stepscope::base
