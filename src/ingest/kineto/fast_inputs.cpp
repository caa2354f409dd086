// What an operator was called with, for the fast scanner. A trace has a few hundred different calls
// and writes each of them thousands of times, nearly always in one stretch of text: so that stretch
// is compared as a whole, and only a new one is looked into.

#include <bit>
#include <cstring>

#include "ingest/kineto/event_starts.h"
#include "ingest/kineto/fast.h"
#include "ingest/kineto/reference_reader.h"

namespace stepscope::ingest::kineto {
namespace {

using fast::is_space;

constexpr unsigned kMemoBits = 11;
constexpr std::size_t kProbes = 8;          // places where a call may be remembered
constexpr std::size_t kLongestMemo = 2048;  // what is longer costs no more than its reading anyway

// Of eight words spread over the text, which tell nearly all calls apart; the products do not wait
// for each other. Of a short text some bytes before it count too: nothing is wrong then but that
// it may not be recognised.
std::uint64_t hash_of(std::string_view text) {
  constexpr std::array<std::uint64_t, 8> kFactors = {
      0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93,
      0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3};
  const std::size_t step = text.size() / 8;
  const char* at = text.data() + text.size() - 8;
  std::uint64_t hash = text.size() * kFactors[0];
  for (const std::uint64_t factor : kFactors) {
    hash += fast::load(at) * factor;
    at -= step;
  }
  return hash ^ hash >> 32;
}

// Whether the reference reader takes this text for a list, and sees nothing odd in it. The index
// saw that its brackets pair and its strings end; words that are no numbers, commas too many or too
// few it does not see.
bool is_sound_list(const char* begin, const char* end) {
  ReferenceReader reader(end, Lookahead::Behind::kNothing);
  Token token{};
  Oddities odd;
  const Reading read = reader.value(begin, ReferenceReader::Place::kMember, token, odd);
  return read.outcome == Outcome::kDone && read.next == end && !odd.any();
}

}  // namespace

// The id of the lists that were met, or their texts where they are new. False if the event is not
// plain.
bool FastScanner::find_signature() {
  const char* const end = list_end(last_list_);
  if (end == nullptr) return false;
  std::array<std::uint32_t, 4> starts{};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    starts[i] = draft_.has_arg(input_arg(i))
                    ? static_cast<std::uint32_t>(lists_[i].begin - first_list_)
                    : kUnknownId;
  }
  const std::string_view text = between(first_list_, end);
  if (call_memos_.empty()) call_memos_.resize(std::size_t{1} << kMemoBits);
  const std::uint64_t hash = hash_of(text);
  std::size_t slot = hash % (std::size_t{1} << kMemoBits);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const CallMemo& memo = call_memos_[slot];
    if (memo.id == kUnknownId) break;
    if (memo.hash == hash && memo.text == text && memo.starts == starts) {
      draft_.signature_id = memo.id;
      return true;
    }
    slot = (slot + 1) % (std::size_t{1} << kMemoBits);
  }
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    const Arg arg = input_arg(i);
    if (!draft_.has_arg(arg)) continue;
    const char* const list_ends = list_end(lists_[i].next);
    if (list_ends == nullptr || !is_sound_list(lists_[i].begin, list_ends)) return false;
    draft_.set_text(arg, between(lists_[i].begin, list_ends));
  }
  if (text.size() <= kLongestMemo) {
    new_call_ = slot;
    call_memos_[slot] = {hash, std::string(text), starts, kUnknownId};
  }
  return true;
}

// The id of a new call is known when it is staged, if what was called is an operator at all.
void FastScanner::remember_call(std::size_t ops_before) {
  if (shard_.ops.size() != ops_before) call_memos_[new_call_].id = shard_.ops.back().signature;
  new_call_ = kNowhere;
}

// A list ends before the next key or the end of the arguments; nullptr if it does not, or holds
// objects. `next` is the place after its key.
const char* FastScanner::list_end(std::uint32_t next) const {
  const char* end = window_ + index_->places[next];
  if (*end == '{') return nullptr;
  if (*end == ':') {
    end = quote_before(end - 1);
    while (is_space(end[-1])) --end;
    --end;
    if (*end != ',') return nullptr;
  }
  while (is_space(end[-1])) --end;
  return end[-1] == ']' ? end : nullptr;
}

// The quote before one that closes a string.
const char* FastScanner::quote_before(const char* quote) const {
  const auto close = static_cast<std::uint32_t>(quote - window_);
  std::uint32_t word = close / 64;
  std::uint64_t quotes = index_->quotes[word] & ((std::uint64_t{1} << (close % 64)) - 1);
  while (quotes == 0 && word > 0) quotes = index_->quotes[--word];
  return window_ + word * 64 + (63 - std::countl_zero(quotes | 1));
}

}  // namespace stepscope::ingest::kineto
