// What is read while it grows; run under TSan.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "lexical/postings/mutable_array.h"
#include "lexical/postings/mutable_postings.h"
#include "lexical/postings/sparse_array.h"

using namespace oneiros::lexical;
using oneiros::TermId;

TEST_CASE("MutableArray: readers find all that was there, wherever it moves") {
  MutableArray<std::uint32_t> array;
  CHECK(array.elements().empty());
  std::atomic<std::uint64_t> wrong_count = 0;
  {
    const std::jthread reader([&] {
      for (std::size_t size = 0; size < 20'000;) {
        const std::span<const std::uint32_t> seen = std::as_const(array).elements();
        wrong_count += seen.size() < size ? 1U : 0U;
        size = seen.size();
        for (std::size_t i = 0; i < size; i += 97) {
          wrong_count += seen[i] == 3 * i ? 0U : 1U;
        }
      }
    });
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      array.reserve_ahead(i + 1);
      array.push_back(3 * i);
    }
  }
  CHECK(wrong_count == 0);
  CHECK(array.resident_bytes() < 20'000 * 4 * 5);
}

TEST_CASE("SparseArray: zero until set, a page for one far out, read while written") {
  SparseArray<std::uint64_t> array;
  const std::size_t far = std::numeric_limits<std::uint32_t>::max();
  CHECK(array.get(far) == 0);
  array.reserve(far);
  CHECK(array.get(far) == 0);
  CHECK(array.get(0) == 0);
  array.set(far, 9);
  CHECK(array.get(far) == 9);
  CHECK(array.get(far - 1) == 0);
  CHECK(array.resident_bytes() < (std::size_t{1} << 27U));

  SparseArray<std::uint64_t> shared;
  std::atomic<std::uint64_t> wrong_count = 0;
  {
    const std::jthread reader([&] {
      for (std::uint64_t last = 0; last != 30'000;) {
        last = shared.get(29'999);
        for (std::uint64_t i = 0; i < 30'000; i += 701) {
          const std::uint64_t seen = shared.get(i);
          wrong_count += seen == i + 1 || (seen == 0 && last == 0) ? 0U : 1U;
        }
      }
    });
    for (std::uint64_t i = 0; i < 30'000; ++i) {
      shared.reserve(i);
      shared.set(i, i + 1);
    }
  }
  CHECK(wrong_count == 0);
}

TEST_CASE("MutablePostings: a reader of the first n documents finds all of their postings") {
  constexpr DocumentNumber kDocuments = 6'000;
  MutablePostings postings;
  std::atomic<DocumentNumber> published = 0;
  std::atomic<std::uint64_t> wrong_count = 0;
  const auto read = [&] {
    for (DocumentNumber limit = 0; limit < kDocuments;) {
      limit = published.load();
      for (const TermId step : {1U, 2U, 7U, 1'000U}) {  // term `step` is in each step-th document
        const PostingList list = postings.find(step).until(limit);
        wrong_count += list.size() == (limit + step - 1) / step ? 0U : 1U;
        for (std::size_t i = 0; i < list.block_count(); ++i) {
          const PostingBlock block = list.block(i);
          wrong_count += block.documents[block.size - 1] == (i * 128 + block.size - 1) * step &&
                                 block.frequencies[0] == 1 + i * 128 * step
                             ? 0U
                             : 1U;
        }
      }
      if (limit != 0) {
        wrong_count += postings.find(5'000 + limit - 1).size() == 1 ? 0U : 1U;  // its own term
      }
    }
  };
  {
    const std::jthread first(read);
    const std::jthread second(read);
    for (DocumentNumber document = 0; document < kDocuments; ++document) {
      std::vector<TermFrequency> terms;
      for (const TermId step : {1U, 2U, 7U, 1'000U}) {
        if (document % step == 0) {
          terms.push_back({.term = step, .frequency = 1 + document});
        }
      }
      terms.push_back({.term = 5'000 + document, .frequency = 1});
      postings.reserve(terms);
      postings.append(document, terms);
      published = document + 1;
    }
  }
  CHECK(wrong_count == 0);
}
