// Events that were met before, but for their numbers. A training loop does the same thing again
// and again, so a trace writes the same few thousand texts with other times and ids in them: a form
// is such a text with holes. An event that fits a form is proven well-formed by being equal to one
// that was, and everything but the numbers is known already. What fits none is read by the index.
//
// A form is looked for where it came last: after the forms before it, many or few of them. Only if
// that fails is the name of the event read and looked up.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kineto/fast_numbers.h"
#include "ingest/kineto/raw_event.h"

namespace stepscope::ingest::kineto {

// An event that the index led through: its places are its braces and the colons after its keys,
// counted from the window's begin.
struct EventText {
  const char* window;
  std::span<const std::uint32_t> places;

  const char* begin() const { return window + places.front(); }
  const char* end() const { return window + places.back() + 1; }
  std::string_view text() const { return {begin(), static_cast<std::size_t>(end() - begin())}; }
};

class Templates {
 public:
  Templates();

  // Reads the event at `at` into the draft, all but its text_at, if it fits a form. Returns the
  // place after it, or nullptr: then the draft holds nothing of use.
  const char* read(const char* at, const char* end, RawEvent& draft);

  // Makes a form of an event that was read by the index: its text, without backslashes and bytes
  // beyond ASCII, and the draft it became, with all ids it has.
  void learn(const EventText& read, const RawEvent& draft);

  // An event came between that has no form.
  void lose_track() { followed_by(kNone); }

  // Whether forms are worth looking for: not for a while in a trace where nothing comes twice.
  bool awake() const { return resting_ == 0; }
  void rest() { resting_ -= resting_ == 0 ? 0 : 1; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::size_t kHeadBits = 12;

  // What follows a stretch of fixed text.
  enum class Hole : std::uint8_t { kEnd, kTime, kDuration, kInteger, kReal, kId, kUnread };
  struct Piece {
    const char* text;
    std::uint32_t size;
    Hole hole;
    Arg arg;
  };
  // An argument that is the same in all events of the form.
  struct Constant {
    Arg arg;
    ArgType type;
    union {
      std::int64_t integer;
      double real;
    };
    std::string_view text;
  };
  struct Template {
    const Piece* pieces = nullptr;
    std::uint32_t sibling = kNone;  // another one with the same head
    std::uint32_t first_constant = 0, constants = 0;
    char phase = 0;
    bool has_duration = false, has_name = false;
    std::uint32_t name_id = 0, category_name_id = 0, category_id = 0, track_id = 0;
    std::uint32_t signature_id = 0;
    std::uint64_t present = 0;
    std::string_view name, category;
  };
  // How forms begin, up to the name of the event, or up to the first hole where no name comes
  // before it.
  struct Opening {
    std::string_view text;
    bool named;
  };

  // What came last time after the same forms, as many as 64 bits hold with so many of each.
  template <unsigned kBitsOfEach>
  class Guesses {
   public:
    std::uint32_t next() const { return after_[place()]; }
    void followed_by(std::uint32_t form) {
      if (after_[place()] != form) after_[place()] = form;
      history_ = history_ << kBitsOfEach ^ form * kMix;
    }
    void forget() { std::fill(after_.begin(), after_.end(), kNone); }

   private:
    static constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
    static constexpr unsigned kBits = 14;
    std::size_t place() const { return history_ * kMix >> (64 - kBits); }

    std::vector<std::uint32_t> after_ = std::vector<std::uint32_t>(std::size_t{1} << kBits, kNone);
    std::uint64_t history_ = 0;
  };

  const char* by_guess(std::uint32_t form, const char* at, const char* end, RawEvent& draft);
  void found(std::uint32_t form, RawEvent& draft);
  const char* fits(const Template& form, const char* at, const char* end, RawEvent& draft);
  const char* look_up(const char* at, const char* end, RawEvent& draft);
  void fill(const Template& form, RawEvent& draft) const;
  void followed_by(std::uint32_t form) {
    far_.followed_by(form);
    near_.followed_by(form);
  }
  std::uint32_t head_of(const char* at, const char* end) const;
  static std::uint32_t head_of(std::size_t opening, std::string_view name);

  static bool cut(const EventText& event, std::vector<Piece>& pieces);
  std::uint32_t same_form(std::uint32_t head, const std::vector<Piece>& pieces) const;
  bool take_constants(std::string_view event, const char* kept, const RawEvent& draft,
                      const std::vector<Piece>& pieces, Template& form);
  bool gives_back(const Template& form, std::string_view event, const RawEvent& draft);
  char* keep(std::size_t bytes);
  void forget();

  std::vector<Template> forms_;
  std::vector<Constant> constants_;
  std::vector<Piece> pieces_;  // of the event that is learnt
  std::vector<Opening> openings_;
  std::vector<std::uint32_t> heads_;  // the first form of each
  std::deque<std::vector<char>> pages_;
  std::size_t page_used_ = 0;
  std::size_t kept_bytes_ = 0;
  Guesses<5> far_;    // after the last thirteen forms: where in the step they are
  Guesses<16> near_;  // after the last four: where others than usual came before them
  std::uint32_t learnt_ = 0, found_ = 0;  // since it was last asked whether this is worth it
  std::uint32_t resting_ = 0;             // events still to pass by
  FastTime time_, duration_;
};

}  // namespace stepscope::ingest::kineto
