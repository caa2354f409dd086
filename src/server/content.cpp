// Contents of answers: packed where that is shorter, with a tag; errors as JSON.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include "report/writing/json_writer.h"
#include "server/request.h"

namespace stepscope::server {
namespace {

constexpr std::size_t kWorthPacking = 512;

// Empty when it does not get shorter.
std::string packed(const std::string& body) {
  if (body.size() < kWorthPacking || body.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
    return {};
  }
  std::string out(body.size(), '\0');
  std::vector<std::uint8_t> level(ISAL_DEF_LVL1_DEFAULT);
  std::string in = body;  // the library wants to write where it only reads
  isal_zstream stream{};
  isal_deflate_init(&stream);
  stream.level = 1;
  stream.level_buf = level.data();
  stream.level_buf_size = static_cast<std::uint32_t>(level.size());
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(in.data());
  stream.avail_in = static_cast<std::uint32_t>(in.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  if (isal_deflate(&stream) != COMP_OK || stream.internal_state.state != ZSTATE_END) return {};
  out.resize(stream.total_out);
  return out;
}

// Tells contents apart; it need not resist forgery.
std::uint64_t fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

std::shared_ptr<const Content> make_content(std::string type, std::string body) {
  auto content = std::make_shared<Content>();
  // Weak: packed or not, it is the same content.
  content->etag = fmt::format("W/\"{:016x}-{:x}\"", fingerprint(body), body.size());
  content->gzip = packed(body);
  content->type = std::move(type);
  content->body = std::move(body);
  return content;
}

Response error_response(unsigned status, std::string_view code, std::string_view message) {
  report::JsonWriter json;
  json.begin_object();
  json.key("error");
  json.begin_object();
  json.member("code", code);
  json.member("message", message);
  json.end_object();
  json.end_object();
  Response response;
  response.status = status;
  response.content = make_content("application/json", std::move(json).finish());
  return response;
}

}  // namespace stepscope::server
