// Memory that runs out, at every allocation in turn.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "lexical/index/index.h"
#include "tests/lexical/plain_index.h"
#include "tests/rounds.h"

using namespace oneiros::lexical;
using oneiros::TermId;
using oneiros::testing::rounds;
using testing::document_of;
using testing::PlainIndex;
using testing::same;

namespace {

// How many more allocations of this thread succeed before one fails.
thread_local std::optional<std::uint32_t> t_allocations_left;

// Whether those of all threads but the spared ones fail.
std::atomic<bool> g_others_fail = false;
thread_local bool t_is_spared = false;

}  // namespace

void* operator new(std::size_t size) {
  if (t_allocations_left && (*t_allocations_left)-- == 0) {
    t_allocations_left.reset();
    throw std::bad_alloc();
  }
  if (g_others_fail.load() && !t_is_spared) {
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

// Sorting asks for room this way, and does without.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

struct Text {
  std::uint32_t row;
  std::vector<TermId> terms;
};

// Returns false if memory ran out during call().
template <typename Call>
bool succeeds(std::uint32_t allocations, Call call) {
  t_allocations_left = allocations;
  try {
    call();
  } catch (const std::bad_alloc&) {
    return false;
  }
  t_allocations_left.reset();
  return true;
}

bool agree(const Index& index, const PlainIndex& plain) {
  const std::vector<TermId> query{0, 3, 5, 7};
  return index.document_count() == plain.size() &&
         same(index.search(count_query_terms(query), 100, {}).hits,
              plain.size() == 0 ? std::vector<Hit>{} : plain.search(query, 100, {}));
}

}  // namespace

TEST_CASE("Index: out of memory anywhere leaves the texts up to some point, each whole") {
  std::uint32_t failed_count = 0;
  for (std::uint32_t allocations = 0; allocations < 40; ++allocations) {
    CAPTURE(allocations);
    std::mt19937 random(allocations);
    const auto below = [&](std::uint32_t limit) {
      return static_cast<std::uint32_t>(random() % limit);
    };
    Index index({}, {.documents = 8, .postings = 1U << 20U, .fan_in = 2});
    PlainIndex plain({});
    for (std::uint32_t step = 0; step < rounds(120U); ++step) {
      CAPTURE(step);
      std::vector<Text> texts;
      std::vector<Document> documents;
      const std::uint32_t kind = below(10);
      for (std::uint32_t count = kind < 7 ? 1 + below(4) : 0; count > 0; --count) {
        // Rows and terms far from all others, so that tables grow at every step.
        Text text{.row = below(10) * 1'100 * (1 + step % 7), .terms = {below(8), below(8)}};
        text.terms.push_back(step * step + count);
        // All are found, and no two are of a length: what is found tells which are in.
        text.terms.push_back(0);
        text.terms.resize(text.terms.size() + 4 * step + count, 9);
        texts.push_back(text);
        documents.push_back(document_of(text.row, text.terms));
      }
      if (kind < 7) {
        const bool is_done = succeeds(allocations, [&] { index.add(documents); });
        failed_count += is_done ? 0 : 1;
        std::size_t count = 0;
        while (count < texts.size() && (is_done || !agree(index, plain))) {
          plain.add(texts[count].row, texts[count].terms);
          ++count;
        }
      } else if (kind < 9) {
        const std::uint32_t row = below(10) * 1'100 * (1 + below(7));
        if (succeeds(allocations, [&] { index.remove(row); })) {
          plain.remove(row);
        } else {
          ++failed_count;
        }
      } else {
        failed_count += succeeds(allocations, [&] { index.seal(); }) ? 0 : 1;
      }
      REQUIRE(agree(index, plain));
    }
    index.seal();
    CHECK(agree(index, plain));
  }
  CHECK(failed_count > rounds(500U));
}

TEST_CASE("Index: a failed background merge is reported until one succeeds") {
  t_is_spared = true;
  Index index({}, {.documents = 4, .postings = 1U << 20U, .fan_in = 2});
  PlainIndex plain({});
  std::uint32_t row = 0;
  const auto add = [&] {
    const std::vector<TermId> terms(1 + row, row % 8);
    index.add(std::vector<Document>{document_of(row, terms)});
    plain.add(row++, terms);
  };
  CHECK(index.merge_error().empty());
  g_others_fail = true;
  while (row < 5) {
    add();
  }
  while (index.merge_error().empty()) {
    std::this_thread::yield();
  }
  CHECK(agree(index, plain));
  g_others_fail = false;
  while (row < 10) {
    add();
  }
  index.seal();
  while (!index.merge_error().empty()) {
    add();
    std::this_thread::yield();
  }
  CHECK(agree(index, plain));
  t_is_spared = false;
}
