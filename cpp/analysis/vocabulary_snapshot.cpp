// The vocabulary in a snapshot: string arena, hash slots and meanings, mapped when read.
#include <bit>
#include <cstring>

#include "analysis/vocabulary.h"

namespace oneiros {

StringTable::Image StringTable::image() const {
  const auto slots = slots_.elements();
  const auto starts = starts_.elements();
  return {.seed = seed_,
          .slots = std::vector(slots.begin(), slots.end()),
          .starts = std::vector(starts.begin(), starts.end()),
          .bases = bases_};
}

// The arena as one range: the entries in order of their numbers.
void StringTable::write(const Image& image, SnapshotWriter& snapshot) {
  const auto entry = [&](std::uint32_t offset) {
    return image.bases[offset >> kBlockBits] + (offset & (kBlockBytes - 1));
  };
  std::vector<char> bytes;
  std::vector<std::uint32_t> starts;
  starts.reserve(image.starts.size());
  for (const std::uint32_t start : image.starts) {
    const char* const begin = entry(start);
    const std::string_view string = string_of(begin);
    starts.push_back(static_cast<std::uint32_t>(bytes.size()));
    bytes.insert(bytes.end(), begin, string.data() + string.size());
  }
  bytes.resize(bytes.size() + kHeadBytes);
  std::vector<Slot> slots = image.slots;
  for (Slot& slot : slots) {
    if (slot.offset != kAbsent) {
      std::uint32_t number = 0;
      std::memcpy(&number, entry(slot.offset), sizeof(number));
      slot.offset = starts[number];
    }
  }
  snapshot.add<std::uint64_t>(SectionKind::kStringSeed, 0, std::span(&image.seed, 1));
  snapshot.add<char>(SectionKind::kStringBytes, 0, bytes);
  snapshot.add<std::uint32_t>(SectionKind::kStringStarts, 0, starts);
  snapshot.add<Slot>(SectionKind::kStringSlots, 0, slots);
}

namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint32_t);

std::uint32_t number_at(std::span<const char> arena, std::size_t start) {
  require_sense(start < arena.size() && arena.size() - start >= kNumberBytes,
                "a string is cut off");
  std::uint32_t number = 0;
  std::memcpy(&number, arena.data() + start, sizeof(number));
  return number;
}

// The end of the entry that starts there.
std::size_t end_of_entry(std::span<const char> arena, std::size_t start) {
  constexpr unsigned kPayloadBits = 7;
  constexpr unsigned kMostBits = 35;
  constexpr unsigned kMore = 1U << kPayloadBits;
  std::size_t at = start + kNumberBytes;
  std::uint64_t length = 0;
  for (unsigned shift = 0; shift < kMostBits; shift += kPayloadBits) {
    require_sense(at < arena.size(), "a string is cut off");
    const auto byte = static_cast<std::uint8_t>(arena[at++]);
    length |= std::uint64_t{byte & (kMore - 1)} << shift;
    if ((byte & kMore) == 0) {
      require_sense(shift == 0 || byte != 0, "a string's length is not the shortest");
      require_sense(length <= arena.size() - at, "a string is cut off");
      return at + length;
    }
  }
  throw SnapshotDamaged("a string's length is too long");
}

}  // namespace

StringTable StringTable::read(const SnapshotReader& snapshot) {
  StringTable table;
  const auto seed = snapshot.take<std::uint64_t>(SectionKind::kStringSeed, 0);
  require_sense(seed.size() == 1, "not one seed of the string table");
  table.seed_ = seed[0];
  table.mapped_ = snapshot.take<char>(SectionKind::kStringBytes, 0);
  table.starts_ = snapshot.take<std::uint32_t>(SectionKind::kStringStarts, 0);
  table.slots_ = snapshot.take<Slot>(SectionKind::kStringSlots, 0);

  const std::span<const char> bytes = table.mapped_.elements();
  require_sense(bytes.size() >= kHeadBytes && bytes.size() < kAbsent, "too many strings, or none");
  for (std::size_t base = 0; base < bytes.size(); base += kBlockBytes) {
    table.bases_.push_back(bytes.data() + base);
  }
  const std::span<const Slot> slots = table.slots_.elements();
  table.mask_ = slots.size() - 1;
  if (snapshot.is_own()) {
    return table;
  }
  const std::span<const char> arena = bytes.first(bytes.size() - kHeadBytes);
  const std::span<const std::uint32_t> starts = table.starts_.elements();
  std::size_t at = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    require_sense(starts[i] == at && number_at(arena, at) == i, "strings are not in order");
    at = end_of_entry(arena, at);
  }
  require_sense(at == arena.size(), "strings do not fill their bytes");

  // A free slot ends every look-up; exactly as many slots as strings are used.
  require_sense(std::has_single_bit(slots.size()) && starts.size() * 3 <= slots.size() * 2,
                "slots of strings are too few, or no power of two");
  std::size_t taken = 0;
  for (const Slot& slot : slots) {
    if (slot.offset != kAbsent) {
      const std::uint32_t number = number_at(arena, slot.offset);
      require_sense(number < starts.size() && starts[number] == slot.offset, "a slot of no string");
      ++taken;
    }
  }
  require_sense(taken == starts.size(), "not as many slots taken as there are strings");
  return table;
}

Vocabulary::Image Vocabulary::image() const {
  const auto copied = [](const auto& stored) {
    const auto elements = stored.elements();
    return std::vector(elements.begin(), elements.end());
  };
  return {.strings = strings_.image(),
          .meanings = copied(meanings_),
          .terms = copied(terms_),
          .surfaces = copied(surfaces_)};
}

void Vocabulary::write(const Image& image, SnapshotWriter& snapshot) {
  StringTable::write(image.strings, snapshot);
  snapshot.add<Meaning>(SectionKind::kMeanings, 0, image.meanings);
  snapshot.add<std::uint32_t>(SectionKind::kTerms, 0, image.terms);
  snapshot.add<std::uint32_t>(SectionKind::kSurfaces, 0, image.surfaces);
}

Vocabulary Vocabulary::read(const SnapshotReader& snapshot) {
  Vocabulary vocabulary;
  vocabulary.strings_ = StringTable::read(snapshot);
  vocabulary.meanings_ = snapshot.take<Meaning>(SectionKind::kMeanings, 0);
  vocabulary.terms_ = snapshot.take<std::uint32_t>(SectionKind::kTerms, 0);
  vocabulary.surfaces_ = snapshot.take<std::uint32_t>(SectionKind::kSurfaces, 0);

  const std::span<const Meaning> meanings = vocabulary.meanings_.elements();
  const std::span<const std::uint32_t> terms = vocabulary.terms_.elements();
  require_sense(meanings.size() <= vocabulary.strings_.size(), "more meanings than strings");
  const std::size_t plain_count = vocabulary.strings_.size() - meanings.size();
  const std::size_t term_count = plain_count + terms.size();
  require_sense(term_count < kStopWord, "too many terms");
  vocabulary.plain_count_ = static_cast<std::uint32_t>(plain_count);
  if (snapshot.is_own()) {
    return vocabulary;
  }
  for (const Meaning& meaning : meanings) {
    require_sense((meaning.surface < term_count || meaning.surface >= kStopWord) &&
                      (meaning.term < term_count || meaning.term == kUnknown),
                  "a string means a term that is not there");
  }
  const auto meaning_of_own = [&](std::uint32_t number) -> const Meaning* {
    const bool is_there = number >= plain_count && number - plain_count < meanings.size();
    return is_there ? &meanings[number - plain_count] : nullptr;
  };
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Meaning* const meaning = meaning_of_own(terms[i]);
    require_sense(meaning != nullptr && meaning->term == plain_count + i,
                  "a term is not what its string means");
  }
  for (const std::uint32_t surface : vocabulary.surfaces_.elements()) {
    const Meaning* const meaning = meaning_of_own(surface);
    require_sense(meaning != nullptr && meaning->surface < term_count,
                  "a surface stands for no term");
  }
  return vocabulary;
}

}  // namespace oneiros
