// Answers that were given before, up to a number of bytes; the ones not asked for longest go first.
// A request for an answer that is being made waits for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "server/request.h"

namespace stepscope::server {

class AnswerStore {
 public:
  explicit AnswerStore(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Only what has status 200 is kept.
  Response get(const std::string& key, const std::function<Response()>& make);
  std::size_t bytes() const;

 private:
  struct Kept {
    std::string key;
    Response response;
    std::size_t bytes = 0;
  };

  void keep(const std::string& key, const Response& response);

  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::set<std::string> being_made_;
  std::list<Kept> kept_;  // asked for last comes first
  std::map<std::string, std::list<Kept>::iterator, std::less<>> places_;
  std::size_t bytes_ = 0;
  std::size_t most_bytes_;
};

}  // namespace stepscope::server
