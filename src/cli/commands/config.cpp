// `stepscope config`: checks a settings file, prints its schema or the commented default.
#include <array>
#include <string>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/arguments.h"
#include "cli/terminal/console.h"
#include "session/config/config_file.h"
#include "session/config/recording_plan.h"

namespace stepscope::cli {
namespace {

constexpr std::array kConfigOptions = std::to_array<Option>({
    {.name = "schema", .help = "print the JSON Schema of the file instead, for editors"},
});

// Settings that are the command's own, and so are not handed on to what records.
std::string of_the_command(const session::Config& config) {
  std::string text;
  for (const std::string_view name : {"report", "stage"}) {
    if (const auto value = config.given<bool>(name)) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, *value);
    }
  }
  return text;
}

// Beside the JSON, which of a file that changes nothing is `{}`.
void say_valid(const Context& context, const std::string& path, const session::Config& config,
               bool is_as_without) {
  const std::string own = of_the_command(config);
  std::string what = own.empty() ? "" : fmt::format("; of the command itself: {}", own);
  context.console.note(
      is_as_without && own.empty()
          ? fmt::format("{} is valid: every setting is at its default; `stepscope config` prints "
                        "them",
                        path)
          : fmt::format("{} is valid{}; what it leaves out is at its default", path, what));
}

base::Result<std::string> text_for(const Context& context) {
  const Arguments& arguments = context.arguments;
  const bool has_file = !arguments.words().empty();
  if (arguments.words().size() > 1 || (has_file && arguments.has_option("schema"))) {
    return base::fail(base::Code::kInvalidArgument, "one FILE or --schema, not both");
  }
  if (arguments.has_option("schema")) return session::config_schema();
  if (!has_file) return session::commented_config();
  const std::string& path = arguments.words().front();
  SCOPE_TRY(const session::Config config, session::read_config(path));
  std::string plan = session::plan_json(config);
  say_valid(context, path, config, plan == "{}\n");
  return plan;
}

Exit run_config(const Context& context) {
  const auto text = text_for(context);
  if (!text && text.error().code == base::Code::kFormat) {
    context.console.errors(text.error().message);
    return Exit::kNotReadable;
  }
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
    .options = kConfigOptions,
    .examples = R"(  stepscope config > stepscope.yaml
  stepscope config stepscope.yaml
  stepscope config --schema > stepscope.schema.json
)",
    .completes = Completes::kFiles,
    .run = run_config,
};

}  // namespace stepscope::cli
