// `stepscope serve`: listens, loads, answers until it is stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/app.h"
#include "server/run_shelf.h"

namespace stepscope::server {

struct ServerOptions {
  ShelfOptions shelf;
  AppOptions app;
  std::optional<std::uint16_t> port;  // not set: the first free one of a few
  std::string socket;                 // a path: listen there instead
};

// Where the page lies beside the program; empty where there is none.
std::string find_assets(const std::string& program_folder);

class Server {
 public:
  // Listens; from then on clients wait. Says what is in the way: a port that is taken, a path that
  // is there already.
  static base::Result<std::unique_ptr<Server>> listen(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;  // 0 for a socket
  // Loads in the background and answers until `stop` is true.
  void run(const std::atomic<bool>& stop);

 private:
  struct Listener;
  explicit Server(std::unique_ptr<Listener> listener);
  std::unique_ptr<Listener> listener_;
};

}  // namespace stepscope::server
