// Writes to standard output and standard error.
#include "cli/terminal/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "report/writing/text_width.h"

namespace stepscope::cli {
namespace {

std::size_t terminal_width(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool can_colour() {
  const char* terminal = std::getenv("TERM");
  return terminal == nullptr || std::string_view(terminal) != "dumb";
}

// 0, or the errno that ended it.
int write_console_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Console::Console(const Settings& settings)
    : colour_(settings.colour),
      quiet_(settings.quiet),
      out_is_terminal_(::isatty(STDOUT_FILENO) == 1),
      err_is_terminal_(::isatty(STDERR_FILENO) == 1) {}

report::Look Console::out_look() const {
  const bool automatic = out_is_terminal_ && can_colour();
  return {.colour = colour_ == Colour::kAlways || (colour_ == Colour::kAuto && automatic),
          .width = out_is_terminal_ ? terminal_width(STDOUT_FILENO) : 0};
}

report::Look Console::err_look() const {
  const bool automatic = err_is_terminal_ && can_colour();
  return {.colour = colour_ == Colour::kAlways || (colour_ == Colour::kAuto && automatic),
          .width = err_is_terminal_ ? terminal_width(STDERR_FILENO) : 0};
}

base::Status Console::write(std::string_view text) {
  if (out_is_closed_) return base::Done{};
  const int error = write_console_all(STDOUT_FILENO, text);
  if (error == EPIPE) {
    out_is_closed_ = true;
  } else if (error != 0) {
    return base::fail(base::Code::kIo, std::string("standard output: ") + std::strerror(error));
  }
  return base::Done{};
}

void Console::write_err(std::string_view text) {
  erase_progress();
  (void)write_console_all(STDERR_FILENO, text);  // there is no other place to report a failure
}

void Console::error(std::string_view message) {
  const std::string name = report::styled("stepscope:", report::Style::kBad, err_look());
  write_err(name + " " + report::printable(message) + "\n");
}

void Console::errors(std::string_view messages) {
  while (!messages.empty()) {
    const std::string_view line = messages.substr(0, messages.find('\n'));
    messages.remove_prefix(std::min(line.size() + 1, messages.size()));
    error(line);
  }
}

void Console::hint(std::string_view message) {
  const std::string label = report::styled("hint:", report::Style::kFaint, err_look());
  write_err(std::string("  ") + label + " " + report::printable(message) + "\n");
}

void Console::note(std::string_view message) {
  if (quiet_) return;
  const std::string name = report::styled("stepscope:", report::Style::kWarning, err_look());
  write_err(name + " " + report::printable(message) + "\n");
}

void Console::draw_progress(std::string_view line) {
  progress_is_drawn_ = true;
  (void)write_console_all(STDERR_FILENO, std::string("\r") + std::string(line) + "\x1b[K");
}

void Console::erase_progress() {
  if (!progress_is_drawn_.exchange(false)) return;
  (void)write_console_all(STDERR_FILENO, "\r\x1b[K");
}

}  // namespace stepscope::cli
