// Notes damage of a packed file.
#include "ingest/damage.h"

#include <fmt/format.h>

namespace stepscope::ingest {

std::string damage_text(const bytes::ByteSource& source) {
  const auto damage = source.damage();
  if (!damage) return {};
  return fmt::format("{} (byte {} of the file)", damage->what, damage->file_offset);
}

void note_damage(const bytes::ByteSource& source, base::ImportLog& log) {
  const auto damage = source.damage();
  if (damage) log.add(base::Note::kDamagedCompression, damage->text_offset, damage_text(source));
}

}  // namespace stepscope::ingest
