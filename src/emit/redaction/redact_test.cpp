// What redaction hides, and what it keeps.
#include "emit/redaction/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emit/emit.h"
#include "emit/trace_for_tests.h"

namespace stepscope::emit {
namespace {

using testing::HasSubstr;
using testing::Not;

const RedactKey kKey = redact_key_from("a passphrase");

Redactor plain_redactor() { return Redactor(kKey, trace::Run{}); }

TEST(Redactor, HashesDependOnTheKeyAndOnNothingElse) {
  const Redactor one = plain_redactor();
  const Redactor same(redact_key_from("a passphrase"), trace::Run{});
  const Redactor other(redact_key_from("another"), trace::Run{});
  EXPECT_EQ(one.hash("alice"), same.hash("alice"));
  EXPECT_NE(one.hash("alice"), one.hash("bob"));
  EXPECT_NE(one.hash("alice"), other.hash("alice"));
  const auto first = random_redact_key();
  const auto second = random_redact_key();
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->low, second->low);
}

TEST(Redactor, LeavesNamesOfTheProgramAlone) {
  const Redactor redactor = plain_redactor();
  for (const std::string_view text : {
           "aten::mm",
           "ProfilerStep#12",
           "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int> >(int)",
           "Memcpy HtoD (Pageable -> Device)",
           "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
           "Optimizer.step#AdamW.step",
           "nn.Module: Linear_0",
           "<built-in method mm of type object at 0x7f1c2a>",
           "<string>(1): <module>",
           "<frozen importlib._bootstrap>(1027): _find_and_load",
           "autograd::engine::evaluate_function: AddmmBackward0",
           "Torch-Compiled Region: 0/1",
           "memory bandwidth (GB/s)",
           "N/A",
           "sm__throughput.avg.pct_of_peak_sustained_elapsed",
           "FSDP::all_gather (model.layers.0.attention)",
           "torch.ops.aten.mm",
           "2.11.0+cu130",
           "thread 679 (python3)",
           "stream 7 ",
           "",
       }) {
    EXPECT_EQ(redactor.text(text), text);
  }
}

TEST(Redactor, KeepsTheShapeOfPathsAndFrames) {
  const Redactor redactor = plain_redactor();
  const auto h = [&](std::string_view secret) { return redactor.hash(secret); };
  EXPECT_EQ(redactor.text("/Users/alice/train.py"),
            "/" + h("Users") + "/" + h("alice") + "/" + h("train") + ".py");
  EXPECT_EQ(redactor.text("/data/model.py(123): forward"),
            "/" + h("data") + "/" + h("model") + ".py(123): forward");
  EXPECT_EQ(redactor.text("train.py(7): main"), h("train") + ".py(7): main");
  EXPECT_EQ(redactor.text("a/b.py(1): f;c d.py(22): <lambda>"),
            h("a") + "/" + h("b") + ".py(1): f;" + h("c d") + ".py(22): <lambda>");
  EXPECT_EQ(redactor.text(R"(C:\Users\alice\x.txt)"),
            "C:\\" + h("Users") + "\\" + h("alice") + "\\" + h("x") + ".txt");
  EXPECT_EQ(redactor.text("../lib/libfoo.so"), "../" + h("lib") + "/" + h("libfoo") + ".so");
  EXPECT_EQ(redactor.text("company.project.Trainer"),
            h("company") + "." + h("project") + ".Trainer");
}

TEST(Redactor, FindsSecretsInRunningText) {
  const Redactor redactor = plain_redactor();
  for (const std::string_view text : {
           "wrote /srv/SECRET/out",
           "wrote \"/srv/a b/SECRET/out\" now",
           "see https://host/SECRET/page?x=1",
           "from SECRET:/export mounted",
           "mail SECRET@example.org",
           "tcp://SECRET:29500",
           "~SECRET/notes",
           "/mnt/my files/SECRET dir/x",
           "{\"cwd\": \"\\/home\\/SECRET\\/x\"}",
           "file=data/SECRET",
           "loaded SECRET.py twice",
           "\\\\SECRET\\share",
           "gpu.SECRET.example.org is down",
           "see https://host/page?token=SECRET&x=1 now",
           "see https://host:8080/page#SECRET",
           "(https://host/?SECRET)",
           "https://host:80/SECRET",
           "https://host?SECRET",
           "file:///srv/a b/c SECRET.txt",
           "open file:///srv/a b/SECRET d.txt",
       }) {
    EXPECT_THAT(redactor.text(text), Not(HasSubstr("SECRET"))) << text;
  }
  EXPECT_THAT(redactor.text("at 10.20.30.40 now"), Not(HasSubstr("20.30")));
  EXPECT_EQ(redactor.value("cudnn_version", "9.1.0.70"), "9.1.0.70");
}

TEST(Redactor, KnowsKeysThatNameSomebody) {
  const Redactor redactor = plain_redactor();
  EXPECT_EQ(redactor.value("USER", "alice"), redactor.hash("alice"));
  EXPECT_EQ(redactor.value("host_name", "n1"), redactor.hash("n1"));
  EXPECT_EQ(redactor.value("dtype", "alice"), "alice");
}

TEST(Redactor, KnowsTheLikeOfSuchKeysToo) {
  for (const std::string_view key : {"hostnames",      "hosts",          "nodes",
                                     "master_address", "MASTER_ADDR",    "host-name",
                                     "process_host",   "trace_host",     "ip",
                                     "ip_address",     "pod_name",       "podName",
                                     "cluster",        "submitter",      "workdir",
                                     "output_dir",     "Host Name",      "peerAddr",
                                     "userNames",      "OPENAI_API_KEY", "wandb_api_key",
                                     "accessKey",      "HF_TOKEN",       "HUGGING_FACE_HUB_TOKEN",
                                     "GITHUB_TOKEN",   "gitlab_token",   "bearer_token",
                                     "refresh_token",  "session_key",    "ssh_key",
                                     "private_key",    "api_token",      "access_token",
                                     "started_by",     "submitted_by",   "auth-tokens",
                                     "created_by",     "worker_name",    "kernel_file",
                                     "Domain",         "db_password",    "client_secret",
                                     "aws_credentials"}) {
    EXPECT_TRUE(is_secret_key(key)) << key;
  }
  for (const std::string_view key : {"name",
                                     "Addr",
                                     "Collective name",
                                     "Process Group Name",
                                     "Process Group Description",
                                     "dtype",
                                     "Call stack",
                                     "device",
                                     "description",
                                     "direction",
                                     "Python module id",
                                     "ship",
                                     "filename",
                                     "stream",
                                     "Input type",
                                     "address",
                                     "kind",
                                     "max_tokens",
                                     "key",
                                     "sort_key",
                                     "num_workers",
                                     "by",
                                     "api",
                                     "token_by_name",
                                     "worker_class_name"}) {
    EXPECT_FALSE(is_secret_key(key)) << key;
  }
  EXPECT_EQ(plain_redactor().value("userid", "1001"), plain_redactor().hash("1001"));
}

TEST(Redactor, NamesOfFoldersAreNotLookedForElsewhere) {
  TraceForTests trace;
  trace.header.metadata = {{"log_dir", R"("forward")"}, {"created_by", R"("quokka")"}};
  const trace::Run run = run_of(trace.build());
  const Redactor redactor(kKey, run);
  EXPECT_EQ(redactor.value("log_dir", "forward"), redactor.hash("forward"));
  EXPECT_THAT(redactor.text("forward of quokka"), HasSubstr("forward of x"));
}

TEST(Redactor, ListsAndObjectsOfSecretKeysAreSecretAsWell) {
  TraceForTests trace;
  trace.header.metadata = {
      {"hosts", R"(["quokka", "wombat"])"},
      {"nodes", R"({"0": "numbat", "deep": [{"what": "dingo"}]})"},
      {"note", R"("seen on quokka")"},
  };
  trace.event({.text = R"({"ph":"X","ts":0,"dur":0,"args":{"host-name":["koala"],"n":"plain"}})"});
  const trace::Run run = run_of(trace.build());
  const Redactor redactor(kKey, run);
  std::string all;
  const auto written = write_chrome(run.ranks[0].windows[0].trace,
                                    [&](std::string_view piece) -> base::Status {
                                      all += piece;
                                      return base::Done{};
                                    },
                                    {.redactor = &redactor});
  ASSERT_TRUE(written.has_value());
  for (const char* name : {"quokka", "wombat", "numbat", "dingo", "koala"}) {
    EXPECT_THAT(all, Not(HasSubstr(name)));
  }
  EXPECT_THAT(all, HasSubstr("plain"));
}

TEST(Redactor, IdsThatWereTextAreKeyed) {
  const Redactor one = plain_redactor();
  const Redactor other(redact_key_from("another"), trace::Run{});
  const std::uint64_t hashed = 0xcbf29ce484222325;
  EXPECT_NE(one.number(hashed), hashed);
  EXPECT_EQ(one.number(hashed), plain_redactor().number(hashed));
  EXPECT_NE(one.number(hashed), other.number(hashed));
  EXPECT_EQ(one.number(4711), 4711U) << "those that were numbers stay";
}

trace::Run run_with_secrets();

TEST(Redactor, LearnsNamesFromTheRun) {
  const trace::Run run = run_with_secrets();
  const Redactor redactor(kKey, run);
  EXPECT_EQ(redactor.text("alice"), redactor.hash("alice"));
  EXPECT_EQ(redactor.text("Malice_run"), "M" + redactor.hash("alice") + "_run");
  EXPECT_EQ(redactor.text("on node17 today"), "on " + redactor.hash("node17") + " today");
  EXPECT_EQ(redactor.text("bob"), redactor.hash("bob")) << "short names as words of their own";
  EXPECT_EQ(redactor.text("bobsled"), "bobsled");
  const Redactor more(kKey, run, {"Project X"});
  EXPECT_EQ(more.text("the project x run"), "the " + more.hash("project x") + " run");
}

TEST(Redactor, LearnsUsersFromHomeFolders) {
  TraceForTests trace;
  trace.event({.name = "open /home"
                       "/carol/x"});  // in two parts: the gate looks for real ones
  trace.event({.name = R"(open C:\\Users\\dave\\x)", .start = 1});
  const Redactor redactor(kKey, run_of(trace.build()));
  EXPECT_EQ(redactor.text("carol and dave"),
            redactor.hash("carol") + " and " + redactor.hash("dave"));
}

constexpr std::string_view kSecrets[] = {"alice", "ALICE", "node17", "cluster", "secretlab",
                                         "bob",   "skunk", "hush",   "10.1.2.3"};

trace::Run run_with_secrets() {
  TraceForTests trace;
  trace.header.host = "node17.cluster.example.org";
  trace.header.trace_name = "/scratch/bob/traces/node17_4242.1700000000.pt.trace.json";
  trace::Distributed distributed;
  distributed.backend = "nccl";
  distributed.groups.push_back({"0", "made by alice", "nccl", 2, {0, 1}});
  trace.header.distributed = distributed;
  trace.header.metadata = {
      {"host_name", "\"node17.cluster.example.org\""},
      {"username", "\"bob\""},
      {"traceName", "\"/scratch/bob/traces/node17_4242.1700000000.pt.trace.json\""},
      {"PT_PROFILER_OUT", "\"/scratch/bob\""},
      {"PT_PROFILER_LEVEL", "\"3\""},
      {"INFO", "[\"started by alice on node17\"]"},
      {"notes",
       "{\"env\": {\"USER\": \"alice\", \"PWD\": \"\\/home\\/alice\"}, \"x\": [\"10.1.2.3\"]}"},
      {"broken", "{\"a\": hush/skunk/x, \"b\": \"/Users/alice/x,}"},
      {"alice_config", "1"},
  };
  using What = trace::LabelRow::What;
  trace.label("1", "0", What::kProcessName, "python /Users/alice/secretlab/train.py");
  trace.label("1", "1", What::kThreadName, "thread 1 (alice-main)");
  trace.event(
      {.category = "python_function",
       .name = "/Users/alice/secretlab/train.py(12): step",
       .start = 10,
       .duration = 90,
       .text =
           R"({"ph":"X","cat":"python_function","name":"\/home\/alice\/secretlab\/train.py(12): step","pid":1,"tid":1,"ts":0.01,"dur":0.09,"args":{"Call stack":"secretlab/a.py(1): f;/Users/alice/b.py(2): g","kernel_file":"/tmp/alice/k.py","deep":[{"who":"alice"}],"note":"say "hush/skunk/x" now"}})"});
  trace.event(
      {.category = "hush/skunk/category",
       .name = "hush/skunk/name",
       .start = 20,
       .text =
           R"({"ph":"X","cat":"hush/skunk/category","name":"hush/skunk/name","pid":"/alice","tid":1,"ts":0.02,"dur":0,"/Users/alice/key":1,"args":{bare:alice}})"});
  trace.event(
      {.pid = "/Users/alice/pid", .tid = "/Users/alice/tid", .name = "lost /hush/x", .start = 30});
  const auto counter =
      trace.event({.name = "disk /skunk/x", .start = 40, .phase = trace::RawPhase::kCounter});
  trace.shard().counters.push_back({counter, trace.shard().intern("/hush/series", 3), 1.0});
  const auto comms = trace.event({.category = "cpu_op", .name = "record_param_comms", .start = 50});
  trace::CollectiveRow row{};
  row.event = comms;
  row.name = trace.shard().intern("allreduce", 4);
  row.group_description = trace.shard().intern("group of alice at /hush/skunk", 4);
  row.dtype = row.group_name = row.group_ranks = row.in_split = row.out_split = base::kNoString;
  trace.shard().collectives.push_back(row);
  trace.flow('s', 1, 10);
  return run_of(trace.build());
}

std::string collect(const std::function<base::Result<Written>(const Sink&)>& write) {
  std::string all;
  const auto written = write([&](std::string_view piece) -> base::Status {
    all += piece;
    return base::Done{};
  });
  EXPECT_TRUE(written.has_value());
  return all;
}

TEST(Redactor, NoSecretSurvivesInAnyFormat) {
  const trace::Run run = run_with_secrets();
  const Redactor redactor(kKey, run);
  const trace::Trace& trace = run.ranks[0].windows[0].trace;
  const auto all_formats = [&](const Options& options) {
    return std::vector<std::string>{
        collect([&](const Sink& sink) { return write_jsonl(run, sink, options); }),
        collect([&](const Sink& sink) { return write_chrome(trace, sink, options); }),
        collect([&](const Sink& sink) { return write_perfetto(run, sink, options); }),
    };
  };
  for (const std::string& output : all_formats({.redactor = &redactor})) {
    for (const std::string_view secret : kSecrets) EXPECT_THAT(output, Not(HasSubstr(secret)));
    EXPECT_THAT(output, HasSubstr(".py(12): step")) << "what is no secret stays";
    EXPECT_THAT(output, HasSubstr(redactor.hash("alice")));
  }
  for (const std::string& output : all_formats({})) EXPECT_THAT(output, HasSubstr("alice"));
}

TEST(Redactor, LogsAndSettingsWithPathsAreLeftOut) {
  const trace::Run run = run_with_secrets();
  const Redactor redactor(kKey, run);
  const std::string chrome = collect([&](const Sink& sink) {
    return write_chrome(run.ranks[0].windows[0].trace, sink, {.redactor = &redactor});
  });
  EXPECT_THAT(chrome, HasSubstr("\"INFO\": []"));
  EXPECT_THAT(chrome, Not(HasSubstr("PT_PROFILER_OUT")));
  EXPECT_THAT(chrome, HasSubstr("\"PT_PROFILER_LEVEL\": \"3\""));
}

}  // namespace
}  // namespace stepscope::emit
