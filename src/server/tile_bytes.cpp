// A tile as little-endian arrays.
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "base/utf8.h"
#include "server/answers.h"

namespace stepscope::server {
namespace {

static_assert(std::endian::native == std::endian::little, "tiles are little-endian");

class ByteWriter {
 public:
  template <class T>
  void put(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

  // One member of each item, as an array that ends at a multiple of 8.
  template <class To, class Item, class From>
  void column(const std::vector<Item>& items, From Item::* member) {
    for (const Item& item : items) put(static_cast<To>(item.*member));
    align();
  }
  void text(const std::string& text) { bytes_ += text; }
  void align() { bytes_.resize((bytes_.size() + 7) / 8 * 8); }
  void set_size(std::size_t at) {
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data() + at, &size, sizeof size);
  }
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

std::string tile_bytes(const session::Tile& tile, std::uint32_t track_number,
                       const session::TimelineTrack& track, std::uint32_t level) {
  using session::Cell;
  using session::Slice;
  using session::TileGap;
  using session::TilePoint;
  constexpr std::size_t kSizeAt = 12;
  const bool counter = track.kind == session::TrackKind::kCounter;
  std::string names;
  std::vector<std::uint32_t> first = {0};
  for (const std::string& name : tile.names) {
    names += base::repaired_utf8(name);
    first.push_back(static_cast<std::uint32_t>(names.size()));
  }
  ByteWriter out;
  out.text("SSTL");
  out.put(std::uint16_t{1});
  out.put(static_cast<std::uint8_t>(counter ? 2 : 1));
  out.put(static_cast<std::uint8_t>(level));
  out.put(track_number);
  out.put(std::uint32_t{0});  // its size, when it is known
  out.put(static_cast<double>(tile.start));
  out.put(static_cast<double>(tile.column_ns));
  out.put(static_cast<std::uint32_t>(counter ? tile.points.size() : tile.slices.size()));
  out.put(static_cast<std::uint32_t>(tile.cells.size()));
  out.put(static_cast<std::uint32_t>(tile.gaps.size()));
  out.put(static_cast<std::uint32_t>(tile.names.size()));
  out.put(static_cast<std::uint32_t>(names.size()));
  out.put(track.depth);
  out.put(counter ? tile.before.value_or(std::numeric_limits<double>::quiet_NaN()) : 0.0);
  if (counter) {
    out.column<double>(tile.points, &TilePoint::min);
    out.column<double>(tile.points, &TilePoint::max);
    out.column<double>(tile.points, &TilePoint::last);
    out.column<std::uint16_t>(tile.points, &TilePoint::column);
  } else {
    out.column<double>(tile.slices, &Slice::start);
    out.column<double>(tile.slices, &Slice::duration);
    out.column<std::uint32_t>(tile.slices, &Slice::name);
    out.column<std::uint32_t>(tile.slices, &Slice::ordinal);
    out.column<std::uint16_t>(tile.slices, &Slice::window);
    out.column<std::uint16_t>(tile.slices, &Slice::depth);
    out.column<std::uint8_t>(tile.slices, &Slice::kind);
    out.column<std::uint8_t>(tile.slices, &Slice::flags);
    out.column<std::uint32_t>(tile.cells, &Cell::count);
    out.column<std::uint32_t>(tile.cells, &Cell::name);
    out.column<std::uint32_t>(tile.cells, &Cell::ordinal);
    out.column<std::uint16_t>(tile.cells, &Cell::column);
    out.column<std::uint16_t>(tile.cells, &Cell::depth);
    out.column<std::uint16_t>(tile.cells, &Cell::window);
    out.column<std::uint8_t>(tile.cells, &Cell::kind);
    out.column<std::uint8_t>(tile.cells, &Cell::covered);
    out.column<double>(tile.gaps, &TileGap::start);
    out.column<double>(tile.gaps, &TileGap::duration);
    out.column<std::uint8_t>(tile.gaps, &TileGap::cause);
    for (const std::uint32_t place : first) out.put(place);
    out.align();
    out.text(names);
    out.align();
  }
  out.set_size(kSizeAt);
  return std::move(out).take();
}

}  // namespace stepscope::server
