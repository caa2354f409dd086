// `stepscope serve`: the page and its HTTP interface.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "server/server.h"
#include "session/files/discover.h"

namespace stepscope::cli {
namespace {

using base::Code;
using base::fail;

constexpr std::array kServeOptions = std::to_array<Option>({
    {.name = "port",
     .value = "N",
     .help = "listen on this port of 127.0.0.1 (default: the first free one from 8250 on)"},
    {.name = "socket",
     .value = "PATH",
     .help = "listen on a Unix socket that only you can open, for `ssh -L`",
     .completes = Completes::kFiles},
    {.name = "base-path",
     .value = "PATH",
     .help = "where a proxy shows this server: /node/n7/8250, for Open OnDemand and JupyterHub"},
    {.name = "allow-host",
     .value = "NAMES",
     .help = "answer to these host names too, by comma: the name of a proxy"},
    {.name = "root",
     .value = "FOLDER",
     .help = "let the page open any run below this folder, and nothing outside of it",
     .completes = Completes::kFolders},
    {.name = "event",
     .value = "RANK.RECORDING.EVENT",
     .help = "begin with this event in the timeline, as `stepscope advise` names it: 0.0.1234"},
    {.name = "no-open", .help = "do not open a browser"},
    {.name = "assets",
     .value = "FOLDER",
     .help = "the built page, where it is not beside the program",
     .completes = Completes::kFolders},
    kThresholdsOption,
    kStepsOption,
    kPeaksOption,
});

base::Result<std::optional<std::uint16_t>> port_from(const Arguments& arguments) {
  if (!arguments.has_option("port")) return std::optional<std::uint16_t>();
  const std::string text = arguments.text("port");
  const auto port = base::parse_number<std::uint16_t>(text);
  if (!port) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: '{}' is no port, 0 to 65535", arguments.origin("port"), text));
  }
  return port;
}

// "/a/b" or nothing; a slash at the end does no harm.
base::Result<std::string> base_path_from(const Arguments& arguments) {
  std::string path = arguments.text("base-path");
  while (path.ends_with('/')) path.pop_back();
  const bool plain = path.find_first_not_of(
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                         "0123456789/-_.~@:") == std::string::npos;
  if (!path.empty() && (path.front() != '/' || !plain || path.find("//") != std::string::npos)) {
    return fail(Code::kInvalidArgument, fmt::format("{}: '{}' is no path such as /node/n7/8250",
                                                    arguments.origin("base-path"), path));
  }
  return path;
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (end > at) words.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Of the program, or of the Python package that holds it.
std::string own_folder() {
  Dl_info about{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &about) == 0) return {};
  std::error_code ignored;
  std::filesystem::path file(about.dli_fname == nullptr ? "" : about.dli_fname);
  // The program itself is known by the name it was called with, which may be no path.
  if (about.dli_fbase == nullptr || !file.has_parent_path() || file.extension() != ".so") {
    file = std::filesystem::read_symlink("/proc/self/exe", ignored);
  }
  return file.parent_path().string();
}

base::Result<std::string> assets_from(const Arguments& arguments) {
  if (!arguments.has_option("assets")) return server::find_assets(own_folder());
  const std::string folder = arguments.text("assets");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(std::filesystem::path(folder) / "index.html", ignored)) {
    return fail(Code::kInvalidArgument, fmt::format("{}: there is no index.html in {}",
                                                    arguments.origin("assets"), folder));
  }
  return folder;
}

// Where the page begins: "#/timeline?event=0.0.1234", or nothing.
base::Result<std::string> serve_place_from(const Arguments& arguments) {
  if (!arguments.has_option("event")) return std::string();
  const std::string text = arguments.text("event");
  const bool plain = text.find_first_not_of("0123456789.") == std::string::npos;
  const bool three = std::ranges::count(text, '.') == 2 && !text.starts_with('.') &&
                     !text.ends_with('.') && text.find("..") == std::string::npos;
  if (!plain || !three) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: '{}' is no event such as 0.0.1234 (rank, recording, event)",
                            arguments.origin("event"), text));
  }
  return "#/timeline?event=" + text;
}

base::Result<server::ServerOptions> options_from(const Context& context) {
  const Arguments& arguments = context.arguments;
  server::ServerOptions options;
  options.shelf.paths = arguments.words();
  if (arguments.has_option("root")) {
    SCOPE_TRY(options.shelf.root, server::RootFolder::open(arguments.text("root")));
  } else if (options.shelf.paths.empty()) {
    return fail(Code::kInvalidArgument,
                "no PATH given: a trace file, a memory snapshot, or a folder of them; or "
                "--root FOLDER, to choose in the page");
  }
  for (const std::string& path : options.shelf.paths) {
    std::error_code error;
    if (path == "-") {
      return fail(Code::kInvalidArgument, "serve reads files, not standard input");
    }
    if (!std::filesystem::exists(path, error)) {
      return fail(Code::kNotFound, fmt::format("{}: no such file or folder", path));
    }
  }
  // What is in them is read meanwhile; whether it is one run is said at once.
  SCOPE_TRY(session::discover(options.shelf.paths));
  if (arguments.has_option("port") && arguments.has_option("socket")) {
    return fail(Code::kInvalidArgument, "--port and --socket: choose one");
  }
  SCOPE_TRY(options.port, port_from(arguments));
  options.socket = arguments.text("socket");
  SCOPE_TRY(options.app.base_path, base_path_from(arguments));
  SCOPE_TRY(options.app.assets, assets_from(arguments));
  SCOPE_TRY(analysis::Selection selection, selection_from(arguments));
  SCOPE_TRY(options.app.thresholds, thresholds_from(arguments));
  SCOPE_TRY(options.app.token, server::random_token());
  SCOPE_TRY(const std::string version, server::random_token());
  options.shelf.version = version.substr(0, 12);
  options.app.peaks = std::move(selection.peaks);
  options.app.allowed_hosts = words_of(arguments.text("allow-host"));
  options.app.program_version = STEPSCOPE_VERSION;
  // The page says so, too; but perhaps it was not opened yet.
  options.shelf.failed = [&console = context.console](const std::string& name,
                                                      const std::string& error) {
    console.error(name.empty() ? error : fmt::format("{}: {}", name, error));
  };
  options.shelf.open.threads = context.settings.jobs;
  options.shelf.open.max_memory_bytes = context.settings.max_memory_bytes;
  options.shelf.open.reference_only = context.settings.reference_reader;
  options.shelf.open.block_bytes = context.settings.block_bytes;
  options.shelf.open.step_pattern = arguments.text("steps");
  SCOPE_TRY(session::check(options.shelf.open));  // now, not with each run
  return options;
}

// Only where the user sits in front of a screen of this machine.
void open_browser(const Context& context, const std::string& address) {
  const bool screen =
      std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (context.arguments.has_option("no-open") || !context.console.err_is_terminal() || !screen ||
      std::getenv("SSH_CONNECTION") != nullptr) {
    return;
  }
  std::string program = "xdg-open";
  std::string word = address;
  std::array<char*, 3> words = {program.data(), word.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
  }
  pid_t child = 0;
  (void)::posix_spawnp(&child, "xdg-open", &quiet, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&quiet);
}

// A user who opens the address would find out, but may sit at another computer.
void say_page(const Context& context, const server::ServerOptions& options) {
  if (!options.app.assets.empty()) return;
  context.console.error(
      "the page is not built, so the address shows no charts: `make web` in the source builds it, "
      "`make wheel` packs it, --assets FOLDER names one; only the interface answers "
      "(docs/formats/http-api.md)");
}

void say_where(const Context& context, const server::ServerOptions& options,
               const server::Server& listening, std::string_view place) {
  const std::string tail =
      fmt::format("{}/?token={}{}", options.app.base_path, options.app.token, place);
  Console& console = context.console;
  if (!options.socket.empty()) {
    (void)console.write(fmt::format("http://localhost:8250{}\n", tail));
    console.note(
        fmt::format("listening on {}; from your computer: "
                    "ssh -L 8250:{} LOGIN-NODE, then open the address",
                    options.socket, std::filesystem::absolute(options.socket).string()));
    say_page(context, options);
    return;
  }
  const std::string address = fmt::format("http://127.0.0.1:{}{}", listening.port(), tail);
  (void)console.write(address + "\n");
  if (std::getenv("SSH_CONNECTION") != nullptr) {
    console.note(
        fmt::format("from your computer: ssh -L {0}:127.0.0.1:{0} LOGIN-NODE, then open "
                    "the address",
                    listening.port()));
  }
  say_page(context, options);
  console.note("Ctrl-C ends the server");
  open_browser(context, address);
}

Exit run_serve(const Context& context) {
  auto options = options_from(context);
  if (!options) return show_error(context, options.error());
  const auto place = serve_place_from(context.arguments);
  if (!place) return show_error(context, place.error());
  auto server = server::Server::listen(*options);
  if (!server) {
    const Exit status = show_error(context, server.error());
    if (context.arguments.has_option("port")) {
      context.console.hint("without --port the first free port from 8250 on is taken");
    }
    return status;
  }
  if (!options->socket.empty()) context.interrupt.guard(options->socket);
  say_where(context, *options, **server, *place);
  (*server)->run(*context.interrupt.stop_flag());
  if (!options->socket.empty()) context.interrupt.release(options->socket);
  return Exit::kDone;  // Ctrl-C is how a server ends
}

}  // namespace

const Command kServe{
    .name = "serve",
    .summary = "the page: look at a run in the browser",
    .arguments = "[PATH...]",
    .text =
        R"(Opens a page on a run: findings, timeline, tables of every analysis. Prints its address and
answers until Ctrl-C. Loading happens meanwhile; the page shows how far it is.

Only this machine can connect, and only with the token in the address: login nodes are
shared. From elsewhere use a tunnel: ssh -L 8250:127.0.0.1:8250 LOGIN-NODE.

PATH is a trace file, a memory snapshot, or a folder of them (one per rank). With --root the page
offers all runs below a folder; PATH, where given too, is what it shows first.
The HTTP interface of the page is described in docs/formats/http-api.md.
)",
    .options = kServeOptions,
    .examples = R"(  stepscope serve runs/exp1/
  stepscope serve --root runs/
  stepscope serve --port 9000 --no-open trace.json.gz
  stepscope serve --socket ~/stepscope.sock runs/exp1/
  stepscope serve --base-path /node/n7/8250 --allow-host ondemand.example.org runs/exp1/
)",
    .completes = Completes::kFiles,
    .run = run_serve,
};

}  // namespace stepscope::cli
