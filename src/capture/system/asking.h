// A thread for questions whose answers may take long, or never come: those to a driver. The sampler
// never waits for it. A thread that gets no answer is left alone with its question, and another
// one asks the rest (docs/design/0013-sampling-the-machine.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/system/source.h"

namespace stepscope::capture {

// When and how something is asked.
struct AskedAt {
  std::int64_t now_ns = 0, interval_ns = 0;
  bool is_overdrawn = false;  // what is not cheap waits for another time
  bool is_last = false;       // what must be known at the end is asked now
};

// One thing to be asked about, such as a GPU.
class Question {
 public:
  Question() = default;
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  virtual ~Question() = default;

  // By one thread at a time, not always the same. False: there is nothing to be asked, ever.
  virtual bool ask(Samples& samples, const AskedAt& at) = 0;
  // What does not answer: "GPU 0".
  virtual std::string asked() const = 0;
};

class Questions;  // of one Asking: what its threads share

class Asking {
 public:
  // An answer that takes longer is waited for neither at the end nor by the other questions.
  static constexpr auto kPatience = std::chrono::seconds(1);

  // `name`: of its threads. Everything is asked once per interval, and when something is added.
  Asking(const char* name, std::chrono::nanoseconds interval, std::shared_ptr<SampleBook> book);
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking();

  const std::shared_ptr<Questions>& questions() const { return questions_; }
  void start();
  // To be called now and then: another thread goes on where one gets no answer.
  void look_after(bool is_overdrawn);
  // Asks everything for the last time. Waits for the answers until this long after `since`.
  void finish(std::chrono::steady_clock::time_point since);

  bool has_more() const;  // was seen since the last time
  // What that was, as blocks; waits for no answer.
  void take(std::string& out);
  std::uint64_t values() const;
  std::int64_t cpu_ns() const;        // of all its threads
  std::int64_t later_cpu_ns() const;  // of that without the first time, which wakes a driver

 private:
  struct Worker;
  static void work(Questions& all, Worker& own);
  static bool ask_all(Questions& all, Worker& own, bool is_last);

  std::shared_ptr<SampleBook> book_;
  std::shared_ptr<Questions> questions_;
  Samples notices_;
  std::vector<std::shared_ptr<Worker>> workers_;  // the last one asks, the others wait
  friend class Questions;
};

// Any thread may add one.
void add_question(Questions& questions, std::shared_ptr<Question> question);

}  // namespace stepscope::capture
