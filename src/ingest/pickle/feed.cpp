// Moves the window over the bytes of a pickle.
#include "ingest/pickle/feed.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace stepscope::ingest::pickle {

Feed::Feed(std::unique_ptr<bytes::ByteSource> source, std::size_t window)
    : source_(std::move(source)), buffer_(std::max(window, 2 * kSlack) + kSlack, '\0') {
  at = end = buffer_.data();
}

bool Feed::fill(std::size_t wanted) {
  if (ended_ || failed_) return !failed_;
  const auto left = static_cast<std::size_t>(end - at);
  base_ += static_cast<std::uint64_t>(at - buffer_.data());
  std::memmove(buffer_.data(), at, left);
  if (buffer_.size() < wanted + kSlack) buffer_.resize(wanted + kSlack);
  std::size_t filled = left;
  const std::size_t room = buffer_.size() - kSlack;
  while (filled < wanted || filled < room / 2) {
    const auto got = source_->read(std::span(buffer_).subspan(filled, room - filled));
    if (!got) {
      error_ = got.error();
      failed_ = true;
      break;
    }
    if (*got == 0) {
      ended_ = true;
      std::memset(buffer_.data() + filled, 0, kSlack);
      break;
    }
    filled += *got;
  }
  at = buffer_.data();
  end = at + filled;
  return !failed_;
}

std::uint64_t Feed::skip(std::uint64_t count) {
  std::uint64_t done = 0;
  while (done < count) {
    if (at == end && (!fill(1) || at == end)) break;
    const auto step = std::min<std::uint64_t>(count - done, static_cast<std::uint64_t>(end - at));
    at += step;
    done += step;
  }
  return done;
}

}  // namespace stepscope::ingest::pickle
