// Which process of a node samples: the one that holds this lock. It is the kernel's, so it is free
// the moment its holder dies, and a forked child does not have it.
#pragma once

#include <cstdint>
#include <string>

namespace stepscope::capture {

enum class LockResult : std::uint8_t {
  kTaken,        // by this process, now
  kHeld,         // by another process
  kUnsupported,  // the file system has no locks
  kFailed,       // the file cannot be made
};

class NodeLock {
 public:
  explicit NodeLock(const std::string& folder) : path_(folder + "/sampler.lock") {}
  NodeLock(const NodeLock&) = delete;
  NodeLock& operator=(const NodeLock&) = delete;
  ~NodeLock() { release(); }

  LockResult take();
  void release();

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace stepscope::capture
