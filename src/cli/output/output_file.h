// A result on its way to disk. It is written as NAME.partial and takes its name when it is
// complete, so that nobody ever finds half a file; anything that goes wrong leaves nothing behind.
#pragma once

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

}  // namespace stepscope::cli
