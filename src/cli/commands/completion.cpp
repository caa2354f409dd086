// Scripts that complete commands, options and their values in a shell, printed from the table of
// commands so that they are never out of date.
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/options/arguments.h"
#include "cli/terminal/console.h"
#include "session/analyze.h"

namespace stepscope::cli {
namespace {

constexpr std::array<std::string_view, 3> kShells = {"bash", "zsh", "fish"};

std::vector<const Option*> options_of(const Command& command) {
  std::vector<const Option*> options;
  for (const Option& option : command.options) options.push_back(&option);
  for (const Option& option : general_options()) options.push_back(&option);
  return options;
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words)
    text += fmt::format("{}{}", text.empty() ? "" : " ", word);
  return text;
}

std::string command_names() {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) names.push_back(command->name);
  return joined(names);
}

std::string analysis_names() {
  std::vector<std::string_view> names;
  for (const analysis::Analysis* analysis : analysis::analyses()) names.push_back(analysis->name);
  return joined(names);
}

// The help as one word of a shell: no quote may end it early.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result += '\'';
}

std::string words_for(Completes completes) {
  if (completes == Completes::kCommands) return command_names();
  if (completes == Completes::kShells) return joined(kShells);
  if (completes == Completes::kAnalyses) return analysis_names();
  return {};
}

std::string bash_flags(const Command& command) {
  std::string flags;
  for (const Option* option : options_of(command)) {
    flags += fmt::format("{}--{}", flags.empty() ? "" : " ", option->name);
    if (option->letter != '\0') flags += fmt::format(" -{}", option->letter);
  }
  return flags;
}

// What follows an option that has a value.
std::string bash_values(const Command& command) {
  std::string cases;
  for (const Option* option : options_of(command)) {
    if (option->value.empty()) continue;
    std::string pattern = fmt::format("--{}", option->name);
    if (option->letter != '\0') pattern += fmt::format("|-{}", option->letter);
    const std::string reply =
        !option->choices.empty()
            ? fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", joined(option->choices))
        : option->completes == Completes::kFiles ? "COMPREPLY=($(compgen -f -- \"$word\"))"
                                                 : "COMPREPLY=()";
    cases += fmt::format("        {}) {}; return ;;\n", pattern, reply);
  }
  return cases;
}

std::string bash_script() {
  std::string script = fmt::format(
      R"(# Completion of stepscope for bash: source <(stepscope completion bash)
_stepscope() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} != -* ]] && {{ command="${{COMP_WORDS[i]}}"; break; }}
  done
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case "$command" in
)",
      command_names());
  for (const Command* command : commands()) {
    script += fmt::format("    {})\n      case \"$before\" in\n{}      esac\n", command->name,
                          bash_values(*command));
    script += fmt::format(
        "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$word\")); return; "
        "fi\n",
        bash_flags(*command));
    const std::string words = words_for(command->completes);
    const bool files = words.empty() || command->completes == Completes::kAnalyses;
    script +=
        fmt::format("      COMPREPLY=({}{}{}) ;;\n",
                    words.empty() ? "" : fmt::format("$(compgen -W '{}' -- \"$word\")", words),
                    files && !words.empty() ? " " : "", files ? "$(compgen -f -- \"$word\")" : "");
  }
  return script + "  esac\n}\ncomplete -o filenames -F _stepscope stepscope\n";
}

// Brackets and colons have a meaning in zsh's descriptions.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_option(const Option& option) {
  std::string action;
  if (!option.value.empty()) {
    const std::string values = !option.choices.empty() ? fmt::format("({})", joined(option.choices))
                               : option.completes == Completes::kFiles ? "_files"
                                                                       : " ";
    action = fmt::format(":{}:{}", option.value, values);
  }
  const std::string_view equals = option.value.empty() ? "" : "=";
  std::string text = fmt::format(
      "      {} \\\n",
      in_quotes(fmt::format("--{}{}[{}]{}", option.name, equals, zsh_text(option.help), action)));
  if (option.letter != '\0') {
    text += fmt::format("      {} \\\n", in_quotes(fmt::format("-{}[{}]{}", option.letter,
                                                               zsh_text(option.help), action)));
  }
  return text;
}

std::string zsh_script() {
  std::string script =
      "#compdef stepscope\n"
      "# Completion of stepscope for zsh: stepscope completion zsh > a folder of "
      "$fpath/_stepscope\n"
      "_stepscope() {\n"
      "  local -a commands=(\n";
  for (const Command* command : commands()) {
    script += fmt::format(
        "    {}\n", in_quotes(fmt::format("{}:{}", command->name, zsh_text(command->summary))));
  }
  script +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=${words[2]}\n"
      "  shift words; (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const Command* command : commands()) {
    script += fmt::format("    {})\n      _arguments \\\n", command->name);
    for (const Option* option : options_of(*command)) script += zsh_option(*option);
    const std::string words = words_for(command->completes);
    const bool then_files = command->completes == Completes::kAnalyses;
    script += words.empty() ? "      '*:path:_files' ;;\n"
              : then_files  ? fmt::format("      '1:analysis:({})' '*:path:_files' ;;\n", words)
                            : fmt::format("      '*:word:({})' ;;\n", words);
  }
  return script +
         "  esac\n}\nif [[ $funcstack[1] == _stepscope ]]; then _stepscope \"$@\"; else compdef "
         "_stepscope stepscope; fi\n";
}

std::string fish_option(const Command& command, const Option& option) {
  std::string line = fmt::format("complete -c stepscope -n '__fish_seen_subcommand_from {}' -l {}",
                                 command.name, option.name);
  if (option.letter != '\0') line += fmt::format(" -s {}", option.letter);
  if (!option.value.empty()) line += option.completes == Completes::kFiles ? " -r -F" : " -x";
  if (!option.choices.empty()) line += fmt::format(" -a {}", in_quotes(joined(option.choices)));
  return line + fmt::format(" -d {}\n", in_quotes(option.help));
}

std::string fish_script() {
  std::string script =
      "# Completion of stepscope for fish: stepscope completion fish | source\n"
      "complete -c stepscope -n __fish_use_subcommand -f\n";
  for (const Command* command : commands()) {
    script += fmt::format("complete -c stepscope -n __fish_use_subcommand -a {} -d {}\n",
                          command->name, in_quotes(command->summary));
  }
  for (const Command* command : commands()) {
    for (const Option* option : options_of(*command)) script += fish_option(*command, *option);
    if (const std::string words = words_for(command->completes); !words.empty()) {
      const std::string_view no_files = command->completes == Completes::kAnalyses ? "" : " -f";
      script += fmt::format("complete -c stepscope -n '__fish_seen_subcommand_from {}'{} -a {}\n",
                            command->name, no_files, in_quotes(words));
    }
  }
  return script;
}

Exit run_completion(const Context& context) {
  const std::vector<std::string>& words = context.arguments.words();
  if (words.size() != 1) {
    context.console.error("say which shell: bash, zsh or fish");
    return Exit::kUsage;
  }
  const std::string& shell = words.front();
  const std::string script = shell == "bash"   ? bash_script()
                             : shell == "zsh"  ? zsh_script()
                             : shell == "fish" ? fish_script()
                                               : std::string();
  if (script.empty()) {
    context.console.error(fmt::format("there is no completion for '{}': bash, zsh or fish", shell));
    return Exit::kUsage;
  }
  const base::Status written = context.console.write(script);
  if (!written) {
    context.console.error(written.error().message);
    return Exit::kNotReadable;
  }
  return Exit::kDone;
}

}  // namespace

const Command kCompletion{
    .name = "completion",
    .summary = "print a script that completes commands and options in a shell",
    .arguments = "SHELL",
    .text = "Prints a completion script for SHELL: bash, zsh or fish.\n",
    .options = {},
    .examples = R"(  source <(stepscope completion bash)
  stepscope completion zsh > ~/.zfunc/_stepscope
  stepscope completion fish > ~/.config/fish/completions/stepscope.fish
)",
    .completes = Completes::kShells,
    .run = run_completion,
};

}  // namespace stepscope::cli
