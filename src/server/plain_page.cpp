#include "server/plain_page.h"

#include <fmt/format.h>

namespace stepscope::server {

Response plain_page(unsigned status, std::string_view title, std::string_view html) {
  Response response;
  response.status = status;
  response.content = make_content(
      "text/html; charset=utf-8",
      fmt::format("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\"><title>stepscope</title>\n"
                  "<style>body {{ font: 16px/1.6 system-ui, sans-serif; max-width: 40em; "
                  "margin: 18vh auto 0; padding: 0 1.5em; }} h1 {{ font-size: 1.4em; }}</style>\n"
                  "<h1>{}</h1>\n{}</html>\n",
                  title, html));
  return response;
}

}  // namespace stepscope::server
