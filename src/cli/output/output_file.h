// A result on its way to disk. It is written as NAME.partial and takes its name when it is
// complete, so that there is never half a file; when anything goes wrong, no file is left.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/terminal/interrupt.h"

namespace stepscope::cli {

class OutputFile {
 public:
  static base::Result<OutputFile> create(const std::string& path, Interrupt& interrupt);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  base::Status write(std::string_view text);
  base::Status finish();

 private:
  OutputFile(std::string path, std::string written_as, int descriptor, Interrupt& interrupt)
      : path_(std::move(path)),
        written_as_(std::move(written_as)),
        descriptor_(descriptor),
        interrupt_(&interrupt) {}
  void abandon();

  std::string path_;
  std::string written_as_;  // the same for a device or a pipe, which cannot be renamed
  int descriptor_;
  Interrupt* interrupt_;
};

// A whole file at once.
base::Status write_file(const std::string& path, std::string_view text, Interrupt& interrupt);

// Fails when the folder that is to hold the file is not there: better before hours of reading.
base::Status check_folder_of(const std::string& path);

// Whether a command may write to a path: never over what it reads, and never over a trace because
// a file name was forgotten.

// `option` is how the user named the file: "-o", "--html". Fails when `path` is one of the inputs
// or a trace in one of the folders among them.
base::Status check_not_an_input(const std::string& option, const std::string& path,
                                std::span<const std::string> inputs);

// Fails when `path` is there and is no page.
base::Status check_may_hold_page(const std::string& option, const std::string& path);

}  // namespace stepscope::cli
