// Recognises a recording by its first bytes and reads it into a trace.
#include "ingest/scope/scope.h"

#include "ingest/scope/assembly.h"
#include "ingest/scope/blocks.h"
#include "ingest/system/system.h"
#include "wire/reader.h"

namespace stepscope::ingest::scope {

int sniff(std::string_view first_bytes) {
  return wire::is_scope_file(first_bytes) && !system::is_of_node(first_bytes) ? 100 : 0;
}

base::Result<trace::Trace> read(std::unique_ptr<bytes::ByteSource> source,
                                const ReadOptions& options) {
  wire::BlockReader blocks;
  Assembly assembly;
  SCOPE_TRY(for_each_block(*source, options, blocks,
                           [&](const wire::BlockView& block) { assembly.take(block); }));
  if (!assembly.has_process()) {
    return base::fail(base::Code::kFormat,
                      source->name() + ": the recording holds nothing: not even who made it");
  }
  note_damage(blocks, source->text_position(), assembly.log());
  if (!options.model.empty()) assembly.add_model(options.model);
  assembly.finish();
  trace::BuildInput input = assembly.build_input(source->name());
  input.threads = options.threads;
  input.step_pattern = options.step_pattern;
  base::Result<trace::Trace> built = trace::TraceBuilder(std::move(input)).build();
  if (!built) {
    return base::fail(built.error().code, source->name() + ": " + built.error().message);
  }
  return built;
}

}  // namespace stepscope::ingest::scope
