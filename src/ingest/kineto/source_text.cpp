#include "ingest/kineto/source_text.h"

#include <fmt/format.h>

#include "ingest/kineto/careful.h"
#include "ingest/kineto/feed.h"

namespace stepscope::ingest::kineto {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 18;

}  // namespace

base::Status FileText::load(std::uint64_t text_offset, std::size_t size) {
  if (reader_ == nullptr) {
    SCOPE_TRY(std::unique_ptr<bytes::TextReader> reader, bytes::open_text(path_, encoding_, index_));
    reader_ = std::move(reader);
  }
  window_.resize(size);
  SCOPE_TRY(const std::size_t got, reader_->read_at(text_offset, {window_.data(), size}));
  window_ends_ = got < size;
  window_.resize(got);
  window_offset_ = text_offset;
  return base::Done{};
}

base::Result<std::string> FileText::event(std::uint64_t text_offset) {
  for (std::size_t size = kWindow; size <= 2 * kLongestEvent; size *= 2) {
    const bool at_hand = text_offset >= window_offset_ &&
                         text_offset < window_offset_ + window_.size() && size == kWindow;
    if (!at_hand) SCOPE_TRY(load(text_offset, size));
    const auto skip = static_cast<std::size_t>(text_offset - window_offset_);
    if (skip >= window_.size() || window_[skip] != '{') break;
    const char* const begin = window_.data() + skip;
    CarefulReader reader(window_.data() + window_.size(), window_ends_);
    Token token{};
    Oddities odd;
    const Reading reading = reader.value(begin, true, token, odd);
    if (reading.outcome == Outcome::kDone) return std::string(token.text);
    if (reading.outcome == Outcome::kUnreadable) break;
    if (at_hand) size = kWindow / 2;  // the window ends inside the event: begin a new one there
  }
  return base::fail(base::Code::kFormat,
                    fmt::format("{}:{}: the event read here before is no longer there", path_,
                                text_offset));
}

}  // namespace stepscope::ingest::kineto
