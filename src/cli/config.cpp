#include <array>
#include <string>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/open_run.h"
#include "session/config/config_file.h"
#include "session/config/config_json.h"
#include "session/config/config_text.h"
#include "session/config/recording_plan.h"

namespace stepscope::cli {
namespace {

constexpr std::array kOptions = std::to_array<Option>({
    {.name = "schema", .help = "print the JSON Schema of the file instead, for editors"},
});

base::Result<std::string> text_for(const Arguments& arguments) {
  const bool has_file = !arguments.words().empty();
  if (arguments.words().size() > 1 || (has_file && arguments.has("schema"))) {
    return base::fail(base::Code::kInvalidArgument, "one FILE or --schema, not both");
  }
  if (arguments.has("schema")) return session::config_schema();
  if (!has_file) return session::commented_config();
  SCOPE_TRY(const session::Config config, session::read_config(arguments.words().front()));
  return session::plan_json(config);
}

Exit run_config(const Context& context) {
  const auto text = text_for(context.arguments);
  if (!text) return show_error(context, text.error());
  const base::Status written = context.console.write(*text);
  return written ? Exit::kDone : show_error(context, written.error());
}

}  // namespace

const Command kConfig{
    .name = "config",
    .summary = "print a settings file with every key explained, or check one",
    .arguments = "[FILE]",
    .text =
        R"(Prints the settings of `stepscope run --config` and of stepscope.profile(config=...) as a YAML
file: every key with its meaning and its default, ready to be changed.

With FILE, checks it: says with line and column what is wrong, or prints as JSON what would be
recorded.
)",
    .options = kOptions,
    .examples = R"(  stepscope config > stepscope.yaml
  stepscope config stepscope.yaml
  stepscope config --schema > stepscope.schema.json
)",
    .completes = Completes::kFiles,
    .run = run_config,
};

}  // namespace stepscope::cli
