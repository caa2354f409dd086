// Reads the event list on several threads. Of a packed file any thread may fetch the next block or
// read one that was fetched: fetching comes first while few blocks wait, because only one thread
// can decompress. Of a plain file each reads what it fetched (tiles.h). A block's place among the
// events is a guess until the block before it has been read to its end; results are taken over in
// file order, and a wrong guess is read again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/kineto/feed.h"
#include "ingest/reading.h"
#include "trace/stage.h"

namespace stepscope::ingest::kineto {

struct EventList {
  std::vector<std::unique_ptr<trace::Shard>> shards;
  std::vector<trace::Batch> batches;
  bool has_discarded = false;
  bool closed = false;  // its closing bracket was found
  std::string rest;     // text after it that was already fetched
  std::uint64_t rest_offset = 0;
};

// Reads from where the feed stands, after the opening bracket, until the list or the file ends.
base::Result<EventList> read_events(TextFeed& feed, const ReadOptions& options);

}  // namespace stepscope::ingest::kineto
