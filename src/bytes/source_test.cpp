#include "bytes/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"
#include "bytes/files_for_tests.h"
#include "bytes/seek_index.h"

namespace stepscope::bytes {
namespace {

using base::Code;
using base::TempFolder;
using std::string;
using std::string_literals::operator""s;

TEST(Sniff, GoesByContent) {
  const struct {
    const char* name;
    string head;
    Encoding expected;
  } cases[] = {
      {"nothing", "", Encoding::kPlain},
      {"JSON", "{\"traceEvents\"", Encoding::kPlain},
      {"gzip", "\x1f\x8b\x08", Encoding::kGzip},
      {"gzip with another method", "\x1f\x8b\x07\x00"s, Encoding::kPlain},
      {"half a gzip magic", "\x1f\x8b", Encoding::kPlain},
      {"zstd", "\x28\xb5\x2f\xfd", Encoding::kZstd},
      {"three bytes of zstd", "\x28\xb5\x2f", Encoding::kPlain},
      {"first skippable magic", "\x50\x2a\x4d\x18", Encoding::kZstd},
      {"last skippable magic", "\x5f\x2a\x4d\x18", Encoding::kZstd},
      {"no skippable magic", "\x60\x2a\x4d\x18", Encoding::kPlain},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(sniff(c.head), c.expected);
    EXPECT_EQ(memory_source("m", c.head)->encoding(), c.expected);
  }
}

TEST(OpenSource, SaysWhyAFileCannotBeOpened) {
  TempFolder folder;
  const string missing = folder.path() + "/missing.json";
  const auto not_found = open_source(missing);
  ASSERT_FALSE(not_found);
  EXPECT_EQ(not_found.error().code, Code::kNotFound);
  EXPECT_EQ(not_found.error().message,
            missing + ": cannot be opened: No such file or directory; expected a readable file");

  const auto directory = open_source(folder.path());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, Code::kIo);
  EXPECT_EQ(directory.error().message,
            folder.path() + ": cannot be read: Is a directory; expected a file");

  const string file = folder.write("secret.json", "{}");
  ::chmod(file.c_str(), 0);
  if (::geteuid() != 0) {  // root may read it all the same
    const auto denied = open_source(file);
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, Code::kIo);
    EXPECT_EQ(denied.error().message,
              file + ": cannot be opened: Permission denied; expected a readable file");
  }
  const auto below_a_file = open_source(file + "/x.json");
  ASSERT_FALSE(below_a_file);
  EXPECT_EQ(below_a_file.error().code, Code::kNotFound);
}

TEST(OpenSource, ReadsPlainGzipAndZstdFilesWhateverTheirName) {
  TempFolder folder;
  const string text = synthetic_text(1'000'000);
  const struct {
    string file;
    Encoding encoding;
  } cases[] = {{text, Encoding::kPlain},
               {gzip_of(text), Encoding::kGzip},
               {zstd_of(text), Encoding::kZstd},
               {"", Encoding::kPlain}};
  for (const auto& c : cases) {
    const string path = folder.write("trace.txt", c.file);
    for (const std::size_t span : Sizes{1'000, 4'096, 50'000, 5'000'000}) {
      auto opened = open_source(path);
      ASSERT_TRUE(opened);
      ByteSource& source = **opened;
      EXPECT_EQ(source.encoding(), c.encoding);
      EXPECT_EQ(source.name(), path);
      EXPECT_EQ(source.file_size(), c.file.size());
      EXPECT_TRUE(source.rereadable());
      EXPECT_NE(source.seek_index(), nullptr);
      const ReadAll all = read_all(source, span);
      EXPECT_TRUE(all.text == (c.file.empty() ? "" : text));
      EXPECT_EQ(all.what(), "");
      EXPECT_EQ(source.file_position(), c.file.size());
      EXPECT_EQ(source.text_position(), all.text.size());
      char more = 0;
      EXPECT_EQ(*source.read({&more, 1}), 0U);  // the end stays the end
    }
  }
}

TEST(OpenSource, AFileThatChangesWhileItIsReadIsAnError) {
  TempFolder folder;
  const string text = synthetic_text(100'000);
  for (const string& content : {text, gzip_of(text), zstd_of(text)}) {
    const struct {
      const char* name;
      off_t size_afterwards;
    } cases[] = {
        {"shrank", static_cast<off_t>(content.size()) - 200},
        {"shrank to nothing", 0},
        {"grew", static_cast<off_t>(content.size()) + 200},
    };
    for (const auto& c : cases) {
      SCOPED_TRACE(c.name);
      const string path = folder.write("rank0.json", content);
      auto source = open_source(path, {.input_window_bytes = 4096});
      ASSERT_TRUE(source);
      char one = 0;
      ASSERT_TRUE((*source)->read({&one, 1}));
      ASSERT_EQ(::truncate(path.c_str(), c.size_afterwards), 0);
      const ReadAll all = read_all(**source);
      ASSERT_TRUE(all.error);
      EXPECT_EQ(all.error->code, Code::kIo);
      EXPECT_EQ(all.error->message,
                path + ": changed while it was read: " + std::to_string(content.size()) +
                    " bytes when opened, " + std::to_string(c.size_afterwards) +
                    " at the end (is the program still writing it?)");
      EXPECT_FALSE((*source)->damage());
      EXPECT_FALSE((*source)->read({&one, 1}));  // an error stays an error
    }
  }
}

TEST(OpenSource, AFileThatIsWrittenAgainWithTheSameSizeIsAnError) {
  TempFolder folder;
  const string path = folder.write("rank0.json", "old text");
  auto source = open_source(path);
  ASSERT_TRUE(source);
  const timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const ReadAll all = read_all(**source);
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->message,
            path +
                ": changed while it was read: still 8 bytes, but written to since it was opened "
                "(is the program still writing it?)");
}

// Puts a descriptor in the place of standard input for one test.
class StandardInput {
 public:
  explicit StandardInput(int fd) : saved_(::dup(STDIN_FILENO)) { ::dup2(fd, STDIN_FILENO); }
  ~StandardInput() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

TEST(OpenSource, ReadsPipes) {
  const string text = synthetic_text(300'000);
  for (const bool non_blocking : {false, true}) {
    for (const string& content : {text, gzip_of(text), zstd_of(text)}) {
      int ends[2];
      ASSERT_EQ(::pipe(ends), 0);
      if (non_blocking) ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
      const StandardInput input(ends[0]);
      std::thread writer([&] {
        for (std::size_t at = 0; at < content.size();) {  // in odd pieces, the first of one byte
          const std::size_t piece = std::min<std::size_t>(at == 0 ? 1 : 7'777, content.size() - at);
          const ssize_t wrote = ::write(ends[1], content.data() + at, piece);
          if (wrote <= 0) break;
          at += static_cast<std::size_t>(wrote);
          std::this_thread::yield();
        }
        ::close(ends[1]);
      });
      auto source = open_source("-");
      ASSERT_TRUE(source);
      const ReadAll all = read_all(**source);
      writer.join();
      ::close(ends[0]);
      EXPECT_TRUE(all.text == text);
      EXPECT_EQ(all.what(), "");
      EXPECT_EQ((*source)->name(), "standard input");
      EXPECT_EQ((*source)->file_size(), std::nullopt);
      EXPECT_FALSE((*source)->rereadable());
      EXPECT_EQ((*source)->seek_index(), nullptr);
      EXPECT_EQ((*source)->file_position(), content.size());
    }
  }
}

TEST(OpenSource, ReadsAFileGivenAsStandardInputFromWhereItStands) {
  TempFolder folder;
  const string path = folder.write("trace.json", "0123456789");
  for (const off_t start : {0, 4}) {
    const int fd = ::open(path.c_str(), O_RDONLY);
    ::lseek(fd, start, SEEK_SET);
    const StandardInput input(fd);
    ::close(fd);
    auto source = open_source("-");
    ASSERT_TRUE(source);
    EXPECT_EQ((*source)->file_size(), start == 0 ? std::optional<std::uint64_t>(10) : std::nullopt);
    EXPECT_FALSE((*source)->rereadable());
    const ReadAll all = read_all(**source);
    EXPECT_EQ(all.text, string("0123456789").substr(static_cast<std::size_t>(start)));
    EXPECT_EQ(all.what(), "");
  }
}

TEST(OpenSource, ReadsFilesThatDoNotKnowTheirSize) {
  auto source = open_source("/proc/self/status");
  ASSERT_TRUE(source);
  const ReadAll all = read_all(**source);
  EXPECT_NE(all.text.find("Pid:"), string::npos);
  EXPECT_EQ(all.what(), "");
}

}  // namespace
}  // namespace stepscope::bytes
