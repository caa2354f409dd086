// The glossary.
#include <array>

#include <fmt/format.h>

#include "report/help/help.h"

namespace stepscope::report {
namespace {

constexpr std::array kWords = std::to_array<Word>({
    {"annotation",
     "A named range that was marked in the program: record_function, NVTX, "
     "ProfilerStep. It says what the program was doing, not what the GPU did."},
    {"backward",
     "The half of a training step that computes gradients, after the forward half has "
     "computed the loss."},
    {"blocking copy",
     "A copy between host and GPU for which the host stands still until it is "
     "done."},
    {"busy", "Time in which at least one piece of work runs on the GPU. Two at once count once."},
    {"collective",
     "An operation all ranks of a group do together, such as all-reduce: no rank is "
     "done before the last one has come."},
    {"communication", "Data moving between GPUs or machines: NCCL, RCCL and the like."},
    {"compute", "Kernels that calculate, as opposed to kernels that communicate."},
    {"CUDA graph",
     "Many kernels launched by one call, which costs the host far less than "
     "launching each of them."},
    {"data loading",
     "The program waits for the next batch. Time spent in workers beside it does "
     "not count while nothing waits."},
    {"device", "A GPU or another accelerator. One rank usually drives one device."},
    {"exposed",
     "Time in which only this goes on and nothing computes: what would be saved if it "
     "were free. The opposite is hidden."},
    {"forward", "The half of a training step that computes the loss from a batch."},
    {"GPU utilisation",
     "Share of the measured time in which the GPU is busy. It says nothing about "
     "how well a kernel uses the GPU."},
    {"hidden", "Communication or copies that run while something computes: they cost no time."},
    {"host", "The processor and the Python program on it, which tells the GPU what to do."},
    {"idle", "Time in which nothing runs on the GPU."},
    {"kernel", "A program that runs on the GPU. Every operator launches one or more."},
    {"launch",
     "The call by which the host hands a kernel to the GPU. It takes some microseconds, "
     "whatever the kernel does."},
    {"launch-bound",
     "The GPU waits because the host cannot launch kernels as fast as the GPU "
     "finishes them."},
    {"measured time",
     "The time that is shared out: all steps, or the ones asked for, each until "
     "its GPU work has ended."},
    {"memcpy",
     "A copy of memory: host to device (HtoD), device to host (DtoH) or within a device "
     "(DtoD)."},
    {"memset", "Filling memory with one value."},
    {"median", "The middle value: half of the values are not larger."},
    {"occupancy",
     "How many of the threads a multiprocessor could hold are there while a kernel "
     "runs, as the profiler estimates it."},
    {"operator", "A step of the model as PyTorch calls it: aten::mm, aten::add."},
    {"overlap", "Communication at the same time as computing. The more, the better hidden."},
    {"p95", "The value 19 of 20 do not exceed."},
    {"pageable",
     "Ordinary host memory. Copies from it are slow and make the host wait; pinned "
     "memory is the other kind."},
    {"pinned",
     "Host memory the GPU can reach directly (pin_memory=True): copies are fast and need "
     "not block."},
    {"queue length",
     "How many pieces of work were launched and have not ended yet. At zero the GPU "
     "waits for the host."},
    {"rank", "One of the processes of a distributed run, counted from 0."},
    {"runtime",
     "The library through which the host calls the GPU: CUDA, HIP. Time in it is "
     "launching, copying, allocating and waiting."},
    {"self time", "Time of an operator without the operators it calls; total time is with them."},
    {"SM",
     "Streaming multiprocessor: a GPU has many, each runs blocks of threads. CU is AMD's "
     "word."},
    {"SM efficiency",
     "Share of the multiprocessors that have work, over the measured time. Small "
     "kernels leave most of them empty."},
    {"step", "One turn of the training loop: load a batch, forward, backward, update."},
    {"stream", "A queue of GPU work that runs in order. Work in different streams may overlap."},
    {"synchronisation",
     "The host stands still until the GPU is done: .item(), printing a tensor, "
     "cudaStreamSynchronize."},
    {"tensor core",
     "The part of a GPU that multiplies matrices of 16-bit or smaller numbers many "
     "times faster than the rest."},
    {"window", "One recording of one rank. A rank may have several, one after the other."},
});

}  // namespace

std::span<const Word> glossary() { return kWords; }

std::string glossary_text(const Look& look) {
  TextTable table({{"Glossary"}, {"", Align::kLeft, Fit::kWrap}});
  for (const Word& word : kWords) table.add({std::string(word.word), std::string(word.meaning)});
  return table.render(look);
}

}  // namespace stepscope::report
