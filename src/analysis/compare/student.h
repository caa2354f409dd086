// Tails and quantiles of Student's distribution.
#pragma once

namespace stepscope::analysis {

// How likely a variable with so many degrees of freedom (above 0; need not be whole, may be
// infinite) exceeds `t`, which may be negative.
double student_tail(double t, double freedom);

// The value that a variable with so many degrees of freedom (1 or more; need not be whole, may be
// infinite) exceeds with probability `tail`, which is above 0 and below one half.
double student_quantile(double tail, double freedom);

}  // namespace stepscope::analysis
