#include "ingest/scope/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::ingest::scope {
namespace {

TEST(ModelFile, IsReadAsItWasWritten) {
  const auto model = parse_model(R"({"schema":"stepscope.model/1","counted_by":"stepscope",
    "name":"Net","parameters":12,"trainable":10,"parameter_bytes":48,"buffer_bytes":8,
    "mult_adds":100,"uncounted":1,"input_bytes":64,"output_bytes":32,"layers":[
    {"name":"","type":"Net","depth":0,"calls":1,"parameters":12,"trainable":10,
     "parameter_bytes":48,"mult_adds":100},
    {"name":"a","type":"Linear","depth":1,"calls":2,"parameters":12,"trainable":10,
     "parameter_bytes":48,"mult_adds":100,"input":[8,3],"output":[8,4],"output_bytes":128}]})");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->name, "Net");
  EXPECT_EQ(model->mult_adds, 100);
  ASSERT_EQ(model->layers.size(), 2U);
  EXPECT_EQ(model->layers[1].output, "[8, 4]");
  EXPECT_EQ(model->layers[1].calls, 2);
  EXPECT_TRUE(model->layers[0].input.empty());
}

TEST(ModelFile, WhatIsOddIsLeftOut) {
  const auto model = parse_model(R"({"schema":"stepscope.model/1","parameters":-5,
    "mult_adds":18446744073709551615,"layers":[{"name":7,"input":["x"],"mult_adds":1.5}]})");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->parameters, 0);
  EXPECT_FALSE(model->mult_adds);
  EXPECT_EQ(model->layers[0].name, "");
  EXPECT_EQ(model->layers[0].input, "");
  EXPECT_FALSE(model->layers[0].mult_adds);
}

TEST(ModelFile, OthersAreRefused) {
  EXPECT_THAT(parse_model("[]").error().message, testing::HasSubstr("not a JSON object"));
  EXPECT_THAT(parse_model("{\"schema\":\"x\"}").error().message, testing::HasSubstr("schema"));
  EXPECT_THAT(parse_model(R"({"schema":"stepscope.model/1"})").error().message,
              testing::HasSubstr("no layers"));
  EXPECT_THAT(parse_model(R"({"schema":"stepscope.model/1","layers":[1]})").error().message,
              testing::HasSubstr("not an object"));
  EXPECT_FALSE(parse_model("{"));
}

}  // namespace
}  // namespace stepscope::ingest::scope
