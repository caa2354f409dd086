// Opens a file, looks at its first bytes, and gives its text in one stream.
#include "bytes/source.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bytes/decoder.h"
#include "bytes/input_window.h"
#include "bytes/raw_file.h"
#include "bytes/seek_index.h"
#include "bytes/source_within.h"

namespace stepscope::bytes {

using base::Error;
using base::Failure;
using base::Result;

namespace {

constexpr std::size_t kHead = 4096;      // enough to sniff, and keeps later reads page aligned
constexpr std::size_t kLeastWindow = 4;  // sniff needs as much

class StreamSource final : public ByteSource {
 public:
  StreamSource(InputWindow window, Encoding encoding, SourceOptions options)
      : window_(std::move(window)), encoding_(encoding), options_(options), decoder_(encoding) {
    options_.checkpoint_spacing_bytes =
        std::max<std::uint64_t>(options.checkpoint_spacing_bytes, 1);
    if (!rereadable()) return;
    index_ = std::make_shared<SeekIndex>();
    index_->encoding = encoding;
    index_->file = *window_.file().facts();
    index_->within = window_.file().within();
    if (encoding != Encoding::kPlain) index_->checkpoints.push_back({0, 0, {}});
  }

  Result<std::size_t> read(std::span<char> into) override;

  const std::string& name() const override { return window_.file().name(); }
  Encoding encoding() const override { return encoding_; }
  std::uint64_t text_position() const override { return text_position_; }
  std::uint64_t file_position() const override { return window_.position(); }
  std::optional<std::uint64_t> file_size() const override { return window_.file().size(); }
  std::optional<Damage> damage() const override {
    return ended_ ? decoder_.damage() : std::nullopt;
  }
  bool reads_anywhere() const override {
    const RawFile& file = window_.file();
    return encoding_ == Encoding::kPlain && file.reads_anywhere() && file.size().value_or(0) > 0;
  }
  base::Status read_at(std::uint64_t text_offset, std::span<char> into) const override;
  void skip_to(std::uint64_t text_offset) override {
    window_.seek(text_offset);
    text_position_ = text_offset;
    ended_ = false;
  }
  bool rereadable() const override { return window_.file().rereadable(); }
  std::shared_ptr<const SeekIndex> seek_index() const override { return index_; }

 private:
  Result<std::size_t> decode(std::span<char> into);
  void add_checkpoint();

  InputWindow window_;
  Encoding encoding_;
  SourceOptions options_;
  Decoder decoder_;
  std::shared_ptr<SeekIndex> index_;  // null: no checkpoints are taken
  std::uint64_t text_position_ = 0;
  bool ended_ = false;
  std::optional<Error> failed_;  // stays: a stream does not go on after an error
};

Result<std::size_t> StreamSource::read(std::span<char> into) {
  if (failed_) return Failure{*failed_};
  if (ended_ || into.empty()) return std::size_t{0};
  Result<std::size_t> got = decode(into);
  if (!got) failed_ = got.error();
  return got;
}

base::Status StreamSource::read_at(std::uint64_t text_offset, std::span<char> into) const {
  const RawFile& file = window_.file();
  while (!into.empty()) {
    SCOPE_TRY(const std::size_t got, file.read_at(text_offset, into));
    if (got == 0) {
      SCOPE_TRY([[maybe_unused]] const base::Done same, file.check_unchanged());
      return base::fail(base::Code::kIo,
                        fmt::format("{}: read failed at byte {}: the file ends there; expected {} "
                                    "bytes",
                                    file.name(), text_offset, file.size().value_or(0)));
    }
    into = into.subspan(got);
    text_offset += got;
  }
  return base::Done{};
}

Result<std::size_t> StreamSource::decode(std::span<char> into) {
  if (index_ && encoding_ != Encoding::kPlain) {
    // A huge buffer must not make for huge distances between checkpoints.
    into = into.first(static_cast<std::size_t>(
        std::min<std::uint64_t>(into.size(), options_.checkpoint_spacing_bytes)));
  }
  SCOPE_TRY(const std::size_t got, decoder_.read(window_, into));
  text_position_ += got;
  if (got > 0) {
    add_checkpoint();
    return got;
  }
  // A file that is still being written looks truncated; say the true reason.
  SCOPE_TRY([[maybe_unused]] const base::Done same, window_.file().check_unchanged());
  ended_ = true;
  return got;
}

void StreamSource::add_checkpoint() {
  if (!index_ || encoding_ == Encoding::kPlain) return;
  const std::uint64_t earliest =
      index_->checkpoints.back().text_offset + options_.checkpoint_spacing_bytes;
  if (auto place = decoder_.checkpoint(window_, text_position_, earliest)) {
    index_->checkpoints.push_back(*std::move(place));
  }
}

Result<std::unique_ptr<ByteSource>> make_source(RawFile file, SourceOptions options) {
  const std::size_t capacity = std::max(options.input_window_bytes, kLeastWindow);
  InputWindow window(std::move(file), capacity);
  SCOPE_TRY([[maybe_unused]] const base::Done done, window.want(std::min(kHead, capacity)));
  const Encoding encoding = sniff(window.unread());
  return std::unique_ptr<ByteSource>(
      std::make_unique<StreamSource>(std::move(window), encoding, options));
}

}  // namespace

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::kGzip:
      return "gzip";
    case Encoding::kZstd:
      return "zstd";
    case Encoding::kPlain:
      break;
  }
  return "plain";
}

Encoding sniff(std::span<const char> head) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  if (head.size() >= 3 && byte(0) == 0x1f && byte(1) == 0x8b && byte(2) == 0x08) {
    return Encoding::kGzip;
  }
  if (head.size() >= 4) {
    const bool frame = byte(0) == 0x28 && byte(1) == 0xb5 && byte(2) == 0x2f && byte(3) == 0xfd;
    const bool skippable =
        (byte(0) & 0xf0) == 0x50 && byte(1) == 0x2a && byte(2) == 0x4d && byte(3) == 0x18;
    if (frame || skippable) return Encoding::kZstd;
  }
  return Encoding::kPlain;
}

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path, SourceOptions options) {
  return open_source_within({}, path, options);
}

Result<std::unique_ptr<ByteSource>> open_source_within(const std::string& within,
                                                       const std::string& path,
                                                       SourceOptions options) {
  SCOPE_TRY(RawFile file, RawFile::open(path, options.stop, within));
  return make_source(std::move(file), options);
}

std::optional<std::string> whole_file(const std::string& within, const std::string& path) {
  const auto file = RawFile::open(path, nullptr, within);
  // A pipe is not waited for.
  if (!file || !file->facts()) return std::nullopt;
  std::string text(file->facts()->size, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const auto got = file->read_at(filled, std::span(text).subspan(filled));
    if (!got) return std::nullopt;
    if (*got == 0) break;
    filled += *got;
  }
  text.resize(filled);
  return text;
}

std::unique_ptr<ByteSource> memory_source(std::string name, std::string file_bytes,
                                          SourceOptions options) {
  // Memory cannot fail to be read.
  return *make_source(RawFile::in_memory(std::move(name), std::move(file_bytes)), options);
}

}  // namespace stepscope::bytes
