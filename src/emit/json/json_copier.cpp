// Copies raw JSON of a trace, also redacted, without building a tree of it.
#include "emit/json/json_copier.h"

#include <algorithm>

#include "base/json_string.h"
#include "base/utf8.h"
#include "emit/json/json_text.h"
#include "emit/redaction/redact.h"

namespace stepscope::emit {

std::size_t JsonCopier::copy(std::string_view text, std::size_t at, std::string_view key) {
  text_ = text;
  at_ = copied_ = skip_blanks(text, at);
  key_ = key;
  expect_ = Expect::kValue;
  repaired_ = false;
  levels_.clear();
  do {
    if (!step()) return kBeyondRepair;
  } while (!levels_.empty());
  out_.append(text_, copied_, at_ - copied_);
  return at_;
}

bool JsonCopier::step() {
  at_ = skip_blanks(text_, at_);
  if (at_ >= text_.size()) return false;
  switch (expect_) {
    case Expect::kValue:
      return take_value();
    case Expect::kKey:
      return take_key();
    case Expect::kNext:
      return take_separator();
  }
  return false;
}

bool JsonCopier::take_value() {
  const char c = here();
  expect_ = Expect::kNext;
  switch (c) {
    case '"':
      take_string(key_, false);
      return true;
    case '{':
    case '[':
      if (levels_.size() >= kDeepest) return false;
      levels_.push_back({c == '{' ? '}' : ']', key_,
                         is_secret(key_) || (!levels_.empty() && levels_.back().is_secret)});
      expect_ = c == '{' ? Expect::kKey : Expect::kValue;
      ++at_;
      return true;
    case ']':
      if (level() == ']') return close_level(c);  // an empty list
      [[fallthrough]];
    case '}':
    case ',':
      if (level() == ']' && c == ',') {  // a comma before the first value
        replace(at_++, 1, "");
        expect_ = Expect::kValue;
        return true;
      }
      if (level() != '}') return false;
      replace(at_, 0, "null");  // a key without a value
      return true;
    default:
      return take_word();
  }
}

bool JsonCopier::take_key() {
  if (here() == '}') return close_level('}');
  if (here() == ',') {
    replace(at_++, 1, "");
    return true;
  }
  const std::size_t begin = at_;
  if (here() == '"') {
    take_string({}, true);
    key_ = text_.substr(begin + 1, at_ - begin - 2);
  } else {
    at_ = word_end(text_, begin);
    key_ = text_.substr(begin, at_ - begin);
    if (key_.empty()) return false;
    std::string quoted;
    append_string(quoted, redactor_ == nullptr ? std::string(key_) : redactor_->text(key_));
    replace(begin, key_.size(), quoted);
  }
  at_ = skip_blanks(text_, at_);
  if (here() != ':') return false;
  ++at_;
  expect_ = Expect::kValue;
  return true;
}

// What follows a value inside an object or a list.
bool JsonCopier::take_separator() {
  const char c = here();
  if (c == '}' || c == ']') return close_level(c);
  if (c == ',') {
    const std::size_t comma = at_++;
    const std::size_t next = skip_blanks(text_, at_);
    if (const std::size_t end = end_of_stray_word(next); end != next) {
      at_ = end;
      replace(comma, end - comma, "");
    } else if (next < text_.size() && (text_[next] == level() || text_[next] == ',')) {
      replace(comma, 1, "");
    } else {
      expect_ = level() == '}' ? Expect::kKey : Expect::kValue;
    }
    return true;
  }
  if (c == ':') return false;
  replace(at_, 0, ",");
  expect_ = level() == '}' ? Expect::kKey : Expect::kValue;
  return true;
}

// A word that is neither a key nor a value, b of {"a": 1, b, "c": 2}, in quotes or without: it
// cannot be assigned to a key. Where it ends, or `at` if there is none.
std::size_t JsonCopier::end_of_stray_word(std::size_t at) const {
  if (level() != '}' || at >= text_.size()) return at;
  std::size_t end = word_end(text_, at);
  if (text_[at] == '"') {
    // Almost all are keys, of which take_string() will find the end anyway.
    const std::size_t quote = text_.find('"', at + 1);
    if (quote != std::string_view::npos && quote + 1 < text_.size() && text_[quote + 1] == ':') {
      return at;
    }
    end = at + 1 + plain_run(text_, at + 1);
    if (end >= text_.size() || text_[end] != '"') return at;
    ++end;
  }
  const std::size_t next = skip_blanks(text_, end);
  const bool is_stray = next < text_.size() && (text_[next] == ',' || text_[next] == '}');
  return is_stray ? end : at;
}

bool JsonCopier::close_level(char c) {
  if (level() != c) return false;
  key_ = levels_.back().key;
  levels_.pop_back();
  expect_ = Expect::kNext;
  ++at_;
  return true;
}

void JsonCopier::take_string(std::string_view key, bool is_key) {
  const std::size_t begin = at_ + 1;
  const Place place = is_key ? Place::kKey : level() == ']' ? Place::kListItem : Place::kMember;
  // Almost every string is plain up to the quote that closes it.
  const std::size_t stop = begin + plain_run(text_, begin);
  const bool is_plain =
      stop < text_.size() && text_[stop] == '"' && may_end_before(text_, stop + 1, place);
  const std::size_t end = is_plain ? stop : string_end(text_, begin, place);
  at_ = std::min(end + 1, text_.size());
  if (redactor_ != nullptr && redact_string(key, is_key, begin, end)) return;
  if (!is_plain) mend_string(begin, end);
}

bool JsonCopier::redact_string(std::string_view key, bool is_key, std::size_t begin,
                               std::size_t end) {
  const std::string plain = base::decode_string(text_.substr(begin, end - begin));
  std::string hidden = is_key ? redactor_->text(plain) : hidden_value(key, plain);
  if (hidden == plain) return false;
  std::string quoted;
  append_string(quoted, hidden);
  const bool was_repaired = repaired_;
  replace(begin - 1, at_ - begin + 1, quoted);
  repaired_ = was_repaired;
  return true;
}

// Values in a list belong to the key of the list, and all there is in a secret object is secret.
std::string JsonCopier::hidden_value(std::string_view key, std::string_view text) {
  const bool secret = is_secret(key) || (!levels_.empty() && levels_.back().is_secret);
  return secret ? redactor_->secret(text) : redactor_->value(key, text);
}

// Looked up once: the same few keys come again and again.
bool JsonCopier::is_secret(std::string_view key) {
  if (redactor_ == nullptr) return false;
  const auto known = secret_keys_.find(key);
  if (known != secret_keys_.end()) return known->second;
  const bool secret = is_secret_key(key);
  constexpr std::size_t kMost = 10'000;  // a file may have a key of its own for every event
  if (secret_keys_.size() < kMost) secret_keys_.emplace(key, secret);
  return secret;
}

void JsonCopier::mend_string(std::size_t begin, std::size_t end) {
  for (std::size_t at = begin + plain_run(text_, begin); at < end; at += plain_run(text_, at)) {
    const char c = text_[at];
    if (c == '\\') {
      const Escape escape = escape_at(text_.substr(0, end), at);
      if (!escape.valid) replace(at, escape.size, escape.instead);
      at += escape.size;
    } else if (static_cast<unsigned char>(c) < 0x80) {  // a quote or a control character
      std::string quoted;
      append_string(quoted, text_.substr(at, 1));
      replace(at++, 1, std::string_view(quoted).substr(1, quoted.size() - 2));
    } else {
      const base::Utf8 sequence = base::utf8_at(text_.substr(0, end), at);
      if (!sequence.valid) replace(at, sequence.size, base::kReplacement);
      at += sequence.size;
    }
  }
  if (end >= text_.size()) replace(end, 0, "\"");
}

bool JsonCopier::take_word() {
  const std::size_t begin = at_;
  at_ = word_end(text_, begin);
  const std::string_view word = text_.substr(begin, at_ - begin);
  if (word.empty()) return false;
  if (is_json_word(word)) return true;
  std::string json = json_of_word(word);
  if (json.front() == '"') {
    if (is_kept_as_text(key_)) {
      json = "null";
    } else if (redactor_ != nullptr) {
      json.clear();
      append_string(json, hidden_value(key_, word));
    }
  }
  const bool is_kept = is_kept_whole(key_);
  // In place of what is kept as it stands a word says nothing, and a string would. Within it, it is
  // not taken for a number, whatever it begins with.
  if (is_kept && level() != ']') {
    json = "null";
  } else if (is_kept && json == "null") {
    json.clear();
    append_string(json, redactor_ == nullptr ? std::string(word) : hidden_value(key_, word));
  }
  replace(begin, word.size(), json);
  return true;
}

void JsonCopier::replace(std::size_t at, std::size_t skip, std::string_view instead) {
  out_.append(text_, copied_, at - copied_);
  out_ += instead;
  copied_ = at + skip;
  repaired_ = true;
}

}  // namespace stepscope::emit
