// The parameters of a request, taken one by one; what is left over is an error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/request.h"
#include "session/analyze.h"

namespace stepscope::server {

class Query {
 public:
  explicit Query(const Target& target);

  std::optional<std::string> text(const std::string& name);
  base::Result<std::uint64_t> whole(const std::string& name, std::uint64_t default_value,
                                    std::uint64_t most);
  // "0,3,8-15"; empty where it is not given.
  base::Result<std::vector<std::int64_t>> numbers(const std::string& name);
  base::Result<std::vector<std::int32_t>> ranks();
  base::Result<analysis::Selection> selection();  // rank and step

  // All that nobody took.
  const std::map<std::string, std::string>& rest() const { return rest_; }
  base::Status finish() const;

 private:
  std::map<std::string, std::string> rest_;
};

}  // namespace stepscope::server
