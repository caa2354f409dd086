// Multiplies a real trace to any size, so that speed, memory and linearity are measured on text
// as the profiler writes it. Copies follow each other in time; links, flows and steps stay right.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "files.h"
#include "template.h"

namespace stepscope::bench {
namespace {

constexpr char kUsage[] =
    "usage: bench_generate TEMPLATE OUT (--bytes SIZE | --copies N)\n"
    "Writes the events of TEMPLATE (json, json.gz or json.zst; - is stdin) as often as makes\n"
    "about SIZE bytes of text (500M, 2G: powers of ten). OUT may be -; *.gz and *.zst are packed\n"
    "by the gzip and zstd programs.\n";

void write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(fd, data, size);
    if (done < 0) throw std::runtime_error("the output cannot be written");
    data += done;
    size -= static_cast<std::size_t>(done);
  }
}

// Where the text goes: a file, standard output, or a program that packs it into a file.
class Sink {
 public:
  explicit Sink(const std::string& path) : buffer_(kBufferSize) {
    fd_ = path == "-" ? ::dup(STDOUT_FILENO)
                      : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd_ < 0) throw std::runtime_error(path + ": cannot be written");
    if (path.ends_with(".gz")) pack_with("gzip");
    if (path.ends_with(".zst")) pack_with("zstd");
  }

  void append(const char* data, std::size_t size) {
    while (size > kBufferSize - used_) {
      const std::size_t part = kBufferSize - used_;
      std::memcpy(buffer_.data() + used_, data, part);
      used_ += part;
      data += part;
      size -= part;
      flush();
    }
    std::memcpy(buffer_.data() + used_, data, size);
    used_ += size;
  }
  void append(std::string_view text) { append(text.data(), text.size()); }

  std::size_t written() const { return flushed_ + used_; }

  void close() {
    flush();
    if (::close(fd_) != 0) throw std::runtime_error("the output cannot be closed");
    int status = 0;
    if (packer_ > 0 && (::waitpid(packer_, &status, 0) != packer_ || status != 0)) {
      throw std::runtime_error("the packing program failed");
    }
  }

 private:
  static constexpr std::size_t kBufferSize = std::size_t{1} << 20;

  void flush() {
    write_all(fd_, buffer_.data(), used_);
    flushed_ += used_;
    used_ = 0;
  }

  void pack_with(const char* program) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    packer_ = ::fork();
    if (packer_ == 0) {
      ::dup2(ends[0], STDIN_FILENO);
      ::dup2(fd_, STDOUT_FILENO);
      ::execlp(program, program, "-c", nullptr);
      ::_exit(127);
    }
    ::close(ends[0]);
    ::close(fd_);
    fd_ = ends[1];
  }

  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::size_t flushed_ = 0;
  int fd_ = -1;
  pid_t packer_ = 0;
};

void write_copy(Sink& sink, const Template& source, const Block& block, std::uint64_t copy) {
  const char* const text = block.text.data();
  std::size_t at = 0;
  char digits[24];
  for (const Slot& slot : block.slots) {
    sink.append(text + at, slot.begin - at);
    const std::uint64_t shift = source.shift[static_cast<std::size_t>(slot.field)];
    const auto number = std::to_chars(digits, digits + sizeof digits, slot.value + copy * shift);
    sink.append(digits, static_cast<std::size_t>(number.ptr - digits));
    at = slot.end;
  }
  sink.append(text + at, block.text.size() - at);
}

struct Limit {
  std::uint64_t bytes = 0;
  std::uint64_t copies = 0;
};

// Whole copies only, as many as come nearest to the size asked for, and at least one.
std::uint64_t write_copies(Sink& sink, const Template& source, Limit limit) {
  std::uint64_t copy = 0;
  for (;;) {
    if (copy > 0) sink.append(source.join);
    write_copy(sink, source, source.body, copy);
    ++copy;
    const std::uint64_t next =
        sink.written() + source.footer.text.size() + source.body.text.size() / 2;
    if (limit.copies > 0 ? copy >= limit.copies : next >= limit.bytes) return copy;
  }
}

std::uint64_t parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{} || number == 0)
    throw std::runtime_error("not a size: " + std::string(text));
  if (unit.empty()) return number;
  if (unit == "k") return number * 1'000;
  if (unit == "M") return number * 1'000'000;
  if (unit == "G") return number * 1'000'000'000;
  throw std::runtime_error("not a size: " + std::string(text));
}

int generate(const std::string& from, const std::string& to, Limit limit) {
  const Template source = cut_template(read_text(from));
  const auto start = std::chrono::steady_clock::now();
  Sink sink(to);
  sink.append(source.header);
  const std::uint64_t copies = write_copies(sink, source, limit);
  write_copy(sink, source, source.footer, copies - 1);
  sink.close();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print(stderr,
             "{{\"bytes\": {}, \"copies\": {}, \"events\": {}, \"seconds\": {:.3f}, "
             "\"mb_per_s\": {:.0f}}}\n",
             sink.written(), copies, copies * source.body_events + source.other_events,
             took.count(), static_cast<double>(sink.written()) / took.count() / 1e6);
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 4) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  Limit limit;
  if (arguments[2] == "--bytes") limit.bytes = parse_size(arguments[3]);
  if (arguments[2] == "--copies") limit.copies = parse_size(arguments[3]);
  if (limit.bytes == 0 && limit.copies == 0) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return generate(arguments[0], arguments[1], limit);
}

}  // namespace
}  // namespace stepscope::bench

int main(int argc, char** argv) {
  try {
    return stepscope::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_generate: %s\n", error.what());
    return 1;
  }
}
