#include "lexical/row_filters.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "lexical/set_bits.h"

namespace oneiros::lexical {

namespace {

constexpr std::size_t kMostKept = 8;

// Rows that take more bytes are not kept.
constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

// Rows that are fewer than one to so many documents are mapped at once, others when they were seen
// so many times: then what searches have lost by waiting is about what mapping takes.
constexpr std::size_t kFew = 64;
constexpr std::uint32_t kSights = 4;

// Of so many rows or more, sets that differ in few are near: those of fewer are as soon mapped
// anew.
constexpr std::size_t kMany = 256;

// Sets that differ in more rows, or in more words of their samples, are not near.
constexpr std::size_t kMostChanged = 64;
constexpr std::size_t kMostUnlike = 2;

std::uint64_t word_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint64_t word = 0;
  if (at < bytes.size()) {
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
  }
  return word;
}

}  // namespace

RowFilters::Sight RowFilters::see(std::span<const std::uint8_t> bits, const View& view) {
  constexpr std::size_t kAllRows = std::size_t{1} << 29U;  // bytes: a row has 32 bits
  const std::span<const std::uint8_t> rows = bits.first(std::min(bits.size(), kAllRows));
  const Sample sample = sample_of(rows);
  const std::size_t row_count = count_bits(rows);
  Known known = nearest(rows, row_count, sample);
  const Filter* const filter = known.filter.get();
  const bool is_same = filter != nullptr && known.changed.empty();
  const std::size_t document_count = std::max<std::size_t>(view.sealed_document_count(), 1);
  Sight sight{
      .share = std::min(static_cast<double>(row_count) / static_cast<double>(document_count), 1.0)};
  std::uint32_t sight_count = 1;
  if (filter != nullptr) {
    if (is_same && filter->mapped && filter->mapped->covers(view)) {
      sight.mapped = filter->mapped;
      return sight;
    }
    sight_count = is_same ? ++filter->sight_count : filter->sight_count + 1;
  }
  const bool was_mapped = filter != nullptr && filter->mapped;
  if (was_mapped || sight_count >= kSights || row_count * kFew < document_count) {
    sight.mapped = MappedRows::of({.bits = rows,
                                   .count = row_count,
                                   .former = was_mapped ? filter->mapped : nullptr,
                                   .changed = std::move(known.changed)},
                                  view);
  } else if (is_same) {
    return sight;  // it counted
  }
  if (rows.size() <= kMostBytes) {
    auto next = std::make_shared<Filter>();
    next->rows.assign(rows.begin(), rows.end());
    next->sample = sample;
    next->row_count = row_count;
    next->sight_count = sight_count;
    next->mapped = sight.mapped;
    keep(std::move(next),
         is_same || (filter != nullptr && filter->mapped == next->mapped) ? filter : nullptr);
  }
  return sight;
}

// As long as sets grow by less than half, the words are the same ones.
RowFilters::Sample RowFilters::sample_of(std::span<const std::uint8_t> rows) {
  Sample sample{};
  const std::size_t words = rows.size() / sizeof(std::uint64_t);
  const std::size_t step = std::max<std::size_t>(std::bit_floor(words / sample.size()), 1);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    sample[i] = word_at(rows, i * step * sizeof(std::uint64_t));
  }
  return sample;
}

// The rows, ascending, that are in only one of two sets; nothing if they are many.
std::optional<std::vector<std::uint32_t>> RowFilters::changes(std::span<const std::uint8_t> one,
                                                              std::span<const std::uint8_t> other) {
  const std::size_t common = std::min(one.size(), other.size()) / sizeof(std::uint64_t) * 8;
  std::vector<std::uint32_t> changed;
  const std::size_t size = std::max(one.size(), other.size());
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    constexpr std::size_t kStep = 4096;  // compared as a whole
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

RowFilters::Known RowFilters::nearest(std::span<const std::uint8_t> rows, std::size_t row_count,
                                      const Sample& sample) const {
  const std::shared_ptr<const Filters> filters =
      filters_.read([](const auto& one) noexcept { return one; });
  Known known;
  if (!filters) {
    return known;
  }
  for (const std::shared_ptr<const Filter>& filter : *filters) {
    const auto [less, more] = std::minmax(row_count, filter->row_count);
    if (more - less > (row_count < kMany ? 0 : kMostChanged)) {
      continue;
    }
    std::size_t unlike = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      unlike += sample[i] != filter->sample[i] ? 1U : 0U;
    }
    if (unlike > (row_count < kMany ? 0 : kMostUnlike)) {
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
  return known;
}

void RowFilters::keep(std::shared_ptr<const Filter> filter, const Filter* instead_of) {
  const std::unique_lock writer(writer_mutex_, std::try_to_lock);
  if (!writer) {
    return;
  }
  auto filters = std::make_shared<Filters>();
  filters->push_back(std::move(filter));
  if (const std::shared_ptr<const Filters>& kept = filters_.latest()) {
    for (const std::shared_ptr<const Filter>& one : *kept) {
      if (filters->size() < kMostKept && one.get() != instead_of) {
        filters->push_back(one);
      }
    }
  }
  filters_.write([&filters](auto& one) noexcept { one = filters; });
}

std::size_t RowFilters::resident_bytes() const {
  const std::shared_ptr<const Filters> filters =
      filters_.read([](const auto& one) noexcept { return one; });
  std::size_t bytes = 0;
  if (filters) {
    for (const std::shared_ptr<const Filter>& filter : *filters) {
      bytes += filter->rows.capacity() + (filter->mapped ? filter->mapped->resident_bytes() : 0);
    }
  }
  return bytes;
}

}  // namespace oneiros::lexical
