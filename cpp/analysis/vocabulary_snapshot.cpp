// The vocabulary in a snapshot.
#include <bit>

#include "analysis/vocabulary.h"

namespace oneiros {

StringTable::Image StringTable::image() const {
  Image image{.seed = seed_, .strings = {}, .slots = {}};
  image.slots.assign(slots_.elements().begin(), slots_.elements().end());
  image.strings.reserve(size());
  for (std::uint32_t number = 0; number < size(); ++number) {
    image.strings.push_back(at(number));
  }
  return image;
}

void StringTable::write(const Image& image, SnapshotWriter& snapshot) {
  std::vector<char> bytes;
  std::vector<std::uint64_t> starts{0};
  starts.reserve(image.strings.size() + 1);
  for (const std::string_view string : image.strings) {
    bytes.insert(bytes.end(), string.begin(), string.end());
    starts.push_back(bytes.size());
  }
  snapshot.add<std::uint64_t>(SectionKind::kStringSeed, 0, std::span(&image.seed, 1));
  snapshot.add<char>(SectionKind::kStringBytes, 0, bytes);
  snapshot.add<std::uint64_t>(SectionKind::kStringStarts, 0, starts);
  snapshot.add<Slot>(SectionKind::kStringSlots, 0, image.slots);
}

StringTable StringTable::read(const SnapshotReader& snapshot) {
  StringTable table;
  const auto seed = snapshot.take<std::uint64_t>(SectionKind::kStringSeed, 0);
  require_sense(seed.size() == 1, "not one seed of the string table");
  table.seed_ = seed[0];
  table.mapped_bytes_ = snapshot.take<char>(SectionKind::kStringBytes, 0);
  table.mapped_starts_ = snapshot.take<std::uint64_t>(SectionKind::kStringStarts, 0);
  table.slots_ = snapshot.take<Slot>(SectionKind::kStringSlots, 0);

  const std::span<const std::uint64_t> starts = table.mapped_starts_.elements();
  require_sense(!starts.empty() && starts.front() == 0 &&
                    starts.back() == table.mapped_bytes_.size() && starts.size() < kAbsent,
                "strings do not fill their bytes");
  for (std::size_t i = 1; i < starts.size(); ++i) {
    require_sense(starts[i - 1] <= starts[i] && starts[i] - starts[i - 1] < kAbsent,
                  "strings are not in order");
  }
  table.mapped_count_ = static_cast<std::uint32_t>(starts.size() - 1);

  // A free slot ends every look-up; as many are taken as there are strings.
  const std::span<const Slot> slots = table.slots_.elements();
  require_sense(std::has_single_bit(slots.size()) &&
                    std::uint64_t{table.mapped_count_} * 3 <= slots.size() * 2,
                "slots of strings are too few, or no power of two");
  std::size_t taken = 0;
  for (const Slot& slot : slots) {
    require_sense(slot.number < table.mapped_count_ || slot.number == kAbsent,
                  "a slot of no string");
    taken += slot.number != kAbsent ? 1 : 0;
  }
  require_sense(taken == table.mapped_count_, "not as many slots taken as there are strings");
  table.mask_ = slots.size() - 1;
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
  require_sense(meanings.size() == vocabulary.strings_.size(),
                "not as many meanings as there are strings");
  require_sense(terms.size() < kStopWord, "too many terms");
  for (const Meaning& meaning : meanings) {
    require_sense((meaning.surface < terms.size() || meaning.surface >= kStopWord) &&
                      (meaning.term < terms.size() || meaning.term == kUnknown),
                  "a string means a term that is not there");
  }
  for (std::size_t term = 0; term < terms.size(); ++term) {
    require_sense(terms[term] < meanings.size() && meanings[terms[term]].term == term,
                  "a term is not what its string means");
  }
  for (const std::uint32_t surface : vocabulary.surfaces_.elements()) {
    require_sense(surface < meanings.size() && meanings[surface].surface < terms.size(),
                  "a surface stands for no term");
  }
  return vocabulary;
}

}  // namespace oneiros
