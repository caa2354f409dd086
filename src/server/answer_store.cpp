// Keeps the latest answers, up to a number of bytes.
#include "server/answer_store.h"

namespace stepscope::server {
namespace {

std::size_t size_of(const std::string& key, const Response& response) {
  constexpr std::size_t kOwn = 512;
  const Content& content = *response.content;
  return kOwn + 2 * key.size() + content.body.size() + content.gzip.size();
}

}  // namespace

Response AnswerStore::get(const std::string& key, const std::function<Response()>& make) {
  {
    std::unique_lock lock(mutex_);
    made_.wait(lock, [&] { return !being_made_.contains(key); });
    if (const auto found = places_.find(key); found != places_.end()) {
      kept_.splice(kept_.begin(), kept_, found->second);
      return found->second->response;
    }
    being_made_.insert(key);
  }
  // Also when making it throws, the others must not wait for ever.
  struct Finished {
    AnswerStore* store;
    const std::string* key;
    ~Finished() {
      const std::lock_guard lock(store->mutex_);
      store->being_made_.erase(*key);
      store->made_.notify_all();
    }
  } const finished{this, &key};
  Response response = make();
  if (response.status == 200) {
    const std::lock_guard lock(mutex_);
    keep(key, response);
  }
  return response;
}

void AnswerStore::keep(const std::string& key, const Response& response) {
  const std::size_t bytes = size_of(key, response);
  if (bytes > most_bytes_ / 2) return;
  kept_.push_front({key, response, bytes});
  places_[key] = kept_.begin();
  bytes_ += bytes;
  while (bytes_ > most_bytes_) {
    bytes_ -= kept_.back().bytes;
    places_.erase(kept_.back().key);
    kept_.pop_back();
  }
}

std::size_t AnswerStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace stepscope::server
