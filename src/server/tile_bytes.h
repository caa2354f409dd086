// A tile as it travels: little-endian typed arrays, laid out in docs/formats/http-api.md.
#pragma once

#include <cstdint>
#include <string>

#include "session/timeline/tile.h"

namespace stepscope::server {

std::string tile_bytes(const session::Tile& tile, std::uint32_t track_number,
                       const session::TimelineTrack& track, std::uint32_t level);

}  // namespace stepscope::server
