// Interned texts of a trace as they are written, redacted once each.
#include "emit/redaction/texts.h"

#include "emit/redaction/redact.h"

namespace stepscope::emit {

Texts::Texts(const trace::Trace& trace, const Redactor* redactor)
    : trace_(trace), redactor_(redactor) {
  if (redactor_ == nullptr) return;
  cache_.resize(trace.strings().size());
  for (const base::StringId id : trace.categories()) {
    categories_.push_back(redactor_->category(trace.text(id)));
  }
}

std::string_view Texts::redacted(base::StringId id) const {
  if (id >= cache_.size()) return {};
  if (!cache_[id]) cache_[id] = std::make_unique<std::string>(redactor_->text(trace_.text(id)));
  return *cache_[id];
}

std::string Texts::category_text(base::StringId id) const {
  return redactor_ == nullptr ? std::string(trace_.text(id)) : redactor_->category(trace_.text(id));
}

std::string Texts::plain(std::string_view text) const {
  return redactor_ == nullptr ? std::string(text) : redactor_->text(text);
}

std::string Texts::host(std::string_view name) const {
  return redactor_ == nullptr || name.empty() ? std::string(name) : redactor_->hash(name);
}

std::uint64_t Texts::flow_id(std::uint64_t id) const {
  return redactor_ == nullptr ? id : redactor_->number(id);
}

}  // namespace stepscope::emit
