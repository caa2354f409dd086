#include "server/server.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "server/connection.h"

namespace stepscope::server {
namespace {

namespace asio = boost::asio;
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

// A socket that nobody listens on any more is left over from a process that was killed.
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
  // Nobody else may connect, also not between bind and chmod.
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
      // No more files: those who wait stay in the queue a moment longer.
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
