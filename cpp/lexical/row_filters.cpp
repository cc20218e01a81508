#include "lexical/row_filters.h"

#include <algorithm>
#include <utility>

#include "lexical/set_bits.h"

namespace oneiros::lexical {

namespace {

// Rows that are fewer than one to so many documents are mapped at once, others when they were seen
// so many times: then what searches have lost by waiting is about what mapping takes.
constexpr std::size_t kFew = 256;
constexpr std::uint32_t kSights = 4;

}  // namespace

RowFilters::Sight RowFilters::see(std::span<const std::uint8_t> rows, const View& view) {
  if (const std::shared_ptr<const Filter> filter = known(rows)) {
    if (filter->mapped && filter->mapped->covers(view)) {
      return {.mapped = filter->mapped, .is_due = false};
    }
    const bool is_due = filter->mapped || ++filter->sight_count % kSights == 0;
    return {.mapped = nullptr, .is_due = is_due};
  }
  if (count_bits(rows) * kFew < view.sealed_document_count()) {
    return {.mapped = nullptr, .is_due = true};
  }
  keep(rows, nullptr);
  return {};
}

std::shared_ptr<const RowFilters::Filter> RowFilters::known(
    std::span<const std::uint8_t> rows) const {
  const std::shared_ptr<const Filters> filters =
      filters_.read([](const auto& one) noexcept { return one; });
  if (filters) {
    for (const std::shared_ptr<const Filter>& filter : *filters) {
      if (std::ranges::equal(filter->rows, rows)) {
        return filter;
      }
    }
  }
  return nullptr;
}

void RowFilters::keep(std::span<const std::uint8_t> rows,
                      std::shared_ptr<const MappedRows> mapped) {
  const std::unique_lock writer(writer_mutex_, std::try_to_lock);
  if (!writer || rows.size() > kMostBytes) {
    return;
  }
  auto filter = std::make_shared<Filter>();
  filter->rows.assign(rows.begin(), rows.end());
  filter->mapped = std::move(mapped);
  auto filters = std::make_shared<Filters>();
  filters->push_back(std::move(filter));
  if (const std::shared_ptr<const Filters>& former = filters_.latest()) {
    for (const std::shared_ptr<const Filter>& one : *former) {
      if (filters->size() < kMost && !std::ranges::equal(one->rows, rows)) {
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
