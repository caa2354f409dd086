#include "server/connection.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"

namespace stepscope::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMostConnections = 512;
constexpr std::uint32_t kMostHeaderBytes = 16384;
constexpr std::uint64_t kMostBodyBytes = 65536;  // nobody needs one
constexpr seconds kPatience{15};                 // for a request, from the end of the one before
constexpr seconds kFarewell{2};
constexpr std::size_t kMostThrownAway = std::size_t{1} << 20U;
constexpr std::size_t kLeastBytesPerSecond = 16384;
constexpr unsigned kMostWaiting = 1024;
constexpr unsigned kMostStreams = 32;
constexpr milliseconds kConnectionBetweenLooks{100};
constexpr milliseconds kBetweenSigns{15000};

constexpr std::string_view kPolicy =
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'";

using Body = http::string_body;
using Reply = http::response<http::span_body<const char>>;

void set_safe_headers(http::fields& fields) {
  fields.set(http::field::server, "stepscope");
  fields.set("Content-Security-Policy", {kPolicy.data(), kPolicy.size()});
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("X-Frame-Options", "SAMEORIGIN");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
}

// "gzip" among what the client takes, and not refused by a weight of zero.
bool takes_gzip(const Request& request) {
  std::string accepted = base::lowered(request.header("accept-encoding"));
  std::erase(accepted, ' ');
  const std::size_t at = accepted.find("gzip");
  if (at == std::string::npos) return false;
  const std::string_view rest = std::string_view(accepted).substr(at + 4);
  const std::string_view weight = rest.substr(0, rest.find(','));
  return !weight.starts_with(";q=0") || weight.find_first_of("123456789") != std::string_view::npos;
}

Request request_from(const http::request<Body>& message) {
  Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    const std::string name = base::lowered(std::string(field.name_string()));
    const bool fresh = request.headers.try_emplace(name, std::string(field.value())).second;
    if (!fresh && name == "host") request.repeated_host = true;
    if (!fresh && name == "origin") request.repeated_origin = true;
  }
  request.has_body = !message.body().empty();
  return request;
}

std::optional<Response> refusal_for(beast::error_code error) {
  if (error == http::error::header_limit) {
    return error_response(431, "too_large", "the header of the request is too long");
  }
  if (error == http::error::body_limit) {
    return error_response(413, "too_large", "a request needs no body");
  }
  if (error.category() == http::make_error_code(http::error::bad_target).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message) {
    return error_response(400, "bad_request", "this is not HTTP: " + error.message());
  }
  return std::nullopt;
}

}  // namespace

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, std::shared_ptr<Hall> hall)
      : stream_(std::move(socket)), hall_(std::move(hall)), timer_(stream_.get_executor()) {}
  ~Connection() {
    if (streams_) --hall_->streams;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // From any thread.
  void begin() {
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->read(); });
  }

  void read() {
    if (hall_->closing) return close();
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(kMostBodyBytes);
    is_waiting_ = true;
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       self->has_read(error);
                     });
  }

  bool is_waiting() const { return is_waiting_; }

  // From any thread.
  void dismiss() {
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->close(); });
  }

 private:
  void has_read(beast::error_code error) {
    is_waiting_ = false;
    if (error) {
      if (auto refusal = refusal_for(error)) {
        keep_alive_ = false;
        return write({}, *std::move(refusal));
      }
      return close();
    }
    keep_alive_ = parser_->get().keep_alive();
    version_ = parser_->get().version();
    compute(request_from(parser_->get()));
  }

  void compute(Request request) {
    const bool is_long = App::is_long(request);
    std::atomic<unsigned>& waiting = is_long ? hall_->slow_waiting : hall_->quick_waiting;
    if (++waiting > kMostWaiting) {
      --waiting;
      Response busy = error_response(503, "busy", "too many ask at once");
      busy.headers.emplace_back("Retry-After", "1");
      return write(request, std::move(busy));
    }
    stream_.expires_never();
    asio::post(is_long ? hall_->slow : hall_->quick,
               [self = shared_from_this(), request = std::move(request), &waiting]() mutable {
                 Response response = self->hall_->app->answer(request);
                 --waiting;
                 asio::post(self->stream_.get_executor(),
                            [self, request = std::move(request),
                             response = std::move(response)]() mutable {
                              self->write(request, std::move(response));
                            });
               });
  }

  void write(const Request& request, Response response) {
    if (response.progress_of != nullptr) {
      if (++hall_->streams <= kMostStreams) {
        streams_ = true;
        loader_ = response.progress_of;
        return begin_stream(request);
      }
      --hall_->streams;
      response = error_response(503, "busy", "too many follow the progress at once");
    }
    response_ = std::move(response);
    const Content& content = *response_.content;
    const bool bodiless = response_.status == 304;
    const bool packed = !bodiless && !content.gzip.empty() && takes_gzip(request);
    const std::string& body = packed ? content.gzip : content.body;
    reply_.emplace();
    reply_->version(version_);
    reply_->result(response_.status);
    set_safe_headers(*reply_);
    for (const auto& [name, value] : response_.headers) reply_->insert(name, value);
    if (!bodiless) {
      reply_->set(http::field::content_type, content.type);
      reply_->set(http::field::content_length, std::to_string(body.size()));
    }
    if (!content.gzip.empty()) reply_->set(http::field::vary, "Accept-Encoding");
    if (packed) reply_->set(http::field::content_encoding, "gzip");
    const bool sent = !bodiless && request.method != "HEAD";
    if (sent) reply_->body() = beast::span<const char>(body.data(), body.size());
    keep_alive_ = keep_alive_ && !hall_->closing;
    reply_->keep_alive(keep_alive_);
    stream_.expires_after(kPatience + seconds(body.size() / kLeastBytesPerSecond));
    http::async_write(stream_, *reply_,
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (error) return self->close();
                        if (!self->keep_alive_) return self->leave();
                        self->read();
                      });
  }

  void begin_stream(const Request& request) {
    http::response<http::empty_body> head{http::status::ok, version_};
    set_safe_headers(head);
    head.set(http::field::content_type, "text/event-stream");
    head.set(http::field::cache_control, "no-store");
    head.set("X-Accel-Buffering", "no");  // a proxy would hold events back
    head.keep_alive(false);
    std::ostringstream text;
    text << head.base();
    pending_ = text.str();
    ends_ = request.method == "HEAD";
    send_pending();
  }

  // Sends what is pending, then looks for news.
  void send_pending() {
    stream_.expires_after(kPatience);
    asio::async_write(stream_, asio::buffer(pending_),
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (error || self->ends_ || self->hall_->closing) return self->close();
                        self->wait_for_news();
                      });
  }

  void wait_for_news() {
    timer_.expires_after(kConnectionBetweenLooks);
    timer_.async_wait([self = shared_from_this()](beast::error_code error) {
      if (error || self->hall_->closing) return self->close();
      self->look_for_news();
    });
  }

  void look_for_news() {
    const LoadReport report = loader_->report();
    std::string data = App::progress_data(report);
    silent_ += kConnectionBetweenLooks;
    if (report.state != LoadState::kLoading) {
      ends_ = true;
      const bool ready = report.state == LoadState::kReady;
      pending_ = fmt::format("event: {}\ndata: {}\n\n", ready ? "ready" : "failed", data);
    } else if (data != last_data_) {
      pending_ = fmt::format("event: progress\ndata: {}\n\n", data);
      last_data_ = std::move(data);
    } else if (silent_ >= kBetweenSigns) {
      pending_ = ":\n\n";
    } else {
      return wait_for_news();
    }
    silent_ = milliseconds(0);
    send_pending();
  }

  // Closing while the client still sends would take the answer away from it: what comes is read and
  // thrown away for a moment.
  void leave() {
    beast::error_code ignored;
    ignored = stream_.socket().shutdown(Socket::shutdown_send, ignored);
    stream_.expires_after(kFarewell);
    throw_away(kMostThrownAway);
  }

  void throw_away(std::size_t left) {
    buffer_.clear();
    stream_.async_read_some(
        buffer_.prepare(kMostHeaderBytes),
        [self = shared_from_this(), left](beast::error_code error, std::size_t bytes) {
          if (error || bytes >= left) return self->close();
          self->throw_away(left - bytes);
        });
  }

  void close() {
    beast::error_code ignored;
    timer_.cancel();
    ignored = stream_.socket().shutdown(Socket::shutdown_both, ignored);
    ignored = stream_.socket().close(ignored);
  }

  beast::basic_stream<asio::generic::stream_protocol> stream_;
  std::shared_ptr<Hall> hall_;
  asio::steady_timer timer_;
  beast::flat_buffer buffer_{kMostHeaderBytes + kMostBodyBytes};
  std::optional<http::request_parser<Body>> parser_;
  std::optional<Reply> reply_;
  Response response_;  // whose content is being sent
  std::atomic<bool> is_waiting_{false};
  bool keep_alive_ = true;
  unsigned version_ = 11;

  bool streams_ = false, ends_ = false;
  std::shared_ptr<const RunLoader> loader_;  // whose progress is told
  milliseconds silent_{0};
  std::string pending_, last_data_;
};

void Hall::enter(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex);
  std::erase_if(connections, [](const auto& known) { return known.expired(); });
  if (connections.size() >= kMostConnections) {
    for (const auto& known : connections) {
      const std::shared_ptr<Connection> oldest = known.lock();
      if (oldest == nullptr || !oldest->is_waiting()) continue;
      oldest->dismiss();
      break;
    }
  }
  connections.push_back(connection);
}

void serve_client(Socket socket, const std::shared_ptr<Hall>& hall) {
  const auto connection = std::make_shared<Connection>(std::move(socket), hall);
  hall->enter(connection);
  connection->begin();
}

}  // namespace stepscope::server
