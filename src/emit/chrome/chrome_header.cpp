#include "emit/chrome/chrome_header.h"

#include "base/json_string.h"
#include "emit/json/json_copier.h"
#include "emit/json/json_text.h"
#include "emit/redaction/redact.h"

namespace stepscope::emit {
namespace {

// Free text of the profiler and of the user's environment: not worth the risk.
bool is_log(std::string_view key) { return key == "INFO" || key == "WARNING" || key == "ERROR"; }
bool is_setting(std::string_view key) { return key.starts_with("PT_PROFILER_"); }

bool is_left_out(std::string_view key, std::string_view json, const Redactor& redactor) {
  if (!is_setting(key)) return false;
  const std::string text = base::decode_json(json);
  return redactor.value(key, text) != text;
}

void append_value(std::string& out, std::string_view key, std::string_view json,
                  const Redactor* redactor) {
  if (redactor != nullptr && is_log(key)) {
    out += "[]";
    return;
  }
  const std::size_t value_at = out.size();
  JsonCopier copier(out, redactor);
  if (copier.copy(json, 0, key) != JsonCopier::kBeyondRepair) return;
  // Text that is no JSON at all: kept as a string, so that the file stays readable.
  out.resize(value_at);
  append_string(out, redactor == nullptr ? std::string(json) : redactor->value(key, json));
}

}  // namespace

void append_chrome_header(std::string& out, const trace::Header& header, const Redactor* redactor) {
  if (header.bare_array) {
    out += '[';
    return;
  }
  out += '{';
  for (const auto& [key, json] : header.metadata) {
    if (redactor != nullptr && is_left_out(key, json, *redactor)) continue;
    out += '\n';
    append_string(out, redactor == nullptr ? key : redactor->text(key));
    out += ": ";
    append_value(out, key, json, redactor);
    out += ',';
  }
  out += "\n\"traceEvents\": [";
}

}  // namespace stepscope::emit
