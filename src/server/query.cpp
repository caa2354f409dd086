#include "server/query.h"

#include <limits>

#include <fmt/format.h>

#include "base/number_list.h"
#include "base/number_text.h"

namespace stepscope::server {

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
