#include "lexical/filters/documents_by_rank.h"

namespace oneiros::lexical {

namespace {

// Building costs about one look-up per this many documents.
constexpr std::size_t kDocumentsPerLookUp = 32;

}  // namespace

const DocumentNumber* DocumentsByRank::for_asked(std::size_t count, const PackedRows& rows,
                                                 std::span<const LengthRun> runs) {
  if (!is_made_.load(std::memory_order_acquire)) {
    const std::size_t asked = asked_.fetch_add(count, std::memory_order_relaxed) + count;
    if (asked * kDocumentsPerLookUp < rows.size() ||
        is_begun_.exchange(true, std::memory_order_relaxed)) {
      return nullptr;
    }
    documents_ = rows.documents_by_rank(runs);
    is_made_.store(true, std::memory_order_release);
  }
  return documents_.data();
}

}  // namespace oneiros::lexical
