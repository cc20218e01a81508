// A segment's documents in a snapshot, and their validation before use.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

#include "lexical/segments/document_table.h"
#include "threads/for_each_chunk.h"

namespace oneiros::lexical {

namespace {
constexpr std::size_t kFewestStrides = 64;  // per thread and step
}  // namespace

void DocumentTable::write(SnapshotWriter& snapshot, std::uint32_t number, Epoch epoch) const {
  std::vector<DocumentNumber> dead;
  for (DocumentNumber document = 0; document < size(); ++document) {
    if (!is_alive_at(document, epoch)) {
      dead.push_back(document);
    }
  }
  packed_rows_.write(snapshot, number);
  snapshot.add<LengthRun>(SectionKind::kLengths, number, runs_);
  if (packed_.is_used()) {
    packed_.write(snapshot, number);
  } else {
    snapshot.add(SectionKind::kOccurrences, number, occurrences_.elements());
    snapshot.add(SectionKind::kOccurrenceStarts, number, starts_.elements());
    snapshot.add(SectionKind::kOccurrenceSizes, number, sizes_.elements());
  }
  snapshot.add<DocumentNumber>(SectionKind::kDead, number, dead);
}

void DocumentTable::read(const SnapshotReader& snapshot, std::uint32_t number) {
  assert(size() == 0);
  packed_rows_ = PackedRows::read(snapshot, number);
  const std::size_t size = packed_rows_.size();
  const auto runs = snapshot.take<LengthRun>(SectionKind::kLengths, number);
  const auto dead = snapshot.take<DocumentNumber>(SectionKind::kDead, number);
  require_sense(size < std::numeric_limits<DocumentNumber>::max(), "too many documents");
  require_sense(runs.size() <= size && (runs.size() == 0) == (size == 0),
                "not as many lengths as documents");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    require_sense(i == 0 ? runs[i].first == 0
                         : runs[i - 1].first < runs[i].first && runs[i].first < size &&
                               runs[i - 1].length < runs[i].length,
                  "documents do not stand by length");
  }
  if (PackedOccurrences::is_in(snapshot, number)) {
    packed_ = PackedOccurrences::read(snapshot, number);
  } else {
    occurrences_.assign(snapshot.take<std::uint8_t>(SectionKind::kOccurrences, number).elements());
    starts_.assign(snapshot.take<std::uint64_t>(SectionKind::kOccurrenceStarts, number).elements());
    sizes_.assign(snapshot.take<std::uint16_t>(SectionKind::kOccurrenceSizes, number).elements());
  }
  runs_.assign(runs.elements().begin(), runs.elements().end());
  for (std::size_t i = 0; i < dead.size(); ++i) {
    require_sense(dead[i] < size && (i == 0 || dead[i - 1] < dead[i]),
                  "dead documents are not in order");
    reserve_death(dead[i]);
    die(dead[i], 1);
  }
}

void DocumentTable::check(std::size_t term_count, std::size_t threads) const {
  packed_rows_.check(runs_);
  if (packed_.is_used()) {
    packed_.check(size(), term_count, threads);
    return;
  }
  const std::span<const std::uint8_t> bytes = occurrences_.elements();
  const std::span<const std::uint64_t> starts = starts_.elements();
  const std::span<const std::uint16_t> sizes = sizes_.elements();
  require_sense(sizes.size() == size() && starts.size() == (size() + kStride - 1) / kStride,
                "not as many occurrences as documents");
  // The documents of a stride, which must end where the next stride starts.
  const auto check_stride = [&](std::size_t stride) {
    std::uint64_t at = starts[stride];
    const std::uint64_t end = stride + 1 < starts.size() ? starts[stride + 1] : bytes.size();
    require_sense(at <= end && end <= bytes.size(), "documents' occurrences are not in order");
    const std::size_t last = std::min(size(), (stride + 1) * kStride);
    for (std::size_t number = stride * kStride; number < last; ++number) {
      std::uint64_t document_size = sizes[number];
      if (sizes[number] == kLong) {
        require_sense(end - at >= sizeof(LongSize), "a document has no size");
        std::memcpy(&document_size, bytes.data() + at, sizeof(document_size));
        at += sizeof(LongSize);
        require_sense(document_size >= kLong, "a document's size is not the shortest");
      }
      require_sense(end - at >= document_size, "a document ends behind its bytes");
      require_sense(are_occurrences(bytes.subspan(at, document_size), term_count),
                    "a document's occurrences cannot be read");
      at += document_size;
    }
    require_sense(at == end, "documents' occurrences do not fill their bytes");
  };
  require_sense(starts.empty() ? bytes.empty() : starts.front() == 0,
                "documents' occurrences do not begin with the bytes");
  for_each_chunk(starts.size(), threads, grain_for(starts.size(), threads, kFewestStrides),
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t stride = begin; stride < end; ++stride) {
                     check_stride(stride);
                   }
                 });
}

}  // namespace oneiros::lexical
