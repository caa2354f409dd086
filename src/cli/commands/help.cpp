// `stepscope help`, and the help of every command, printed from the table of commands.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/nearest_word.h"
#include "cli/command_line.h"
#include "cli/open_run.h"
#include "cli/options/arguments.h"
#include "cli/terminal/console.h"

namespace stepscope::cli {
namespace {

using report::Look;
using report::Style;

constexpr std::string_view kExitStatus =
    "exit status: 0 done, 1 a check failed, 2 wrong usage, 3 input not readable or output not\n"
    "writable, 4 done but data was lost on the way, 130 stopped by Ctrl-C\n";

// Of a command that runs a program.
constexpr std::string_view kExitOfProgram =
    "exit status: that of the program, and its signal where it died of one; 126 it cannot be\n"
    "executed, 127 there is no such program, 2 wrong usage, nothing was started\n";

// Help is read on a terminal of any width, and in files as if that had 80 columns or so.
Look page(const Look& look) {
  constexpr std::size_t kWidest = 92;
  Look narrow = look;
  narrow.width = look.width == 0 ? kWidest : std::min(look.width, kWidest);
  return narrow;
}

std::string spelled(const Option& option) {
  std::string text = option.letter == '\0' ? "    " : fmt::format("-{}, ", option.letter);
  text += fmt::format("--{}", option.name);
  if (!option.value.empty()) text += fmt::format(" {}", option.value);
  return text;
}

std::string options_block(std::string_view title, std::span<const Option> options,
                          const Look& look) {
  if (options.empty()) return {};
  report::TextTable table({{std::string(title)}, {"", report::Align::kLeft, report::Fit::kWrap}});
  for (const Option& option : options) {
    if (option.listed) table.add({spelled(option), std::string(option.help)});
  }
  return table.render(look) + "\n";
}

Exit run_help(const Context& context) {
  const std::vector<std::string>& words = context.arguments.words();
  const Look look = context.console.out_look();
  if (words.empty()) return show_text(context, overview(look));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const Command* command = find_command(word);
    if (command == nullptr) {
      std::vector<std::string_view> names;
      for (const Command* known : commands()) names.push_back(known->name);
      const std::string_view near = base::nearest_word(word, names);
      context.console.error(
          near.empty() ? fmt::format("there is no command '{}'", word)
                       : fmt::format("there is no command '{}'; did you mean '{}'?", word, near));
      return Exit::kUsage;
    }
    // `help analyze kernels` is about kernels.
    const std::span<const std::string> rest = std::span(words).subspan(i + 1);
    const std::string about = help_about(*command, rest, look);
    const Exit shown = show_text(context, about.empty() ? help_for(*command, look) : about);
    if (shown != Exit::kDone || !about.empty()) return shown;
  }
  return Exit::kDone;
}

}  // namespace

std::string version_line() { return "stepscope " STEPSCOPE_VERSION; }

std::string overview(const Look& look) {
  std::string text =
      fmt::format("{}: why a training is slow or runs out of memory, and what to change\n\n",
                  report::styled(version_line(), Style::kStrong, look));
  text += "usage: stepscope COMMAND [options] PATH...\n\n";
  report::TextTable table({{"commands"}, {"", report::Align::kLeft, report::Fit::kWrap}});
  for (const Command* command : commands()) {
    table.add({std::string(command->name), std::string(command->summary)});
  }
  text += table.render(page(look));
  text +=
      "\n`stepscope help COMMAND` shows its options and examples; `--version` prints the "
      "version.\n";
  return text;
}

std::string help_about(const Command& command, std::span<const std::string> words,
                       const Look& look) {
  if (command.help_about == nullptr || words.empty()) return {};
  return command.help_about(words, page(look));
}

std::string help_for(const Command& command, const Look& look) {
  std::string text =
      fmt::format("usage: stepscope {} [options]{}{}\n\n{}\n", command.name,
                  command.arguments.empty() ? "" : " ", command.arguments, command.text);
  text += options_block("options", command.options, page(look));
  text += options_block("general options", general_options(), page(look));
  if (!command.examples.empty()) {
    text +=
        fmt::format("{}\n{}\n", report::styled("examples", Style::kStrong, look), command.examples);
  }
  text += command.takes_program ? kExitOfProgram : kExitStatus;
  text +=
      "\nEvery option can be set by a variable too, and a flag wins: --max-memory is\n"
      "STEPSCOPE_MAX_MEMORY, --no-progress is STEPSCOPE_NO_PROGRESS=1.\n";
  return text;
}

const Command kHelp{
    .name = "help",
    .summary = "the list of commands, or all about one of them",
    .arguments = "[COMMAND]",
    .text = "Shows the list of commands, or what `stepscope COMMAND --help` shows.\n",
    .options = {},
    .examples = "  stepscope help info\n",
    .completes = Completes::kCommands,
    .run = run_help,
};

}  // namespace stepscope::cli
