// A training loop that copies its next batch while this one is computed on: the code that two rules
// advise. record_stream keeps the memory of a batch until the work on it is done.
#pragma once

#include <string_view>

namespace stepscope::advice {

inline constexpr std::string_view kCopyAhead =
    "copy_stream = torch.cuda.Stream()\n"
    "def on_gpu(batch):  # batches of a DataLoader with pin_memory=True\n"
    "    with torch.cuda.stream(copy_stream):\n"
    "        return [part.to(device, non_blocking=True) for part in batch]\n"
    "batches = iter(loader)\n"
    "ahead = on_gpu(next(batches))\n"
    "while ahead is not None:\n"
    "    torch.cuda.current_stream().wait_stream(copy_stream)  # its copy is done\n"
    "    x, y = ahead\n"
    "    for part in ahead: part.record_stream(torch.cuda.current_stream())  # still in use\n"
    "    batch = next(batches, None)\n"
    "    ahead = None if batch is None else on_gpu(batch)\n"
    "    train_step(x, y)  # runs while the next batch is copied";

}  // namespace stepscope::advice
