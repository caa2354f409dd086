// Routes of the HTTP interface: a request comes in, an answer goes out, without sockets.
#include "server/app.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "report/help/help.h"
#include "report/writing/json_writer.h"
#include "server/answers.h"

namespace stepscope::server {
namespace {

using base::Code;

struct Route {
  std::string_view word;  // after "api/"
  base::Result<Answered> (*answer)(Asked& asked);
  bool has_words;  // after it
  bool is_long;
};

constexpr std::array kRoutes = std::to_array<Route>({
    {"analyses", analysis_answer, true, true},
    {"findings", findings_answer, false, true},
    {"summary", summary_answer, false, true},
    {"tracks", tracks_answer, false, false},
    {"tiles", tiles_answer, true, false},
    {"events", event_answer, true, false},
    {"search", search_answer, false, true},
    {"selection", selection_answer, false, true},
});

std::vector<std::string> words_of(std::string_view path) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t end = std::min(path.find('/'), path.size());
    words.emplace_back(path.substr(0, end));
    if (end == path.size()) return words;
    path.remove_prefix(end + 1);
  }
}

const Route* route_of(const std::vector<std::string>& words) {
  if (words.size() < 2 || words[0] != "api") return nullptr;
  for (const Route& route : kRoutes) {
    if (route.word == words[1] && route.has_words == (words.size() > 2)) return &route;
  }
  return nullptr;
}

Response kept(std::string type, std::string body) {
  Response response;
  response.content = make_content(std::move(type), std::move(body));
  response.may_be_kept = true;
  return response;
}

Response failed(const base::Error& error) {
  switch (error.code) {
    case Code::kNotFound:
      return error_response(404, "not_found", error.message);
    case Code::kInvalidArgument:
      return error_response(400, "bad_request", error.message);
    case Code::kCancelled:
      return error_response(503, "busy", "the server is stopping");
    case Code::kIo:
    case Code::kFormat:
    case Code::kUnsupported:
    case Code::kLimit:
      break;
  }
  return error_response(500, "failed", error.message);
}

Response later(std::string_view code, std::string_view message) {
  Response wait = error_response(503, code, message);
  wait.headers.emplace_back("Retry-After", "1");
  return wait;
}

// The same question asked with its parameters in another order is the same question.
std::string key_of(const Target& target, const std::string& version) {
  std::string key = fmt::format("{}\n{}", version, target.path);
  for (const auto& [name, value] : target.query) {
    if (name == "token" || name == "v" || name == "run") continue;
    key += fmt::format("\n{}={}", name, value);
  }
  return key;
}

// "/node/n7/8250?a=b" → "/node/n7/8250/?a=b": what the page asks for stands beside it. Nothing
// where the slash is there.
std::optional<std::string> with_slash(std::string_view target, std::string_view base_path) {
  const std::string_view path = target.substr(0, target.find('?'));
  if (base_path.empty() || path != base_path) return std::nullopt;
  return fmt::format("{}/{}", path, target.substr(path.size()));
}

Response moved_to(const std::string& address) {
  Response moved = error_response(307, "moved", "the address ends with a slash");
  moved.headers.emplace_back("Location", address);
  moved.headers.emplace_back("Cache-Control", "no-store");
  return moved;
}

bool is_known(std::string_view tags, const std::string& etag) {
  return tags == "*" || (!tags.empty() && tags.find(etag.substr(2)) != std::string_view::npos);
}

std::string_view state_name(LoadState state) {
  switch (state) {
    case LoadState::kLoading:
      return "loading";
    case LoadState::kReady:
      return "ready";
    case LoadState::kFailed:
      return "failed";
  }
  return "";
}

void write_progress(report::JsonWriter& json, const session::Progress& progress) {
  json.begin_object();
  json.member("bytes_done", progress.bytes_done);
  json.member("bytes_total", progress.bytes_total);
  json.member("files_done", progress.files_done);
  json.member("files_total", progress.files_total);
  json.end_object();
}

}  // namespace

App::App(AppOptions options, RunShelf& shelf)
    : options_(std::move(options)),
      shelf_(&shelf),
      access_(options_.token, options_.base_path, options_.allowed_hosts),
      assets_(options_.assets),
      store_(options_.most_kept_bytes) {}

bool App::is_long(const Request& request) {
  if (request.target.find("api/runs") != std::string::npos) return true;  // folders may be far away
  for (const Route& route : kRoutes) {
    if (route.is_long &&
        request.target.find(fmt::format("api/{}", route.word)) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::string App::progress_data(const LoadReport& report) {
  report::JsonWriter json;
  if (report.state == LoadState::kLoading) {
    write_progress(json, report.progress);
  } else {
    json.begin_object();
    json.key("error");
    report.error.empty() ? json.null() : json.value(report.error);
    json.end_object();
  }
  // An event is lines; its data has to be one.
  std::string text = std::move(json).finish();
  std::erase(text, '\n');
  return text;
}

Response App::run_state(const RunLoader* loader, const std::string& name) const {
  const LoadReport report = loader == nullptr ? LoadReport{} : loader->report();
  report::JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.run-state/1");
  json.member("version", loader == nullptr ? shelf_->version() : loader->place().version);
  json.member("program", options_.program_version);
  json.member("state", loader == nullptr ? "none" : state_name(report.state));
  json.key("progress");
  write_progress(json, report.progress);
  json.key("error");
  report.error.empty() ? json.null() : json.value(report.error);
  json.key("run");
  const bool is_chosen = loader != nullptr && !loader->place().name.empty();
  is_chosen ? json.value(name) : json.null();
  json.key("root");
  shelf_->root() ? json.value(shelf_->root()->given()) : json.null();
  json.key("paths");
  json.begin_list();
  if (is_chosen) {
    json.value(name);
  } else if (loader != nullptr) {
    for (const std::string& path : loader->place().paths) json.value(path);
  }
  json.end_list();
  json.key("time");
  report.run ? write_time(json, report.run->timeline) : json.null();
  json.key("info");
  json.null();
  json.end_object();
  std::string text = std::move(json).finish();
  Response response;
  if (report.run) {
    const std::size_t place = text.rfind("null");
    text.replace(place, 4, report.run->info);
    response.version = loader->place().version;
  }
  response.content = make_content("application/json", std::move(text));
  response.may_be_kept = report.run != nullptr;
  return response;
}

Response App::runs(const Target& target) const {
  Query query(target);
  const std::string folder = query.text("folder").value_or(".");
  if (const base::Status fine = query.finish(); !fine) return failed(fine.error());
  if (!shelf_->root()) {
    return error_response(404, "not_found",
                          "this server shows one run: it was started without --root");
  }
  const auto listing = shelf_->root()->list(folder);
  if (!listing) return failed(listing.error());
  report::JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.runs/1");
  json.member("root", shelf_->root()->given());
  json.member("folder", folder);
  json.key("entries");
  json.begin_list();
  for (const RootEntry& entry : listing->entries) {
    json.begin_object();
    json.member("name", entry.name);
    json.member("path", entry.path);
    json.member("kind", name_of(entry.kind));
    json.member("traces", entry.traces);
    json.key("bytes");
    entry.bytes ? json.value(*entry.bytes) : json.null();
    json.member("modified_unix_ns", entry.modified_unix_ns);
    const auto state = shelf_->state_of(entry.path);
    json.key("state");
    state ? json.value(state_name(*state)) : json.null();
    json.end_object();
  }
  json.end_list();
  json.member("left_out", listing->left_out);
  json.end_object();
  Response response;
  response.content = make_content("application/json", std::move(json).finish());
  return response;
}

Response App::of_run(const Target& target, const LoadedRun& run, const std::string& version) {
  const std::vector<std::string> words = words_of(target.path);
  const Route* route = route_of(words);
  if (route == nullptr) {
    return error_response(404, "not_found", fmt::format("there is no {}", target.path));
  }
  Response response = store_.get(key_of(target, version), [&] {
    Asked asked{.run = &run,
                .words = std::span(words).subspan(2),
                .query = Query(target),
                .peaks = &options_.peaks,
                .thresholds = &options_.thresholds};
    auto answered = route->answer(asked);
    if (!answered) return failed(answered.error());
    return kept(std::move(answered->type), std::move(answered->body));
  });
  response.version = version;
  return response;
}

Response App::of_loaded(const Target& target, const RunLoader& loader) {
  const LoadReport report = loader.report();
  if (report.run) return of_run(target, *report.run, loader.place().version);
  if (route_of(words_of(target.path)) == nullptr) {
    return error_response(404, "not_found", fmt::format("there is no {}", target.path));
  }
  if (report.state == LoadState::kFailed) return error_response(500, "failed", report.error);
  return later("loading", "the run is still being read");
}

Response App::api(const Target& target) {
  if (target.path == "api/runs") return runs(target);
  if (target.path == "api/run" || target.path == "api/progress" || target.path == "api/analyses") {
    if (const base::Status fine = Query(target).finish(); !fine) return failed(fine.error());
  }
  if (target.path == "api/analyses") return kept("application/json", report::analyses_json());
  const auto asked = target.query.find("run");
  const std::string name = asked == target.query.end() ? std::string() : asked->second;
  if (name.empty() && !shelf_->has_given() && target.path == "api/run")
    return run_state(nullptr, {});
  const auto loader = shelf_->find(name);
  if (!loader) {
    return loader.error().code == Code::kLimit ? later("busy", loader.error().message)
                                               : failed(loader.error());
  }
  if (target.path == "api/run") return run_state(loader->get(), name);
  if (target.path == "api/progress") {
    Response response;
    response.progress_of = *loader;
    return response;
  }
  return of_loaded(target, **loader);
}

Response App::route(const Target& target) {
  if (target.path.starts_with("api/")) return api(target);
  if (target.path == "openapi.json") {
    if (const base::Status fine = Query(target).finish(); !fine) return failed(fine.error());
    return kept("application/json", openapi_json(options_.program_version));
  }
  // Pages may carry parameters of their own.
  if (auto file = assets_.file(target.path)) return *std::move(file);
  return error_response(404, "not_found", fmt::format("there is no {}", target.path));
}

Response App::answer(const Request& request) {
  try {
    if (request.method != "GET" && request.method != "HEAD") {
      Response refused = error_response(405, "method_not_allowed", "only GET and HEAD");
      refused.headers.emplace_back("Allow", "GET, HEAD");
      return refused;
    }
    if (request.has_body) return error_response(400, "bad_request", "a request has no body");
    const auto target = parse_target(request.target, options_.base_path);
    if (!target) return failed(target.error());
    auto refusal = access_.refusal(request, *target);
    const auto address = with_slash(request.target, options_.base_path);
    // A browser shows its cookie only below the base path: without the slash it has no token yet.
    if (address && (!refusal || refusal->status == 401)) return moved_to(*address);
    if (refusal) {
      refusal->headers.emplace_back("Cache-Control", "no-store");
      return *std::move(refusal);
    }
    Response response = route(*target);
    if (target->query.contains("token")) {
      response.headers.emplace_back("Set-Cookie", access_.cookie());
    }
    if (!response.may_be_kept) {
      response.headers.emplace_back("Cache-Control", "no-store");
      return response;
    }
    const auto version = target->query.find("v");
    const bool for_ever =
        response.status == 200 && version != target->query.end() &&
        version->second == (response.version.empty() ? shelf_->version() : response.version);
    response.headers.emplace_back(
        "Cache-Control", for_ever ? "private, max-age=31536000, immutable" : "private, no-cache");
    response.headers.emplace_back("ETag", response.content->etag);
    if (response.status == 200 &&
        is_known(request.header("if-none-match"), response.content->etag)) {
      response.status = 304;
    }
    return response;
  } catch (const std::bad_alloc&) {
    return error_response(500, "failed", "not enough memory for this answer");
  } catch (const std::exception& thrown) {
    return error_response(500, "failed", thrown.what());
  }
}

}  // namespace stepscope::server
