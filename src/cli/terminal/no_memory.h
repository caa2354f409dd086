// What happens when memory runs out, in whichever thread: the file being written goes away, one
// line says so, and the program ends with the status of a failure. The core throws std::bad_alloc,
// as the containers of the standard library do; whoever can go on without (the server) catches it,
// and what nobody caught arrives here.
#pragma once

#include "cli/terminal/interrupt.h"

namespace stepscope::cli {

class NoMemory {
 public:
  explicit NoMemory(Interrupt& interrupt);
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace stepscope::cli
