// One client. All connections together live on two threads: a connection that waits costs a small
// object, and each request has one deadline for all of it, so that slow clients cost nobody a
// thread. Only server.cpp and connection.cpp know Boost.
#pragma once

#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "server/app.h"

namespace stepscope::server {

class Connection;

// What the connections share.
struct Hall {
  App* app = nullptr;
  boost::asio::thread_pool quick{2};  // tiles and their like are never behind an analysis
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

// Serves this client until it leaves, is too slow, or the hall closes.
void serve_client(Socket socket, const std::shared_ptr<Hall>& hall);

}  // namespace stepscope::server
