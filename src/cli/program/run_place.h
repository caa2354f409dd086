// The folder that a run goes into: what is known of it before the program starts, and what others
// wrote into it meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stepscope::cli {

// "Not a directory"; empty: nothing is known that keeps the folder from being made and written.
std::string why_not_writable(const std::string& folder);

// A folder that only one run has: it is made at once, so that a program which starts in the same
// second goes into another.
class OwnFolder {
 public:
  OwnFolder() = default;
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  // Nothing was written into it: as if it had never been there.
  ~OwnFolder();

  // What is appended to the name to make it a new one: "", "-2", "-3". Where none can be made, ""
  // as well: why_not_writable says why.
  std::string claim(const std::string& folder);

 private:
  std::vector<std::string> made_;  // the innermost last
};

// Of a rank's folder, RUN/attempt-N/rank00000.
std::optional<std::uint64_t> attempt_of_rank(const std::string& rank_folder);

// The largest number of an attempt in the folder of a run; nothing where it has none.
std::optional<std::uint64_t> last_attempt(const std::string& run);

// The folders of ranks in attempts that were made, or got another rank, since then.
std::vector<std::string> ranks_since(const std::string& folder,
                                     std::filesystem::file_time_type since);

}  // namespace stepscope::cli
