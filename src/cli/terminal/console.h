// Standard output and standard error. Results go to the one, everything else to the other. A reader
// that closes the pipe has seen enough: from then on writing does nothing, silently.
#pragma once

#include <atomic>
#include <string_view>

#include "base/result.h"
#include "cli/options/settings.h"
#include "report/writing/text_table.h"

namespace stepscope::cli {

class Console {
 public:
  explicit Console(const Settings& settings);

  bool out_is_terminal() const { return out_is_terminal_; }
  bool err_is_terminal() const { return err_is_terminal_; }
  report::Look out_look() const;
  report::Look err_look() const;

  // Fails when the output cannot be written, a full disk for example; not on a closed pipe.
  base::Status write(std::string_view text);
  bool out_is_closed() const { return out_is_closed_; }

  void error(std::string_view message);    // "stepscope: MESSAGE"
  void errors(std::string_view messages);  // the same for each of the lines
  void hint(std::string_view message);     // "  hint: MESSAGE", under an error
  void note(std::string_view message);     // like error(), but not when quiet

  void draw_progress(std::string_view line);  // over the one before
  void erase_progress();

 private:
  void write_err(std::string_view text);

  Colour colour_;
  bool quiet_;
  bool out_is_terminal_, err_is_terminal_;
  bool out_is_closed_ = false;
  std::atomic<bool> progress_is_drawn_{false};  // also read when the process is ended hard
};

}  // namespace stepscope::cli
