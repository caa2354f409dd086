// Decides which requests are answered: host, origin and token.
#include "server/access.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/number_text.h"
#include "server/request.h"

namespace stepscope::server {
namespace {

// Takes as long for a wrong token as for a nearly right one.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

bool is_port(std::string_view text) {
  return base::parse_number<std::uint16_t>(text).value_or(0) > 0;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// A person at a browser, not a script or the page.
bool wants_page(const Request& request, const Target& target) {
  return target.path.empty() &&
         request.header("accept").find("text/html") != std::string_view::npos;
}

}  // namespace

Access::Access(std::string token, std::string_view base_path,
               const std::vector<std::string>& allowed_hosts)
    : token_(std::move(token)),
      // Cookies know no ports: two servers of one person must not take each other's.
      cookie_name_(fmt::format("stepscope-{:08x}",
                               static_cast<std::uint32_t>(std::hash<std::string>()(token_)))),
      cookie_path_(fmt::format("{}/", base_path)),
      hosts_({"localhost", "127.0.0.1", "[::1]"}) {
  for (const std::string& host : allowed_hosts) hosts_.push_back(base::lowered(host));
}

bool Access::is_known_host(std::string_view host) const {
  const std::string name = base::lowered(host);
  return std::ranges::any_of(hosts_, [&](const std::string& known) {
    if (!name.starts_with(known)) return false;
    const std::string_view rest = std::string_view(name).substr(known.size());
    return rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
  });
}

bool Access::is_known_origin(std::string_view origin) const {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_known_host(origin.substr(scheme.size()));
  }
  return false;
}

bool Access::has_token(const Request& request, const Target& target) const {
  if (const auto given = target.query.find("token"); given != target.query.end()) {
    return same(given->second, token_);
  }
  const std::string_view bearer = request.header("authorization");
  if (bearer.size() > 7 && base::lowered(bearer.substr(0, 7)) == "bearer ") {
    return same(trimmed(bearer.substr(7)), token_);
  }
  std::string_view cookies = request.header("cookie");
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    const std::string_view one = trimmed(cookies.substr(0, end));
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    const std::size_t equals = std::min(one.find('='), one.size());
    if (one.substr(0, equals) == cookie_name_ && equals < one.size() &&
        same(one.substr(equals + 1), token_)) {
      return true;
    }
  }
  return false;
}

std::optional<Response> Access::refusal(const Request& request, const Target& target) const {
  if (request.repeated_host || request.header("host").empty()) {
    return error_response(400, "bad_request", "a request needs one Host header");
  }
  if (!is_known_host(request.header("host"))) {
    if (wants_page(request, target)) {
      return plain_page(
          403, "This server does not answer to that name",
          "<p>It answers to localhost, 127.0.0.1 and [::1]. With a proxy in front, start it "
          "with <code>--allow-host</code> and the name that stands in the "
          "address.</p>\n");
    }
    return error_response(403, "forbidden",
                          "this server answers to localhost, 127.0.0.1 and [::1] only; "
                          "--allow-host NAME adds the name of a proxy");
  }
  if (request.repeated_origin) {
    return error_response(400, "bad_request", "a request has one Origin header at most");
  }
  const auto origin = request.headers.find("origin");
  if (origin != request.headers.end() && !is_known_origin(origin->second)) {
    return error_response(403, "forbidden", "pages of other sites may not ask this server");
  }
  if (has_token(request, target)) return std::nullopt;
  Response refused =
      wants_page(request, target)
          ? plain_page(401, "This address needs its token",
                       "<p>Open the whole address that <code>stepscope serve</code> printed, with "
                       "<code>?token=</code> in it. Each start of the server has a token of its "
                       "own: one of before opens nothing.</p>\n")
          : error_response(401, "unauthorized",
                           "the token is missing or wrong: open the address that "
                           "`stepscope serve` has printed, with its token");
  refused.headers.emplace_back("WWW-Authenticate", "Bearer");
  return refused;
}

std::string Access::cookie() const {
  return fmt::format("{}={}; Path={}; HttpOnly; SameSite=Strict", cookie_name_, token_,
                     cookie_path_);
}

base::Result<std::string> random_token() {
  std::array<unsigned char, 32> bytes{};
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return base::fail(base::Code::kIo, "the system gives no random numbers");
    done += static_cast<std::size_t>(got);
  }
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string token;
  for (const unsigned char byte : bytes) token += kLetters[byte % 64];
  return token;
}

}  // namespace stepscope::server
