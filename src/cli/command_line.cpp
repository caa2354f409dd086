// Runs a command line: finds the command, parses its options, prints help and turns errors into
// exit statuses.
#include "cli/command_line.h"

#include <sys/stat.h>

#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/nearest_word.h"
#include "cli/command.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "session/analyze.h"

namespace stepscope::cli {
namespace {

constexpr Option kVersion{.name = "version", .letter = 'V', .help = "print the version"};

bool exists(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0;
}

Exit wrong_usage(Console& console, std::string_view message, std::string_view hint) {
  console.error(message);
  if (!hint.empty()) console.hint(hint);
  return Exit::kUsage;
}

Exit written_command_line(Console& console, std::string_view text) {
  const base::Status status = console.write(text);
  if (status) return Exit::kDone;
  console.error(status.error().message);
  return Exit::kNotReadable;
}

Exit unknown_command(Console& console, const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) names.push_back(command->name);
  std::string message = fmt::format("there is no command '{}'", word);
  if (analysis::find_analysis(word) != nullptr) {
    return wrong_usage(console, message, fmt::format("stepscope analyze {} PATH...", word));
  }
  if (const std::string_view near = base::nearest_word(word, names); !near.empty())
    return wrong_usage(console, message + fmt::format("; did you mean '{}'?", near), "");
  if (exists(word)) return wrong_usage(console, message, fmt::format("stepscope report {}", word));
  return wrong_usage(console, message, "`stepscope help` lists them");
}

Exit run_command(const Command& command, std::span<const std::string> words,
                 std::span<const std::string> before, Interrupt& interrupt) {
  // Options before the command and after it are the same to the user.
  std::vector<std::string> all(before.begin(), before.end());
  all.insert(all.end(), words.begin(), words.end());
  const auto arguments = parse(all, command.options, general_options(), process_environment,
                               {.stop_at_word = command.takes_program});
  Console plain{Settings{}};
  const std::string more = fmt::format("`stepscope {} --help` shows the options", command.name);
  if (!arguments) return wrong_usage(plain, arguments.error().message, more);
  const auto settings = settings_from(*arguments, process_environment);
  if (!settings) return wrong_usage(plain, settings.error().message, more);

  Console console(*settings);
  interrupt.set_last_words([&console] { console.erase_progress(); });
  Exit status = Exit::kDone;
  if (arguments->has_option("help")) {
    const std::string about = help_about(command, arguments->words(), console.out_look());
    status = written_command_line(console,
                                  about.empty() ? help_for(command, console.out_look()) : about);
  } else {
    status = command.run({*arguments, *settings, console, interrupt});
  }
  interrupt.set_last_words({});
  return status;
}

Exit run_words(std::span<const std::string> words) {
  const Option own[] = {kVersion};
  const auto leading =
      parse(words, own, general_options(), process_environment, {.stop_at_word = true});
  const bool has_command = leading && !leading->words().empty();
  const Command* command = has_command ? find_command(leading->words().front()) : nullptr;
  Interrupt interrupt(command == nullptr || !command->takes_program);
  const NoMemory no_memory(interrupt);
  Console console{Settings{}};
  if (!leading)
    return wrong_usage(console, leading.error().message, "`stepscope help` shows the commands");
  if (leading->has_option("version")) {
    return written_command_line(console, version_line() + "\n");
  }
  const std::vector<std::string>& rest = leading->words();
  if (rest.empty()) {
    if (leading->has_option("help")) {
      return written_command_line(console, overview(console.out_look()));
    }
    return wrong_usage(console, "no command given", "`stepscope help` lists them");
  }
  // No command, but many programs have it.
  if (rest.front() == "version") return written_command_line(console, version_line() + "\n");
  if (command == nullptr) return unknown_command(console, rest.front());
  const std::span<const std::string> before = words.first(words.size() - rest.size());
  return run_command(*command, std::span(rest).subspan(1), before, interrupt);
}

}  // namespace

int run_command_line(std::span<const std::string> words) {
  return static_cast<int>(run_words(words));
}

}  // namespace stepscope::cli
