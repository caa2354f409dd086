// Access control. Login nodes are shared, so that the address alone opens nothing: every request
// needs the token. Pages of other sites cannot use the token of a browser, because Host and Origin
// are checked against the few names by which this server is known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/request.h"

namespace stepscope::server {

class Access {
 public:
  // `allowed_hosts`: names beside localhost, 127.0.0.1 and [::1], as a proxy passes them on.
  Access(std::string token, std::string_view base_path,
         const std::vector<std::string>& allowed_hosts);

  // The answer for clients without access.
  std::optional<Response> refusal(const Request& request, const Target& target) const;

  const std::string& token() const { return token_; }
  // What makes the browser remember the token; for answers to requests that brought it in the URL.
  std::string cookie() const;

 private:
  bool is_known_host(std::string_view host) const;
  bool is_known_origin(std::string_view origin) const;
  bool has_token(const Request& request, const Target& target) const;

  std::string token_, cookie_name_, cookie_path_;
  std::vector<std::string> hosts_;
};

// 32 bytes of the system's best randomness as letters; fails where there is none.
base::Result<std::string> random_token();

}  // namespace stepscope::server
