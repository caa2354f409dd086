// What the processes of a group hold of the machine's memory, while they run.
#pragma once

#include <cstdint>
#include <optional>

namespace stepscope::cli {

// What several share counts once (PSS); of a process that does not tell, what it has in memory.
std::uint64_t group_memory_bytes(int group);

struct SharedMemory {
  std::uint64_t used_bytes = 0, free_bytes = 0;
};
// Of /dev/shm, whoever uses it; nothing where there is none.
std::optional<SharedMemory> shared_memory();

}  // namespace stepscope::cli
