// The file as a whole: an object whose keys stand before or after its event list, or a bare list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/notes.h"
#include "base/result.h"
#include "ingest/kineto/feed.h"
#include "ingest/kineto/header.h"
#include "ingest/kineto/pipeline.h"
#include "ingest/kineto/reference_reader.h"
#include "ingest/reading.h"
#include "trace/header.h"

namespace stepscope::ingest::kineto {

struct Document {
  trace::Header header;
  EventList events;
  base::ImportLog log;
};

class DocumentReader {
 public:
  DocumentReader(TextFeed& feed, const ReadOptions& options) : feed_(feed), options_(options) {}

  base::Result<Document> read();

 private:
  base::Status read_object();
  base::Status read_list();
  base::Status skip_second_list();
  base::Status read_member(const std::string& name);
  bool holds_more(const Reading& reading, const Oddities& odd) const;
  base::Result<Reading> whole_value(Token& token, Oddities& odd);
  base::Status skip_broken_value(std::string_view name);
  base::Result<bool> finds_events();
  base::Status skip_long_value(std::string_view name);
  enum class Wanted : std::uint8_t { kAny, kOfHeaders, kEvents };
  base::Result<bool> goes_on_at_key(Wanted wanted);
  base::Result<std::size_t> stray_brackets();
  std::size_t behind_stray_text() const;
  bool is_too_long() const { return text_.size() - at_ > kLongestEvent; }
  base::Result<bool> read_key();
  base::Result<bool> more();
  base::Result<char> peek();  // the next character that is not space; 0 at the end
  void note_cut(std::string_view where);
  base::Status note_text_behind();
  struct Rest {
    std::string size;
    bool has_json = false;  // or what could be
  };
  Rest skip_rest();
  base::Status give_up(std::string_view expected);
  base::Failure ends_in_header(std::uint64_t text_offset) const;
  base::Failure unexpected(std::string_view expected) const;
  std::uint64_t offset() const { return text_offset_ + at_; }
  const char* here() const { return text_.data() + at_; }
  ReferenceReader reader() const {
    using Behind = ReferenceReader::Behind;
    return {text_.data() + text_.size(), ended_ ? Behind::kNothing : Behind::kText};
  }

  TextFeed& feed_;
  const ReadOptions& options_;
  Document out_;
  HeaderBuilder header_{out_.header};
  std::string text_;  // what is at hand of the file
  std::uint64_t text_offset_ = 0;
  std::size_t at_ = 0;
  bool ended_ = false;
  bool has_events_ = false;
  bool has_member_ = false;
  std::size_t reread_bytes_ = 0;
  std::size_t unknown_bytes_ = 0;            // of header values that are not known
  std::optional<std::uint64_t> no_list_at_;  // "traceEvents" that holds something else
};

}  // namespace stepscope::ingest::kineto
