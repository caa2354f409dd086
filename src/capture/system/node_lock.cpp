#include "capture/system/node_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace stepscope::capture {

LockResult NodeLock::take() {
  if (descriptor_ < 0) descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return LockResult::kFailed;
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor_, F_SETLK, &whole) == 0) return LockResult::kTaken;
  return errno == EACCES || errno == EAGAIN ? LockResult::kHeld : LockResult::kUnsupported;
}

void NodeLock::release() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace stepscope::capture
