// Names files that are no trace by their first bytes, and says what to do with them.
#include "ingest/other_files.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ascii.h"
#include "ingest/damage.h"

namespace stepscope::ingest {
namespace {

using std::string_view_literals::operator""sv;

struct Magic {
  std::string_view bytes;
  std::string_view what;
};

constexpr std::array kMagic = std::to_array<Magic>({
    {"PK\x03\x04"sv, "a zip archive (torch.save writes such ones, too): unpack the trace in it"},
    {"PK\x05\x06"sv, "an empty zip archive"},
    {"\xfd\x37zXZ\0"sv, "compressed with xz, which is not read: `xz -d` it first"},
    {"BZh"sv, "compressed with bzip2, which is not read: `bzip2 -d` it first"},
    {"\x04\x22\x4d\x18"sv, "compressed with lz4, which is not read: `lz4 -d` it first"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive: unpack the trace in it"},
    {"\x1f\x8b\x08"sv, "compressed twice, gzip inside: uncompress it once first"},
    {"\x28\xb5\x2f\xfd"sv, "compressed twice, zstd inside: uncompress it once first"},
    {"\xff\xfe"sv, "UTF-16 text; JSON is UTF-8: `iconv -f UTF-16 -t UTF-8` makes it so"},
    {"\xfe\xff"sv, "UTF-16 text; JSON is UTF-8: `iconv -f UTF-16 -t UTF-8` makes it so"},
    {"{\0"sv, "UTF-16 text; JSON is UTF-8: `iconv -f UTF-16LE -t UTF-8` makes it so"},
    {"[\0"sv, "UTF-16 text; JSON is UTF-8: `iconv -f UTF-16LE -t UTF-8` makes it so"},
    {"\0{"sv, "UTF-16 text; JSON is UTF-8: `iconv -f UTF-16BE -t UTF-8` makes it so"},
    {"\0["sv, "UTF-16 text; JSON is UTF-8: `iconv -f UTF-16BE -t UTF-8` makes it so"},
    {"version https://git-lfs.github.com/spec/"sv,
     "a pointer of Git LFS, not the file itself: `git lfs pull` fetches it"},
    {"\x7f"
     "ELF"sv,
     "a program or library, not a trace"},
    {"SQLite format 3\0"sv,
     "an SQLite database, such as Nsight Systems exports; only traces in JSON and memory snapshots "
     "are read"},
});

constexpr std::size_t kTarMagicAt = 257;

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

bool is_page(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::string head = base::lowered(without_blanks(text).substr(0, 16));
  return head.starts_with("<!doctype html") || head.starts_with("<html") ||
         head.starts_with("<head");
}

// Takes a word and the blanks before it off the front.
bool take(std::string_view& text, std::string_view word) {
  const std::string_view rest = without_blanks(text);
  if (!rest.starts_with(word)) return false;
  text = rest.substr(word.size());
  return true;
}

// What stepscope wrote itself: all of it begins with the name of its form.
std::string own_file(std::string_view text) {
  constexpr std::array kPartsOfARecording = {"rank"sv,  "run"sv,       "attempt"sv,
                                             "model"sv, "addresses"sv, "lines"sv};
  const std::string_view line = text.substr(0, 64);
  if (line.starts_with(R"({"rank":)") && line.find(R"(,"window":)") != std::string_view::npos &&
      line.find(R"(,"header":{)") != std::string_view::npos) {
    return "written by `stepscope export --to jsonl`: give the trace that it was made from";
  }
  if (!take(text, "{") || !take(text, R"("schema")") || !take(text, ":") ||
      !take(text, R"("stepscope.)")) {
    return {};
  }
  const std::string_view form = text.substr(0, text.find_first_of("/\""));
  if (std::ranges::find(kPartsOfARecording, form) != kPartsOfARecording.end()) {
    return fmt::format("a part of a recording (stepscope.{}): give the folder of the recording",
                       form);
  }
  return fmt::format(
      "an answer of stepscope (stepscope.{}), not a trace: give the trace that it was made from",
      form);
}

// The profile of TensorFlow and JAX: a protobuf whose first field holds planes named /host:… and
// /device:….
bool is_xplane(std::string_view text) {
  const std::string_view head = text.substr(0, 256);
  return head.starts_with('\x0a') && (head.find("/host:") != std::string_view::npos ||
                                      head.find("/device:") != std::string_view::npos);
}

// Packets one after another, each with its length before it, and nothing else. Text has other bytes
// where the next one ought to begin.
bool is_perfetto(std::string_view text) {
  constexpr char kPacket = '\x0a';
  constexpr int kEnough = 3;
  for (int packets = 0; packets < kEnough; ++packets) {
    if (text.empty()) return packets > 0;
    if (text.front() != kPacket) return false;
    text.remove_prefix(1);
    std::size_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (text.empty() || shift > 21) return false;
      const auto byte = static_cast<unsigned char>(text.front());
      text.remove_prefix(1);
      size |= static_cast<std::size_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (size == 0 || size > text.size()) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool is_tar(std::string_view text) {
  return text.size() > kTarMagicAt && text.substr(kTarMagicAt).starts_with("ustar");
}

}  // namespace

std::string other_file(std::string_view first_bytes) {
  for (const Magic& magic : kMagic) {
    if (first_bytes.starts_with(magic.bytes)) return std::string(magic.what);
  }
  if (is_tar(first_bytes)) return "a tar archive: unpack the trace in it";
  if (is_page(first_bytes)) {
    return "a page of HTML, such as a download that asks to log in; not a trace";
  }
  // The first byte of the next two is a line's end, too.
  const std::string_view text = without_blanks(first_bytes);
  if (text.starts_with('{') || text.starts_with('[')) return own_file(first_bytes);
  if (is_xplane(first_bytes)) {
    return "a profile of TensorFlow or JAX (xplane.pb); only traces in JSON and memory "
           "snapshots are read";
  }
  if (is_perfetto(first_bytes)) {
    return "a trace in Perfetto's own format, which is not read: ui.perfetto.dev shows it; "
           "give the trace in JSON that it was made from";
  }
  return {};
}

std::string nothing_to_read(std::string_view first_bytes, const bytes::ByteSource& source) {
  if (first_bytes.empty()) {
    if (std::string damage = damage_text(source); !damage.empty()) {
      return "nothing can be uncompressed: " + damage + "; expected a trace in JSON";
    }
    if (source.encoding() == bytes::Encoding::kPlain) return {};  // empty, as its reader says
    return fmt::format("{} of nothing; expected a trace in JSON",
                       bytes::name_of(source.encoding()));
  }
  const std::string_view text = without_blanks(first_bytes);
  if (text.empty()) {
    return fmt::format("only blanks in its first {} bytes; expected a trace in JSON",
                       first_bytes.size());
  }
  if (text.front() != '\0') return {};
  const std::size_t zeros_at = first_bytes.size() - text.size();
  const std::size_t zeros = std::min(text.find_first_not_of('\0'), text.size());
  return fmt::format(
      "zero bytes from byte {} to {}, as a crash or a full disk leaves them; expected a trace in "
      "JSON",
      zeros_at, zeros_at + zeros);
}

}  // namespace stepscope::ingest
