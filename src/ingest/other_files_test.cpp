#include "ingest/other_files.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace stepscope::ingest {
namespace {

using std::string_view_literals::operator""sv;

TEST(OtherFiles, AreNamedByTheirFirstBytes) {
  std::string tar(512, '\0');
  tar.replace(0, 10, "trace.json");
  tar.replace(257, 5, "ustar");
  struct Case {
    std::string_view bytes, what;
  };
  for (const Case& of : {
           Case{"PK\x03\x04rest"sv, "a zip archive"},
           Case{"\xfd\x37zXZ\0rest"sv, "compressed with xz"},
           Case{"BZh91AY"sv, "compressed with bzip2"},
           Case{"\x1f\x8b\x08\0"sv, "compressed twice, gzip inside"},
           Case{"\xff\xfe{\0"sv, "UTF-16 text"},
           Case{"{\0\"\0"sv, "UTF-16 text"},
           Case{"\n <!DOCTYPE html><html>"sv, "a page of HTML"},
           Case{"<HTML>"sv, "a page of HTML"},
           Case{"version https://git-lfs.github.com/spec/v1\noid sha256:00"sv,
                "a pointer of Git LFS"},
           Case{tar, "a tar archive"},
           Case{"\n\x09\x12\x07/host:0\n\x01"
                "f"sv,
                "a profile of TensorFlow or JAX"},
           Case{"\n\x03"
                "abc"
                "\n\x02"
                "de"
                "\n\x01"
                "f"sv,
                "a trace in Perfetto's own format"},
           Case{"\n\x03"
                "abc"sv,
                "a trace in Perfetto's own format"},
           Case{"{\"rank\":0,\"window\":0,\"header\":{}}\n"sv,
                "written by `stepscope export --to jsonl`"},
           Case{"{\n \"schema\": \"stepscope.rank/1\""sv, "a part of a recording (stepscope.rank)"},
           Case{"{\"schema\": \"stepscope.lines/1\""sv, "a part of a recording (stepscope.lines)"},
           Case{"{\"schema\":\"stepscope.report/1\""sv,
                "an answer of stepscope (stepscope.report)"},
       }) {
    EXPECT_TRUE(other_file(of.bytes).starts_with(of.what)) << other_file(of.bytes);
  }
  for (const std::string_view bytes :
       {""sv, "{"sv, "[{\"ph\":\"X\"}]"sv, "\x80\x04"sv, "\xef\xbb\xbf{"sv, "version"sv, "B"sv,
        "\n{\"traceEvents\":[],\"host\":\"/host:\"}"sv, "\n\n\n\n"sv, "\n"sv,
        "{\"schema\":\"mine\"}"sv, "{\"rank\":0,\"traceEvents\":[]}"sv}) {
    EXPECT_EQ(other_file(bytes), "");
  }
}

}  // namespace
}  // namespace stepscope::ingest
