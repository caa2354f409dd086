// Writes results to files, whole or not at all, and never over an input.
#include "cli/output/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "session/files/discover.h"

namespace stepscope::cli {

namespace {

// By the name that the user gave, not by the one it is written under until it is whole.
base::Failure failed(const std::string& path) {
  return base::fail(base::Code::kIo, path + ": " + std::strerror(errno));
}

}  // namespace

base::Result<OutputFile> OutputFile::create(const std::string& path, Interrupt& interrupt) {
  struct stat facts{};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  const bool can_be_renamed = !exists || S_ISREG(facts.st_mode);
  const std::string written_as = can_be_renamed ? path + ".partial" : path;
  if (can_be_renamed) interrupt.guard(written_as);
  const int descriptor = ::open(written_as.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH);
  if (descriptor < 0) {
    const base::Failure failure = failed(path);
    interrupt.release(written_as);
    return failure;
  }
  return OutputFile(path, written_as, descriptor, interrupt);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      written_as_(std::move(other.written_as_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      interrupt_(other.interrupt_) {}

OutputFile::~OutputFile() { abandon(); }

void OutputFile::abandon() {
  if (descriptor_ < 0) return;
  ::close(std::exchange(descriptor_, -1));
  if (written_as_ == path_) return;
  ::unlink(written_as_.c_str());
  interrupt_->release(written_as_);
}

base::Status OutputFile::write(std::string_view text) {
  if (interrupt_->stopped()) return base::fail(base::Code::kCancelled, "stopped");
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return failed(path_);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return base::Done{};
}

base::Status OutputFile::finish() {
  if (interrupt_->stopped()) return base::fail(base::Code::kCancelled, "stopped");
  // Network file systems report a full disk only here.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    const base::Failure failure = failed(path_);
    if (written_as_ != path_) ::unlink(written_as_.c_str());
    interrupt_->release(written_as_);
    return failure;
  }
  if (written_as_ == path_) return base::Done{};
  const bool renamed = ::rename(written_as_.c_str(), path_.c_str()) == 0;
  const base::Failure failure = failed(path_);
  if (!renamed) ::unlink(written_as_.c_str());
  interrupt_->release(written_as_);
  if (!renamed) return failure;
  return base::Done{};
}

base::Status write_file(const std::string& path, std::string_view text, Interrupt& interrupt) {
  SCOPE_TRY(OutputFile file, OutputFile::create(path, interrupt));
  SCOPE_TRY(file.write(text));
  return file.finish();
}

base::Status check_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return base::Done{};
  return base::fail(base::Code::kIo,
                    path + ": there is no folder " + folder.string() + " to write to");
}

namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::relative(file, folder, error);
  return !error && !relative.empty() && *relative.begin() != "..";
}

bool is_same_or_inside(const fs::path& file, const fs::path& input) {
  std::error_code error;
  if (fs::equivalent(file, input, error)) return true;
  return fs::is_directory(input, error) && is_inside(file, input) &&
         session::has_trace_name(file.filename().native());
}

}  // namespace

base::Status check_not_an_input(const std::string& option, const std::string& path,
                                std::span<const std::string> inputs) {
  std::error_code error;
  if (path == "-" || !fs::is_regular_file(path, error)) return base::Done{};
  const bool is_input = std::ranges::any_of(
      inputs, [&](const auto& input) { return is_same_or_inside(path, input); });
  if (!is_input) return base::Done{};
  return base::fail(
      base::Code::kInvalidArgument,
      fmt::format("{} {}: this is what is being read; name another file to write", option, path));
}

base::Status check_may_hold_page(const std::string& option, const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_regular_file(path, error)) return base::Done{};
  std::ifstream file(path, std::ios::binary);
  char first = '<';
  file.get(first);
  if (first == '<') return base::Done{};
  return base::fail(
      base::Code::kInvalidArgument,
      fmt::format("{} {}: there is a file of that name which is no {}; {} takes the file to write, "
                  "as in {} {}",
                  option, path, option == "--svg" ? "picture" : "HTML page", option, option,
                  option == "--svg" ? "flame.svg" : "report.html"));
}

}  // namespace stepscope::cli
