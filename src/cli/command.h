// A command is data plus one function: parsing, help, completion and the suggestions for mistyped
// words all come from the same table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/writing/text_table.h"

namespace stepscope::cli {

class Arguments;
class Console;
class Interrupt;
struct Settings;

enum class Exit : int {
  kDone = 0,
  kCheckFailed = 1,
  kUsage = 2,
  kNotReadable = 3,  // input that cannot be read, output that cannot be written
  kDataLost = 4,
  kInterrupted = 130,
};

// What a shell should offer after an option or as an argument.
enum class Completes : unsigned char { kNothing, kFiles, kFolders, kCommands, kShells, kAnalyses };

struct Option {
  std::string_view name;        // "max-memory": --max-memory, or STEPSCOPE_MAX_MEMORY
  char letter = '\0';           // -j
  std::string_view value = {};  // how help calls its value; empty: a switch
  std::string_view help = {};
  std::span<const std::string_view> choices = {};  // all values there are; empty: any
  Completes completes = Completes::kNothing;
  bool listed = true;  // in the help; false: only where its topic is explained
};

// What a command may use.
struct Context {
  const Arguments& arguments;
  const Settings& settings;
  Console& console;
  Interrupt& interrupt;
};

struct Command {
  std::string_view name;
  std::string_view summary;    // one line, in the list of commands
  std::string_view arguments;  // "PATH..."
  std::string_view text;       // what it does and what the arguments are
  std::span<const Option> options;
  std::string_view examples;
  Completes completes;
  Exit (*run)(const Context& context);
  // Help about these words instead of the whole command; empty for words it does not know.
  std::string (*help_about)(std::span<const std::string> words, const report::Look& look) = nullptr;
  // Another program follows, with options and signals of its own.
  bool takes_program = false;
};

// Every command, in the order of the help.
std::span<const Command* const> commands();
const Command* find_command(std::string_view name);

// Options that every command has.
std::span<const Option> general_options();

extern const Command kInfo;
extern const Command kReport;
extern const Command kAdvise;
extern const Command kMemory;
extern const Command kAnalyze;
extern const Command kDiff;
extern const Command kCheck;
extern const Command kExport;
extern const Command kServe;
extern const Command kDoctor;
extern const Command kRun;
extern const Command kConfig;
extern const Command kSweep;
extern const Command kHelp;
extern const Command kCompletion;

}  // namespace stepscope::cli
