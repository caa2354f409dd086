// Small files of /proc and /sys: kept open and read again, since opening costs more than reading.
// And what stands in them: words and whole numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::capture {

class TextFile {
 public:
  explicit TextFile(std::string path) : path_(std::move(path)) {}
  TextFile(TextFile&& other) noexcept;
  TextFile& operator=(TextFile&& other) noexcept;
  ~TextFile() { close(); }

  // Its text as it is now; nothing where it cannot be read, and error() says why. Valid until the
  // next read.
  std::optional<std::string_view> read();
  int error() const { return error_; }  // errno of the last read, 0 where it went well
  const std::string& path() const { return path_; }

 private:
  void close();
  bool fill();

  std::string path_;
  int descriptor_ = -1;
  int error_ = 0;
  std::string buffer_;
};

// The whole of a file that is read once; nothing where it cannot be.
std::optional<std::string> text_of(const std::string& path);
std::optional<std::int64_t> number_of(const std::string& path);
// Names in a folder, sorted; none where it cannot be read.
std::vector<std::string> names_in(const std::string& folder);
// "Permission denied".
std::string error_text(int error);

// "a", "/", "b" → "a/b"
std::string joined(std::initializer_list<std::string_view> parts);
// Takes the first word, or line, off the text; empty at its end.
std::string_view next_word(std::string_view& text);
std::string_view next_line(std::string_view& text);
std::optional<std::int64_t> whole_number(std::string_view word);

}  // namespace stepscope::capture
