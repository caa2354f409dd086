#include "files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include <isa-l/igzip_lib.h>
#include <zstd.h>

namespace stepscope::bench {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 20;

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : fd_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error(path + ": cannot be opened");
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(fd_); }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string read_file(const std::string& path) {
  const Descriptor file(path);
  std::string bytes;
  const off_t size = ::lseek(file.get(), 0, SEEK_END);  // a pipe says -1
  if (size > 0) {
    ::lseek(file.get(), 0, SEEK_SET);
    bytes.reserve(static_cast<std::size_t>(size));
  }
  for (;;) {
    const std::size_t used = bytes.size();
    const std::size_t left = bytes.capacity() - used;
    bytes.resize(used + (left > 0 ? std::min(left, 64 * kReadSize) : kReadSize));
    const ssize_t got = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0) throw std::runtime_error(path + ": cannot be read");
    bytes.resize(used + static_cast<std::size_t>(got));
    if (got == 0) return bytes;
  }
}

Packing packing_of(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b")) return Packing::kGzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return Packing::kZstd;
  return Packing::kPlain;
}

void inflate_gzip(std::string_view bytes, std::span<char> window, const Piece& piece) {
  const auto state = std::make_unique<inflate_state>();  // 80 kB, too much for a stack
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_GZIP;
  // avail_in has 32 bits; the files are compressed traces, but may still be larger than that.
  constexpr std::size_t kMost = std::size_t{1} << 30;
  std::size_t given = 0;
  state->avail_in = 0;
  do {
    if (state->avail_in == 0) {
      const std::size_t size = std::min(bytes.size() - given, kMost);
      state->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data() + given));
      state->avail_in = static_cast<std::uint32_t>(size);
      given += size;
    }
    state->next_out = reinterpret_cast<std::uint8_t*>(window.data());
    state->avail_out = static_cast<std::uint32_t>(window.size());
    if (isal_inflate(state.get()) != ISAL_DECOMP_OK) throw std::runtime_error("not gzip");
    piece({window.data(), window.size() - state->avail_out});
    if (state->block_state == ISAL_BLOCK_FINISH && state->avail_in > 0) {
      isal_inflate_reset(state.get());
      state->crc_flag = ISAL_GZIP;
    }
  } while (state->avail_in > 0 || state->avail_out == 0 || given < bytes.size());
}

void inflate_zstd(std::string_view bytes, std::span<char> window, const Piece& piece) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  bool full = false;
  while (in.pos < in.size || full) {
    ZSTD_outBuffer out{window.data(), window.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(stream.get(), &out, &in)) != 0) {
      throw std::runtime_error("not zstd");
    }
    full = out.pos == out.size;
    piece({window.data(), out.pos});
  }
}

std::string read_text(const std::string& path) {
  std::string bytes = read_file(path);
  const Packing packing = packing_of(bytes);
  if (packing == Packing::kPlain) return bytes;
  std::string text;
  std::vector<char> window(kReadSize);
  const auto keep = [&](std::string_view part) { text.append(part); };
  (packing == Packing::kGzip ? inflate_gzip : inflate_zstd)(bytes, window, keep);
  return text;
}

}  // namespace stepscope::bench
