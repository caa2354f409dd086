// Draws a flame graph as one SVG file.
#include "report/charts/flame_graph.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "report/charts/svg_chart.h"
#include "report/tables/cell_text.h"
#include "report/tables/short_names.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 10;
constexpr double kFlameGraphRow = 18;
constexpr double kTop = 62;               // title, what it is, legend
constexpr double kCharacter = 6.7;        // of the font
constexpr double kNarrowest = 0.4;        // of a box that is drawn
constexpr std::size_t kMostBoxes = 3000;  // some 400 bytes each
constexpr std::size_t kMostLevels = 300;
constexpr std::size_t kLongestTip = 240;

struct KindColour {
  std::string_view kind, letter, colour;
};
// Light enough for dark letters, on a light and on a dark page.
constexpr std::array kFlameGraphColours = std::to_array<KindColour>({
    {"thread", "t", "#d5dae0"},
    {"python", "p", "#8cc5ee"},
    {"range", "r", "#e6b3d0"},
    {"operator", "o", "#f3c766"},
    {"call", "c", "#8fd6bd"},
    {"gpu work", "k", "#f0a27c"},
    {"other", "x", "#c3c8ce"},
});

constexpr std::string_view kStyle = R"(<style>
svg{font:11px ui-monospace,"DejaVu Sans Mono",Consolas,Menlo,monospace;--page:#fff;--ink:#1a1d21;--soft:#5c6570}
@media (prefers-color-scheme:dark){svg{--page:#14171a;--ink:#e6e9ed;--soft:#9aa5b1}}
.page{fill:var(--page)}.title{font-size:15px;font-weight:600;fill:var(--ink)}.about{fill:var(--soft)}
.b text{fill:#14171a;pointer-events:none}.b rect:hover{stroke:var(--ink);stroke-width:1.5}
.rest{fill:#8a94a0}
)";

std::string_view letter_of(std::string_view kind) {
  const auto* found = std::ranges::find(kFlameGraphColours, kind, &KindColour::kind);
  return found == kFlameGraphColours.end() ? "x" : found->letter;
}

// What fits into a box. Of a Python frame the function says most: "torch/nn/functional.py(21):
// gelu".
std::string label_of(std::string_view name, std::string_view kind, std::size_t room) {
  std::string label = printable(plain_name(name));
  if (kind == "python" && text_width(label) > room) {
    if (const std::size_t colon = label.find(": "); colon != std::string::npos) {
      label.erase(0, colon + 2);
    }
  }
  return cut_end(label, room);
}

struct Box {
  std::size_t row = 0;
  double x = 0, width = 0;
  std::size_t level = 0;
};

// Boxes from the rows of the tree.
class Drawing {
 public:
  Drawing(const base::Table& frames, std::size_t column)
      : frames_(frames),
        value_(column),
        rank_(*frames.find("rank")),
        name_(*frames.find("frame")),
        kind_(*frames.find("kind")),
        depth_(*frames.find("depth")) {
    for (std::size_t r = 0; r < frames.rows(); ++r) {
      if (frames.int_at(depth_, r) != 0) continue;
      if (ranks_.empty() || ranks_.back().number != frames.int_at(rank_, r)) {
        ranks_.push_back({frames.int_at(rank_, r), 0});
      }
      ranks_.back().sum += frames.int_at(value_, r);
      all_ += frames.int_at(value_, r);
    }
    if (all_ <= 0) return;
    least_ = narrowest();
    shift_ = ranks_.size() > 1 ? 2 : 1;
    add_box({0, kMargin, scaled(all_), 0}, "all", "other", all_);
    place();
  }

  bool empty() const { return all_ <= 0; }
  const std::string& boxes() const { return svg_; }
  std::size_t levels() const { return levels_; }
  std::size_t hidden() const { return hidden_; }
  std::int64_t all() const { return all_; }
  bool uses(std::string_view letter) const { return used_.find(letter) != std::string::npos; }

 private:
  struct Rank {
    std::int64_t number;
    std::int64_t sum;
  };
  // A caller whose callees are being placed.
  struct Open {
    double next = 0;  // where the next callee begins
    bool drawn = false;
    std::size_t few = 0;  // callees too narrow to draw, and their time
    std::int64_t few_sum = 0;
  };

  double scaled(std::int64_t value) const {
    return (kWidth - 2 * kMargin) * static_cast<double>(value) / static_cast<double>(all_);
  }

  // Boxes narrower than this are too many or too small. A caller is at least as wide as a callee,
  // so that the box below the pointer stays.
  double narrowest() const {
    std::vector<std::int64_t> values;
    for (std::size_t r = 0; r < frames_.rows(); ++r) {
      if (const std::int64_t value = frames_.int_at(value_, r); scaled(value) >= kNarrowest) {
        values.push_back(value);
      }
    }
    if (values.size() <= kMostBoxes) return kNarrowest;
    std::ranges::nth_element(values, values.begin() + kMostBoxes, std::greater<>());
    return std::max(kNarrowest, scaled(values[kMostBoxes] + 1));
  }

  void place() {
    open_.push_back({.next = kMargin, .drawn = true});
    std::size_t rank = 0;
    for (std::size_t r = 0; r < frames_.rows(); ++r) {
      const auto depth = static_cast<std::size_t>(frames_.int_at(depth_, r));
      if (shift_ == 2 && depth == 0 &&
          (r == 0 || frames_.int_at(rank_, r) != frames_.int_at(rank_, r - 1))) {
        close_from(1);
        const Rank& one = ranks_[rank++];
        enter(r, one.sum, 1, fmt::format("rank {}", one.number), "other");
      }
      const std::size_t level = depth + shift_;
      close_from(level);
      enter(r, frames_.int_at(value_, r), level, frames_.text_at(name_, r),
            frames_.text_at(kind_, r));
    }
    close_from(0);
  }

  void enter(std::size_t row, std::int64_t value, std::size_t level, std::string_view name,
             std::string_view kind) {
    Open& above = open_[level - 1];
    const double width = scaled(value);
    if (!above.drawn || width < least_ || level >= kMostLevels) {
      if (value > 0) ++hidden_;
      if (value > 0 && above.drawn) {
        ++above.few;
        above.few_sum += value;
      }
      open_.push_back({.drawn = false});
      return;
    }
    add_box({row, above.next, width, level}, name, kind, value);
    open_.push_back({.next = above.next, .drawn = true});
    open_[level - 1].next += width;
  }

  // The callers from this level on have no more callees: what was too narrow comes last.
  void close_from(std::size_t level) {
    while (open_.size() > level) {
      close(open_.size() - 1);
      open_.pop_back();
    }
  }
  void close(std::size_t level) {
    Open& caller = open_[level];
    const double width = scaled(caller.few_sum);
    if (!caller.drawn || caller.few == 0 || width < kNarrowest) return;
    levels_ = std::max(levels_, level + 2);
    svg_ += fmt::format(
        "<rect class=\"rest\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\">"
        "<title>{} too small to draw: {} ({})</title></rect>\n",
        caller.next, y_of(level + 1), width, kFlameGraphRow - 1,
        caller.few == 1 ? "1 frame" : count_text(caller.few) + " frames",
        duration_text(caller.few_sum), share_of(caller.few_sum));
    caller.few = 0;
  }

  static double y_of(std::size_t level) {
    return kTop + kFlameGraphRow * static_cast<double>(level);
  }
  std::string share_of(std::int64_t value) const {
    return html_text(share_text(static_cast<double>(value) / static_cast<double>(all_)));
  }

  void add_box(const Box& box, std::string_view name, std::string_view kind, std::int64_t value) {
    const std::string_view letter = letter_of(kind);
    if (!uses(letter)) used_ += letter;
    levels_ = std::max(levels_, box.level + 1);
    svg_ += fmt::format(
        "<g class=\"b\"><rect class=\"{}\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" "
        "height=\"{:.0f}\"><title>{}\n{}, {} ({})</title></rect>",
        letter, box.x, y_of(box.level), std::max(box.width - 0.4, kNarrowest / 2),
        kFlameGraphRow - 1, html_text(cut_end(printable(name), kLongestTip)), html_text(kind),
        duration_text(value), share_of(value));
    const auto room = static_cast<std::size_t>(std::max(0.0, (box.width - 6) / kCharacter));
    if (room >= 3) {
      svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>", box.x + 3,
                          y_of(box.level) + 12.5, html_text(label_of(name, kind, room)));
    }
    svg_ += "</g>\n";
  }

  const base::Table& frames_;
  std::size_t value_, rank_, name_, kind_, depth_;
  std::vector<Rank> ranks_;
  std::int64_t all_ = 0;
  double least_ = kNarrowest;
  std::size_t shift_ = 1;   // levels above the frames: all, and with several ranks the rank
  std::vector<Open> open_;  // by level
  std::string svg_;
  std::string used_;
  std::size_t levels_ = 0, hidden_ = 0;
};

std::string legend(const Drawing& drawing) {
  std::string svg;
  double x = kMargin;
  for (const KindColour& kind : kFlameGraphColours) {
    if (kind.kind == "other" || !drawing.uses(kind.letter)) continue;
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{:.0f}\" y=\"44\" width=\"11\" height=\"11\"/>"
        "<text class=\"about\" x=\"{:.0f}\" y=\"53\">{}</text>\n",
        kind.letter, x, x + 15, kind.kind);
    x += 15 + kCharacter * static_cast<double>(kind.kind.size()) + 18;
  }
  return svg;
}

}  // namespace

std::string flame_graph_svg(const base::Table& frames, std::string_view width,
                            const FlameGraphText& text) {
  const auto column = frames.find(width);
  for (const std::string_view needed : {"rank", "frame", "kind", "depth"}) {
    if (!column || !frames.find(needed)) return {};
  }
  const Drawing drawing(frames, *column);
  const double height =
      kTop + kFlameGraphRow * static_cast<double>(std::max<std::size_t>(drawing.levels(), 1)) +
      kMargin;
  std::string about = text.about;
  if (drawing.empty()) {
    about += "; there is none in this trace";
  } else {
    about += fmt::format("; all: {}", duration_text(drawing.all()));
  }
  if (drawing.hidden() > 0) {
    about += fmt::format("; {} {} too small to draw", count_text(drawing.hidden()),
                         drawing.hidden() == 1 ? "frame is" : "frames are");
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" "
      "height=\"{:.0f}\" role=\"img\">\n<title>{}</title>\n",
      kWidth, height, kWidth, height, html_text(printable(text.title)));
  svg += kStyle;
  for (const KindColour& kind : kFlameGraphColours) {
    svg += fmt::format(".{}{{fill:{}}}", kind.letter, kind.colour);
  }
  svg += fmt::format("\n</style>\n<rect class=\"page\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n",
                     kWidth, height);
  svg += fmt::format("<text class=\"title\" x=\"10\" y=\"20\">{}</text>\n",
                     html_text(cut_end(printable(text.title), 120)));
  svg += fmt::format("<text class=\"about\" x=\"10\" y=\"36\">{}</text>\n",
                     html_text(cut_end(about, 170)));
  return svg + legend(drawing) + drawing.boxes() + "</svg>\n";
}

}  // namespace stepscope::report
