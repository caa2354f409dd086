// Serves the files of the built page from memory.
#include "server/assets.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "server/request.h"

namespace stepscope::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNotBuilt =
    "<p>This program came without its page. In a checkout <code>make web</code> builds it; then "
    "start <code>stepscope serve</code> again. <code>--assets FOLDER</code> names a page that lies "
    "elsewhere.</p>\n"
    "<p>The interface is there all the same: <a href=\"api/run\">api/run</a>, "
    "<a href=\"api/analyses\">api/analyses</a>, <a href=\"api/findings\">api/findings</a>, "
    "<a href=\"openapi.json\">openapi.json</a>.</p>\n";

std::string_view type_of(std::string_view name) {
  struct Known {
    std::string_view suffix, type;
  };
  constexpr std::array kKnown = std::to_array<Known>({
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".map", "application/json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".wasm", "application/wasm"},
      {".txt", "text/plain; charset=utf-8"},
      {".webmanifest", "application/manifest+json"},
  });
  for (const Known& known : kKnown) {
    if (name.ends_with(known.suffix)) return known.type;
  }
  return "application/octet-stream";
}

Response answer_of(std::string_view type, std::string body) {
  Response response;
  response.content = make_content(std::string(type), std::move(body));
  response.may_be_kept = true;
  return response;
}

}  // namespace

Assets::Assets(std::string folder) : folder_(std::move(folder)) { look(); }

void Assets::look() {
  files_.clear();
  if (folder_.empty()) return;
  std::error_code error;
  const fs::path root(folder_);
  for (auto at = fs::recursive_directory_iterator(root, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->is_symlink(ignored) || !at->is_regular_file(ignored)) continue;
    std::ifstream in(at->path(), std::ios::binary);
    std::string body((std::istreambuf_iterator<char>(in)), {});
    if (in.bad()) continue;
    const std::string name = at->path().lexically_relative(root).generic_string();
    files_[name] = answer_of(type_of(name), std::move(body));
  }
}

std::optional<Response> Assets::file(std::string_view name) {
  const std::lock_guard lock(mutex_);
  // The page was perhaps built again since; its files have other names then.
  if (name.empty()) look();
  if (name.empty()) name = "index.html";
  if (const auto found = files_.find(name); found != files_.end()) return found->second;
  if (name != "index.html") return std::nullopt;
  return plain_page(503, "The page is not built", kNotBuilt);
}

}  // namespace stepscope::server
