// The cache of filters that searches use repeatedly.
//
// Algorithm: filters are recognised by a sample of 128 words of their bits, and confirmed by a
// comparison that stops after a few differences. A filter that is close to a cached one is
// translated by applying the differences to its documents (mapped_rows.h). Small filters are stored
// as lists. The list of cached filters is immutable and replaced through a LeftRight, most recent
// first.
//
// Invariants: a returned translation always matches the given rows; a miss returns none, and the
// search tests rows itself. Readers never wait; a writer that finds the mutex taken skips caching.
//
// Cost of a look-up: the sample, and a comparison of the bits with one or a few candidates.
#include "lexical/filters/row_filters.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

#include "lexical/filters/set_bits.h"

namespace oneiros::lexical {

namespace {

// The number of cached filters: about the tenants of a service that search in turn; fewer if they
// exceed this size together.
constexpr std::size_t kMostKept = 128;
constexpr std::size_t kMostKeptBytes = std::size_t{32} << 20U;

// Larger filters are not stored.
constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

// Sets with fewer than one row per this many documents are listed and cached at once.
constexpr std::size_t kFew = 512;
// Smaller ones than this are translated at once, and cached on their second use.
constexpr std::size_t kRatherFew = 96;
// Other sets are translated after this many uses: searches without it have then lost about the time
// of a translation.
constexpr std::uint32_t kSights = 4;

// From this many rows on, sets with few differences count as similar; smaller sets are cheap to
// translate again.
constexpr std::size_t kMany = 256;

// Sets that differ in more rows, or in more words of their samples, are not similar.
constexpr std::size_t kMostChanged = 64;
constexpr std::size_t kMostUnlike = 2;

// Only one of two translated sets that differ in this few rows is kept.
constexpr std::size_t kSameChanged = 16;

std::uint64_t word_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint64_t word = 0;
  if (at < bytes.size()) {
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
  }
  return word;
}

// Row numbers have 32 bits.
std::span<const std::uint8_t> known_rows(std::span<const std::uint8_t> bits) {
  constexpr std::size_t kAllRows = std::size_t{1} << 29U;  // bytes
  return bits.first(std::min(bits.size(), kAllRows));
}

}  // namespace

RowFilters::Sight RowFilters::see(std::span<const std::uint8_t> bits, const View& view) {
  const Rows rows = known_rows(bits);
  const std::size_t document_count = std::max<std::size_t>(view.sealed_document_count(), 1);
  const std::size_t row_count = count_bits(rows);
  Sight sight;
  if (row_count * kFew < document_count) {
    sight.mapped = see_few(list_bits(rows, row_count), view);
  } else {
    sight.mapped = see_many(rows, row_count, view, false);
  }
  sight.share = std::min(static_cast<double>(row_count) / static_cast<double>(document_count), 1.0);
  return sight;
}

std::shared_ptr<const MappedRows> RowFilters::translate(std::span<const std::uint8_t> bits,
                                                        const View& view) {
  const Rows rows = known_rows(bits);
  const std::size_t row_count = count_bits(rows);
  return row_count * kFew < std::max<std::size_t>(view.sealed_document_count(), 1)
             ? see_few(list_bits(rows, row_count), view)
             : see_many(rows, row_count, view, true);
}

std::shared_ptr<const MappedRows> RowFilters::see_few(std::vector<std::uint32_t> listed,
                                                      const View& view) {
  Known known = nearest(listed);
  const Filter* const filter = known.filter.get();
  if (filter != nullptr && known.changed.empty() && filter->mapped->covers(view)) {
    return filter->mapped;
  }
  auto next = std::make_shared<Filter>();
  next->listed = std::move(listed);
  next->mapped = MappedRows::of({.mapping = RowMapping(next->listed),
                                 .former = filter == nullptr ? nullptr : filter->mapped,
                                 .changed = known.changed},
                                view);
  const bool is_same =
      filter != nullptr && (known.changed.empty() || filter->mapped == next->mapped);
  std::shared_ptr<const MappedRows> mapped = next->mapped;
  keep(std::move(next), is_same ? filter : nullptr);
  return mapped;
}

std::shared_ptr<const MappedRows> RowFilters::see_many(Rows rows, std::size_t row_count,
                                                       const View& view, bool is_due) {
  const std::size_t document_count = view.sealed_document_count();
  const bool are_rather_few = row_count * kRatherFew < document_count;
  auto next = std::make_shared<Filter>();
  next->sample = sample_of(rows);
  const Known known = nearest(rows, next->sample);
  const Filter* const filter = known.filter.get();
  if (filter == nullptr) {
    const bool is_kept = is_due && rows.size() <= kMostBytes;
    if (is_kept) {
      next->rows.assign(rows.begin(), rows.end());
      next->mapped = mapped_once(next->rows, row_count, view);
    }
    std::shared_ptr<const MappedRows> mapped =
        is_kept || !are_rather_few ? next->mapped : mapped_once(rows, row_count, view);
    keep(std::move(next), nullptr);
    return mapped;
  }
  const bool is_same = known.changed.empty();
  if (filter->mapped) {
    const bool is_covered = filter->mapped->covers(view);
    if (is_covered &&
        (is_same || (known.changed.size() <= kSameChanged && !view.seals_any(known.changed)))) {
      return filter->mapped;
    }
  } else {
    next->sight_count = is_same ? ++filter->sight_count : filter->sight_count + 1;
  }
  is_due = is_due || filter->mapped || are_rather_few || next->sight_count >= kSights;
  if (rows.size() > kMostBytes) {
    return are_rather_few ? mapped_once(rows, row_count, view) : nullptr;
  }
  if (is_same && !is_due && !filter->rows.empty()) {
    return nullptr;  // only the use was recorded
  }
  next->rows = rows_of(known, rows);
  if (is_due) {
    next->mapped =
        MappedRows::of({.mapping = RowMapping(next->rows, count_bits(next->rows), document_count),
                        .former = filter->mapped,
                        .changed = known.changed},
                       view);
  }
  std::shared_ptr<const MappedRows> mapped = next->mapped;
  keep(std::move(next), is_same || filter->mapped == mapped ? filter : nullptr);
  return mapped;
}

std::shared_ptr<const MappedRows> RowFilters::mapped_once(Rows rows, std::size_t row_count,
                                                          const View& view) {
  return MappedRows::of({.mapping = RowMapping(rows, row_count, view.sealed_document_count())},
                        view);
}

// A copy is stored: the caller may change its rows later.
std::vector<std::uint8_t> RowFilters::rows_of(const Known& known, Rows rows) {
  if (known.filter->rows.empty()) {
    return {rows.begin(), rows.end()};
  }
  std::vector<std::uint8_t> bits = known.filter->rows;
  bits.resize(std::max(bits.size(), rows.size()));
  for (const std::uint32_t row : known.changed) {
    bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] ^ 1U << row % 8U);
  }
  return bits;
}

// The sampled positions stay the same while a set grows by less than half.
RowFilters::Sample RowFilters::sample_of(Rows rows) {
  Sample sample{};
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t words = (rows.size() + kWord - 1) / kWord;
  const std::size_t step = std::bit_floor(std::max(words * 2 / sample.size(), std::size_t{1}));
  for (std::size_t i = 0; i * step < words; ++i) {
    sample[i] = word_at(rows, i * step * kWord);
  }
  return sample;
}

bool RowFilters::are_alike(const Sample& one, const Sample& other) {
  std::size_t unlike = 0;
  for (std::size_t i = 0; i < one.size() && unlike <= kMostUnlike; ++i) {
    unlike += one[i] != other[i] ? 1U : 0U;
  }
  return unlike <= kMostUnlike;
}

std::optional<std::vector<std::uint32_t>> RowFilters::changes(Rows one, Rows other) {
  const std::size_t common = std::min(one.size(), other.size()) / sizeof(std::uint64_t) * 8;
  std::vector<std::uint32_t> changed;
  const std::size_t size = std::max(one.size(), other.size());
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    constexpr std::size_t kStep = 4096;  // compared by memcmp
    if (at % kStep == 0 && at + kStep <= common &&
        std::memcmp(one.data() + at, other.data() + at, kStep) == 0) {
      at += kStep - sizeof(std::uint64_t);
      continue;
    }
    for (std::uint64_t unlike = word_at(one, at) ^ word_at(other, at); unlike != 0;
         unlike &= unlike - 1) {
      if (changed.size() == kMostChanged) {
        return std::nullopt;
      }
      changed.push_back(
          static_cast<std::uint32_t>(at * 8 + static_cast<std::size_t>(std::countr_zero(unlike))));
    }
  }
  return changed;
}

std::optional<std::vector<std::uint32_t>> RowFilters::changes(Listed one, Listed other) {
  std::vector<std::uint32_t> changed;
  auto mine = one.begin();
  auto its = other.begin();
  while (true) {
    std::tie(mine, its) = std::mismatch(mine, one.end(), its, other.end());
    if (mine == one.end() && its == other.end()) {
      return changed;
    }
    if (changed.size() == (one.size() < kMany ? 0 : kMostChanged)) {
      return std::nullopt;
    }
    const bool is_mine = its == other.end() || (mine != one.end() && *mine < *its);
    changed.push_back(is_mine ? *mine++ : *its++);
  }
}

std::shared_ptr<const RowFilters::Filters> RowFilters::kept() const {
  static const auto kNone = std::make_shared<const Filters>();
  const std::shared_ptr<const Filters> filters =
      filters_.read([](const auto& one) noexcept { return one; });
  return filters ? filters : kNone;
}

RowFilters::Known RowFilters::nearest(Listed listed) const {
  Known known;
  const std::shared_ptr<const Filters> filters = kept();
  for (const std::shared_ptr<const Filter>& filter : *filters) {
    if (filter->are_many()) {
      continue;
    }
    std::optional<std::vector<std::uint32_t>> changed = changes(listed, filter->listed);
    if (changed && (!known.filter || changed->size() < known.changed.size())) {
      known = {.filter = filter, .changed = *std::move(changed)};
    }
  }
  return known;
}

RowFilters::Known RowFilters::nearest(Rows rows, const Sample& sample) const {
  Known known;
  std::shared_ptr<const Filter> alike;
  const std::shared_ptr<const Filters> filters = kept();
  for (const std::shared_ptr<const Filter>& filter : *filters) {
    if (!filter->are_many() || !are_alike(sample, filter->sample)) {
      continue;
    }
    if (filter->rows.empty()) {
      alike = filter;
      continue;
    }
    std::optional<std::vector<std::uint32_t>> changed = changes(rows, filter->rows);
    if (changed && (!known.filter || changed->size() < known.changed.size())) {
      known = {.filter = filter, .changed = *std::move(changed)};
      if (known.changed.empty()) {
        break;
      }
    }
  }
  return known.filter ? known : Known{.filter = alike, .changed = {}};
}

void RowFilters::keep(std::shared_ptr<const Filter> filter, const Filter* instead_of) {
  const std::unique_lock writer(writer_mutex_, std::try_to_lock);
  if (!writer) {
    return;
  }
  auto filters = std::make_shared<Filters>();
  std::size_t bytes = filter->resident_bytes();
  filters->push_back(std::move(filter));
  if (const std::shared_ptr<const Filters>& kept = filters_.latest()) {
    for (const std::shared_ptr<const Filter>& one : *kept) {
      bytes += one->resident_bytes();
      if (filters->size() == kMostKept || bytes > kMostKeptBytes) {
        break;
      }
      if (one.get() != instead_of) {
        filters->push_back(one);
      }
    }
  }
  filters_.write([&filters](auto& one) noexcept { one = filters; });
}

std::size_t RowFilters::resident_bytes() const {
  std::size_t bytes = 0;
  const std::shared_ptr<const Filters> filters = kept();
  for (const std::shared_ptr<const Filter>& filter : *filters) {
    bytes += filter->resident_bytes();
  }
  return bytes;
}

}  // namespace oneiros::lexical
