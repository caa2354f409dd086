// Everything of a Chrome file that stands before its first event.
#pragma once

#include <string>

#include "trace/header.h"

namespace stepscope::emit {

class Redactor;

// Ends with the bracket that opens the list of events.
void append_chrome_header(std::string& out, const trace::Header& header, const Redactor* redactor);

}  // namespace stepscope::emit
