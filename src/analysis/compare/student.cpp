// Student's distribution, as Boost computes it; the only file that includes it, for it is large.
#include "analysis/compare/student.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>

namespace stepscope::analysis {
namespace {

namespace policies = boost::math::policies;

// In doubles, so that every machine gives the same; what is not a number stays none, unthrown.
using Policy = policies::policy<policies::promote_double<false>,
                                policies::domain_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>>;
using Student = boost::math::students_t_distribution<double, Policy>;

}  // namespace

double student_tail(double t, double freedom) {
  return cdf(boost::math::complement(Student(freedom), t));
}

double student_quantile(double tail, double freedom) {
  return quantile(boost::math::complement(Student(std::max(1.0, freedom)), tail));
}

}  // namespace stepscope::analysis
