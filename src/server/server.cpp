// Listens and serves connections with Boost.Beast, which no other file includes.
#include "server/server.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/ascii.h"
#include "server/app.h"

namespace stepscope::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Connection;

// What the connections share.
struct Hall {
  App* app = nullptr;
  boost::asio::thread_pool quick{2};  // tiles and their like never wait for an analysis
  boost::asio::thread_pool slow{2};
  std::atomic<unsigned> quick_waiting{0}, slow_waiting{0};
  std::atomic<unsigned> streams{0};
  std::atomic<bool> closing{false};

  std::mutex mutex;
  std::list<std::weak_ptr<Connection>> connections;  // by age

  // Makes room where there is none: the oldest that has not asked yet must go.
  void enter(const std::shared_ptr<Connection>& connection);
};

using Socket = boost::asio::generic::stream_protocol::socket;

namespace {

constexpr std::size_t kMostConnections = 512;
constexpr std::uint32_t kMostHeaderBytes = 16384;
constexpr std::uint64_t kMostBodyBytes = 65536;  // no request needs one
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

// One client. All connections together live on two threads: a connection that waits costs a small
// object, and each request has one deadline for all of it, so that slow clients cost no thread.
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
  std::shared_ptr<const RunLoader> loader_;  // whose progress is sent
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

namespace {

// Serves this client until it leaves, is too slow, or the hall closes.
void serve_client(Socket socket, const std::shared_ptr<Hall>& hall) {
  const auto connection = std::make_shared<Connection>(std::move(socket), hall);
  hall->enter(connection);
  connection->begin();
}

using asio::ip::tcp;
using Local = asio::local::stream_protocol;
using base::Code;
using base::fail;
using boost::system::error_code;

constexpr std::uint16_t kFirstPort = 8250;
constexpr std::uint16_t kPorts = 20;
constexpr std::chrono::milliseconds kServerBetweenLooks{50};
constexpr std::chrono::milliseconds kPauseWhenFull{100};

// Connections are files; the usual 1024 would be near our own limit.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

error_code try_port(tcp::acceptor& acceptor, std::uint16_t port) {
  error_code error;
  acceptor = tcp::acceptor(acceptor.get_executor());
  error = acceptor.open(tcp::v4(), error);
  if (!error) error = acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) error = acceptor.bind({asio::ip::address_v4::loopback(), port}, error);
  if (!error) error = acceptor.listen(asio::socket_base::max_listen_connections, error);
  return error;
}

base::Status listen_on_port(tcp::acceptor& acceptor, std::optional<std::uint16_t> port) {
  if (port) {
    const error_code error = try_port(acceptor, *port);
    if (!error) return base::Done{};
    if (error == asio::error::address_in_use) {
      return fail(Code::kIo, fmt::format("port {} is taken by another program", *port));
    }
    if (error == asio::error::access_denied) {
      return fail(Code::kIo, fmt::format("port {} is for the system only", *port));
    }
    return fail(Code::kIo, fmt::format("port {}: {}", *port, error.message()));
  }
  for (std::uint16_t i = 0; i < kPorts; ++i) {
    if (!try_port(acceptor, static_cast<std::uint16_t>(kFirstPort + i))) return base::Done{};
  }
  if (const error_code error = try_port(acceptor, 0)) {
    return fail(Code::kIo, fmt::format("no port is free: {}", error.message()));
  }
  return base::Done{};
}

// A socket without a listener is left over from a process that was killed.
bool is_left_over(const std::string& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISSOCK(facts.st_mode)) return false;
  asio::io_context context;
  Local::socket probe(context);
  error_code error;
  error = probe.connect(Local::endpoint(path), error);
  return error == asio::error::connection_refused;
}

base::Status listen_on_path(Local::acceptor& acceptor, const std::string& path) {
  if (path.size() >= 108) {
    return fail(Code::kInvalidArgument,
                fmt::format("--socket: {} is longer than the 107 letters a socket may have", path));
  }
  if (is_left_over(path)) ::unlink(path.c_str());
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) == 0) {
    return fail(Code::kIo, fmt::format("{} exists already; give a path that is free", path));
  }
  error_code error;
  error = acceptor.open(Local(), error);
  // Other users may not connect, also not between bind and chmod.
  const mode_t before = ::umask(0177);
  if (!error) error = acceptor.bind(Local::endpoint(path), error);
  ::umask(before);
  if (!error) error = acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return fail(Code::kIo, fmt::format("{}: {}", path, error.message()));
  return base::Done{};
}

}  // namespace

struct Server::Listener {
  explicit Listener(ServerOptions given)
      : options(std::move(given)), tcp_acceptor(io), local_acceptor(io), stop_timer(io) {}
  ~Listener() {
    if (!bound_path.empty()) ::unlink(bound_path.c_str());
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  template <class Acceptor>
  void accept(Acceptor& acceptor) {
    acceptor.async_accept(asio::make_strand(io), [this, &acceptor](error_code error, auto socket) {
      if (hall->closing || error == asio::error::operation_aborted) return;
      if (!error) {
        serve_client(Socket(std::move(socket)), hall);
        return accept(acceptor);
      }
      // No more files: waiting clients stay in the queue a moment longer.
      auto pause = std::make_shared<asio::steady_timer>(io, kPauseWhenFull);
      pause->async_wait([this, &acceptor, pause](error_code) { accept(acceptor); });
    });
  }

  void look_for_stop(const std::atomic<bool>& stop) {
    if (stop) {
      hall->closing = true;
      io.stop();
      return;
    }
    stop_timer.expires_after(kServerBetweenLooks);
    stop_timer.async_wait([this, &stop](error_code) { look_for_stop(stop); });
  }

  ServerOptions options;
  asio::io_context io;
  tcp::acceptor tcp_acceptor;
  Local::acceptor local_acceptor;
  asio::steady_timer stop_timer;
  std::shared_ptr<Hall> hall = std::make_shared<Hall>();
  std::string bound_path;
};

std::string find_assets(const std::string& program_folder) {
  namespace fs = std::filesystem;
  // Beside the program or in its package, where programs are installed, in a checkout.
  for (const char* place : {"web", "../share/stepscope/web", "../../build/web"}) {
    std::error_code ignored;
    const fs::path folder = fs::path(program_folder) / place;
    if (fs::is_regular_file(folder / "index.html", ignored)) return folder.string();
  }
  return {};
}

Server::Server(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
Server::~Server() = default;

base::Result<std::unique_ptr<Server>> Server::listen(ServerOptions options) {
  allow_many_files();
  auto listener = std::make_unique<Listener>(std::move(options));
  if (listener->options.socket.empty()) {
    SCOPE_TRY(listen_on_port(listener->tcp_acceptor, listener->options.port));
  } else {
    SCOPE_TRY(listen_on_path(listener->local_acceptor, listener->options.socket));
    listener->bound_path = listener->options.socket;
  }
  return std::unique_ptr<Server>(new Server(std::move(listener)));
}

std::uint16_t Server::port() const {
  error_code ignored;
  const tcp::endpoint end = listener_->tcp_acceptor.local_endpoint(ignored);
  return ignored ? std::uint16_t{0} : end.port();
}

void Server::run(const std::atomic<bool>& stop) {
  Listener& it = *listener_;
  RunShelf shelf(it.options.shelf);
  App app(it.options.app, shelf);
  it.hall->app = &app;
  if (it.bound_path.empty()) {
    it.accept(it.tcp_acceptor);
  } else {
    it.accept(it.local_acceptor);
  }
  it.look_for_stop(stop);
  std::thread second([&it] { it.io.run(); });
  it.io.run();
  second.join();
  it.hall->quick.stop();
  it.hall->slow.stop();
  it.hall->quick.join();
  it.hall->slow.join();
}

}  // namespace stepscope::server
