// Parameters of a request, and plain pages for a browser.
#include "server/request.h"

#include <limits>

#include <fmt/format.h>

#include "base/number_list.h"
#include "base/number_text.h"

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

using base::Code;
using base::fail;

Query::Query(const Target& target) : rest_(target.query) {
  rest_.erase("token");
  rest_.erase("v");
  rest_.erase("run");
}

std::optional<std::string> Query::text(const std::string& name) {
  const auto found = rest_.extract(name);
  if (found.empty()) return std::nullopt;
  return found.mapped();
}

base::Result<std::uint64_t> Query::whole(const std::string& name, std::uint64_t default_value,
                                         std::uint64_t most) {
  const auto given = text(name);
  if (!given) return default_value;
  const auto number = base::parse_number<std::uint64_t>(*given);
  if (!number || *number > most) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: '{}' is no whole number from 0 to {}", name, *given, most));
  }
  return *number;
}

base::Result<std::vector<std::int64_t>> Query::numbers(const std::string& name) {
  const auto given = text(name);
  if (!given) return std::vector<std::int64_t>();
  auto numbers = base::parse_number_list(*given);
  if (!numbers) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: '{}' is no list of numbers such as 0,3,8-15", name, *given));
  }
  return *std::move(numbers);
}

base::Result<std::vector<std::int32_t>> Query::ranks() {
  SCOPE_TRY(const auto given, numbers("rank"));
  std::vector<std::int32_t> ranks;
  for (const std::int64_t rank : given) {
    if (rank > std::numeric_limits<std::int32_t>::max()) {
      return fail(Code::kInvalidArgument, fmt::format("rank: there is no rank {}", rank));
    }
    ranks.push_back(static_cast<std::int32_t>(rank));
  }
  return ranks;
}

base::Result<analysis::Selection> Query::selection() {
  analysis::Selection chosen;
  SCOPE_TRY(chosen.ranks, ranks());
  SCOPE_TRY(chosen.steps, numbers("step"));
  return chosen;
}

base::Status Query::finish() const {
  if (rest_.empty()) return base::Done{};
  return fail(Code::kInvalidArgument,
              fmt::format("there is no parameter '{}' here", rest_.begin()->first));
}

}  // namespace stepscope::server
