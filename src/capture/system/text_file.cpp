// Reads small files of /proc and /sys again and again without opening them each time.
#include "capture/system/text_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/number_text.h"

namespace stepscope::capture {
namespace {

constexpr std::size_t kFirstBytes = 4096;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

}  // namespace

TextFile::TextFile(TextFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_),
      buffer_(std::move(other.buffer_)) {}

TextFile& TextFile::operator=(TextFile&& other) noexcept {
  close();
  path_ = std::move(other.path_);
  descriptor_ = std::exchange(other.descriptor_, -1);
  error_ = other.error_;
  buffer_ = std::move(other.buffer_);
  return *this;
}

void TextFile::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

bool TextFile::fill() {
  std::size_t filled = 0;
  buffer_.resize(std::max(buffer_.capacity(), kFirstBytes));
  while (true) {
    const ssize_t count = ::pread(descriptor_, buffer_.data() + filled, buffer_.size() - filled,
                                  static_cast<off_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    filled += static_cast<std::size_t>(count);
    if (count == 0) break;
    if (filled < buffer_.size()) continue;
    if (filled >= kMostBytes) break;
    buffer_.resize(buffer_.size() * 2);
  }
  buffer_.resize(filled);
  return true;
}

std::optional<std::string_view> TextFile::read() {
  // A device that came again has a new file under the old name: opened once more before giving up.
  for (int tries = 0; tries < 2; ++tries) {
    const bool opened_now = descriptor_ < 0;
    if (opened_now) descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) break;
    if (fill()) {
      error_ = 0;
      return buffer_;
    }
    const int error = errno;
    close();
    errno = error;
    if (opened_now) break;
  }
  error_ = errno == 0 ? EIO : errno;
  return std::nullopt;
}

std::optional<std::string> text_of(const std::string& path) {
  TextFile file(path);
  const auto text = file.read();
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::optional<std::int64_t> number_of(const std::string& path) {
  const auto text = text_of(path);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  return whole_number(next_word(rest));
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* const entry = ::readdir(open)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(open);
  std::ranges::sort(names);
  return names;
}

std::string error_text(int error) {
  char text[128] = {};
  return strerror_r(error, text, sizeof(text));  // NOLINT: GNU's, which returns the text
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string_view next_word(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  std::size_t size = 0;
  while (size < text.size() && !is_blank(text[size])) ++size;
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t size = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return line;
}

std::optional<std::int64_t> whole_number(std::string_view word) {
  return base::parse_number<std::int64_t>(word);
}

}  // namespace stepscope::capture
