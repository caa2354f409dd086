// Changes with their bounds, and findings' small texts.
#include <gtest/gtest.h>

#include "report/findings/advice.h"
#include "report/writing/numbers.h"

namespace stepscope::report {
namespace {

TEST(ChangeText, AChangeThatIsSurelyOneDoesNotLookLikeNone) {
  EXPECT_EQ(bounded_share_text(-0.021, -0.040, -0.002), "−2.1 % ± 1.9 %");
  EXPECT_EQ(bounded_share_text(-0.021, -0.0415, -0.0005), "−2.10 % ± 2.05 %");
  EXPECT_EQ(bounded_share_text(-0.021, -0.05, 0.008), "−2 % ± 3 %");  // may be none
  EXPECT_EQ(bounded_share_text(0.25, 0.23, 0.27), "+25 % ± 2 %");
  // "+46.2 % ± 46.8 %" reaches below 0; its bounds do not.
  EXPECT_EQ(bounded_share_text(0.462, 0.009, 0.945), "+46.2 %, between +0.9 % and +94.5 %");
  EXPECT_EQ(bounded_share_text(-0.462, -0.945, -0.009), "−46.2 %, between −94.5 % and −0.9 %");
}

TEST(AdviceWords, CountsPerStepAreRead) {
  const auto text = [](double value) {
    return sentence_text({"{} of them", {advice::count(value)}});
  };
  EXPECT_EQ(text(90.7), "91 of them");
  EXPECT_EQ(text(1234.4), "1,234 of them");
  EXPECT_EQ(text(9.97), "10 of them");
  EXPECT_EQ(text(2.33), "2.3 of them");
  EXPECT_EQ(text(2.04), "2 of them");
  EXPECT_EQ(text(0.01), "0.01 of them");
  EXPECT_EQ(text(0), "0 of them");
}

TEST(AdviceWords, KernelsAreToldByWhatTellsThemApart) {
  const std::string_view name =
      "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float>(float*, long)";
  EXPECT_EQ(sentence_text({"{}: slow", {advice::kernel(name)}}),
            "cunn_SoftMaxBackward<4, float>: slow");
  EXPECT_EQ(sentence_text({"{}: slow", {advice::Figure(name)}}), std::string(name) + ": slow");
}

TEST(AdviceWords, AMeasuredShareSaysHowLongThatIs) {
  advice::Measure measure{.name = "idle, of the step", .value = 0.511, .threshold = 0.3};
  EXPECT_EQ(measure_text(measure), "idle, of the step: 51.1 % (threshold 30.0 %)");
  measure.whole_ns = 32.1e6;
  EXPECT_EQ(measure_text(measure),
            "idle, of the step: 51.1 %, 16.4 ms of 32.1 ms (threshold 30.0 %)");
}

TEST(ChangeText, StepsThatWereLeftOutAddUp) {
  EXPECT_EQ(left_out_steps_text(0, 0), "");
  EXPECT_EQ(left_out_steps_text(4, 0), " (4 of warm-up left out)");
  EXPECT_EQ(left_out_steps_text(11, 5),
            " (left out: 11 of warm-up, 5 in trace windows and beside them)");
  EXPECT_EQ(left_out_steps_text(0, 5), " (left out: 5 in trace windows and beside them)");
}

}  // namespace
}  // namespace stepscope::report
