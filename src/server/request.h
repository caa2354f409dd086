// Requests and responses, without a word about sockets.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/analyze.h"

namespace stepscope::server {

class RunLoader;

struct Request {
  std::string method = {};
  std::string target = {};                          // as it stands in the first line
  std::map<std::string, std::string> headers = {};  // names in lower case
  bool repeated_host = false, repeated_origin = false;
  bool has_body = false;

  std::string_view header(const std::string& name) const;
};

// The path without base and query, decoded, and the parameters, decoded.
struct Target {
  std::string path;  // "api/tiles/0/3/1", "" for the page itself
  std::map<std::string, std::string> query;
};

// Fails on what is no path, is not encoded as it should be, or names a parameter twice.
base::Result<Target> parse_target(std::string_view target, std::string_view base_path);

// "%20" and "+" are blanks. Nothing but UTF-8 without control characters comes out.
base::Result<std::string> decode_component(std::string_view text, bool plus_is_blank);

// The content of an answer, kept and sent many times.
struct Content {
  std::string type;
  std::string body;
  std::string gzip;  // the body packed; empty: not worth it
  std::string etag;
};

struct Response {
  unsigned status = 200;
  std::shared_ptr<const Content> content;
  std::vector<std::pair<std::string, std::string>> headers;
  bool may_be_kept = false;  // has an ETag that is to be compared
  std::string version = {};  // of the run it is about; empty: of the program
  std::shared_ptr<const RunLoader> progress_of = {};  // sent as it happens, instead of a content
};

// A plain sentence as JSON.
Response error_response(unsigned status, std::string_view code, std::string_view message);

// Packs the body where that makes it shorter, and gives it its tag.
std::shared_ptr<const Content> make_content(std::string type, std::string body);

// Pages that stand alone, for people at a browser where the real one cannot be shown.

// `html` is what stands below the title; nothing in either may come from outside.
Response plain_page(unsigned status, std::string_view title, std::string_view html);

// The parameters of a request, taken one by one; what is left over is an error.

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

  // All parameters that were not taken.
  const std::map<std::string, std::string>& rest() const { return rest_; }
  base::Status finish() const;

 private:
  std::map<std::string, std::string> rest_;
};

}  // namespace stepscope::server
