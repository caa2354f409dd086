// The file a process writes its blocks to. Appends with write(2); what the system refuses waits for
// the next time, because a full disk may empty. What waits is bounded: beyond it whole pieces are
// lost and counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepscope::capture {

class ScopeFile {
 public:
  // Fails where it exists already: every process writes only its own.
  static base::Result<ScopeFile> create(const std::string& path);
  ScopeFile() = default;
  ScopeFile(ScopeFile&& other) noexcept;
  ScopeFile& operator=(ScopeFile&& other) noexcept;
  ~ScopeFile() { close(); }

  bool is_open() const { return descriptor_ >= 0; }
  const std::string& path() const { return path_; }
  // False: nothing of this piece will ever be in the file.
  bool write(std::string_view bytes);
  void close();

  std::uint64_t written() const { return written_; }
  std::uint64_t lost() const { return lost_; }
  const std::string& first_error() const { return first_error_; }

 private:
  std::string_view try_to_write(std::string_view bytes);

  std::string path_;
  int descriptor_ = -1;
  std::string waiting_;  // begins in the middle of a block where the disk became full there
  std::uint64_t written_ = 0, lost_ = 0;
  std::string first_error_;
};

}  // namespace stepscope::capture
