// Files of peaks, and the errors about them.
#include <gtest/gtest.h>

#include "session/user_files/user_files.h"

namespace stepscope::session {
namespace {

using analysis::Arithmetic;

TEST(PeaksFile, DevicesWithRates) {
  const auto read = parse_peaks(
      "devices:\n"
      "  - match: Accelerator 9\n"
      "    tflops: {bf16: 100.5, fp8: 2e2}\n"
      "    gb_per_second: 1000\n"
      "  - match: H200\n"
      "    gb_per_second: 4500\n",
      "p.yaml");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].match, "Accelerator 9");
  EXPECT_DOUBLE_EQ((*read)[0].peaks[Arithmetic::kBf16], 100.5e12);
  EXPECT_DOUBLE_EQ((*read)[0].peaks[Arithmetic::kFp8], 200e12);
  EXPECT_DOUBLE_EQ((*read)[0].peaks[Arithmetic::kFp64], 0);
  EXPECT_DOUBLE_EQ((*read)[1].peaks.bytes_per_second, 4500e9);
}

TEST(PeaksFile, ErrorsNameThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "p.yaml:1:1: expected 'devices:' with a list of devices"},
      {"devices: 3\n", "p.yaml:1:10: 'devices' takes a list of devices"},
      {"gpus: []\n", "p.yaml:1:1: 'gpus' is not known; expected 'devices'"},
      {"devices:\n  - tflops: {bf16: 1}\n", "p.yaml:2:5: a device needs 'match'"},
      {"devices:\n  - match: X\n", "p.yaml:2:5: a device needs 'tflops' or 'gb_per_second'"},
      {"devices:\n  - match: X\n    tflops: {bf15: 1}\n",
       "p.yaml:3:14: 'bf15' is not a type; there are fp64, "},
      {"devices:\n  - match: X\n    tflops: {bf16: fast}\n",
       "p.yaml:3:20: 'bf16' takes a number above 0"},
      {"devices:\n  - match: X\n    gb_per_second: -1\n",
       "p.yaml:3:20: 'gb_per_second' takes a number above 0"},
      {"devices:\n  - match: X\n    gb_per_second: 1e300\n",
       "p.yaml:3:20: 'gb_per_second' takes a number from 1e-9 to 1e9"},
      {"devices:\n  - match: X\n    tflops: {bf16: 1e-320}\n",
       "p.yaml:3:20: 'bf16' takes a number"},
      {"devices:\n  - match: X\n    speed: 1\n", "p.yaml:3:5: 'speed' is not known; a device has"},
      {"devices:\n  - match: [\n", "p.yaml:2:12: this '[' is never closed"},
      {"devices:\n  - match: X\n    gb_per_second: 1\n    match: Y\n",
       "p.yaml:4:5: 'match' is said twice, first in line 2"},
      {"devices: []\n", "p.yaml:1:1: no devices in it"},
  };
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    const auto read = parse_peaks(text, "p.yaml");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message.substr(0, std::string_view(expected).size()), expected);
  }
}

TEST(PeaksFile, AFileThatIsNotThere) {
  const auto read = read_peaks("no/such/peaks.yaml");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, base::Code::kIo);
  EXPECT_EQ(read.error().message, "no/such/peaks.yaml: No such file or directory");
}

}  // namespace
}  // namespace stepscope::session
