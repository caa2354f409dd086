// Goes back to the file for the text of an event.
#include "ingest/kineto/source_text.h"

#include <fmt/format.h>

#include "ingest/kineto/feed.h"
#include "ingest/kineto/reference_reader.h"

namespace stepscope::ingest::kineto {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 18;

}  // namespace

base::Status FileText::load(std::uint64_t text_offset, std::size_t size) {
  if (reader_ == nullptr) {
    SCOPE_TRY(std::unique_ptr<bytes::TextReader> reader,
              bytes::open_text(path_, encoding_, index_));
    reader_ = std::move(reader);
  }
  window_.resize(size);
  SCOPE_TRY(const std::size_t got, reader_->read_at(text_offset, {window_.data(), size}));
  window_ends_ = got < size;
  window_.resize(got);
  window_offset_ = text_offset;
  return base::Done{};
}

// The event at `text_offset`, if the window holds it whole. Quotes in its strings are escaped.
std::optional<std::string> FileText::in_window(std::uint64_t text_offset) const {
  if (text_offset < window_offset_ || text_offset - window_offset_ >= window_.size()) {
    return std::nullopt;
  }
  const char* const begin = window_.data() + (text_offset - window_offset_);
  if (*begin != '{') return std::nullopt;
  using Behind = ReferenceReader::Behind;
  ReferenceReader reader(window_.data() + window_.size(),
                         window_ends_ ? Behind::kNothing : Behind::kText);
  Token token{};
  Oddities odd;
  Reading reading = reader.value(begin, ReferenceReader::Place::kListItem, token, odd);
  // Without its time a name may have ended it.
  const bool is_plain = reading.outcome == Outcome::kDone && odd.unescaped_quotes == 0 &&
                        token.text.find("\"ts\"") != std::string_view::npos;
  bool is_cut = false;
  using Strictness = ReferenceReader::Strictness;
  if (is_plain && reader.may_end_entry(reading.next, Strictness::kAnyMember, is_cut) && !is_cut) {
    return std::string(token.text);
  }
  RawEvent draft;
  draft.reset(0);
  odd = {};
  odd.keeps_quotes = true;
  reading = reader.event(begin, draft, odd);
  if (reading.outcome != Outcome::kDone) return std::nullopt;
  std::string text;
  const char* from = begin;
  for (const char* const quote : odd.quotes) {
    text.append(from, quote).append("\\");
    from = quote;
  }
  return text.append(from, reading.next);
}

base::Result<std::string> FileText::event(std::uint64_t text_offset) {
  if (std::optional<std::string> text = in_window(text_offset)) return *std::move(text);
  // Not there, or cut off by the window's end: begin a new window at the event, large enough.
  for (std::size_t size = kWindow; size <= 2 * kLongestEvent; size *= 2) {
    SCOPE_TRY(load(text_offset, size));
    if (std::optional<std::string> text = in_window(text_offset)) return *std::move(text);
    if (window_ends_) break;
  }
  return base::fail(
      base::Code::kFormat,
      fmt::format("{}:{}: the event read here before is no longer there", path_, text_offset));
}

}  // namespace stepscope::ingest::kineto
