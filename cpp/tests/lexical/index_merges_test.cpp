// What the background does, and what it leaves when it is stopped.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "lexical/index/index.h"
#include "tests/lexical/plain_index.h"
#include "tests/rounds.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace oneiros::lexical;
using oneiros::TermId;
using oneiros::testing::rounds;
using testing::document_of;

namespace {

constexpr std::size_t kTerms = 8;

Document text(std::uint32_t row, std::uint32_t version = 0) {
  std::vector<TermId> terms{0};
  for (std::uint32_t i = 1; i < kTerms; ++i) {
    terms.push_back(1 + i * 50 + (row * i + version) % 50);
  }
  return document_of(row, terms);
}

std::size_t count_hits(const Index& index, std::size_t k = 1'000'000) {
  return index.search(count_query_terms(std::vector<TermId>{0}), k, {}).hits.size();
}

void add_each(Index& index, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t row = begin; row < end; ++row) {
    const Document document = text(row);
    index.add({&document, 1});
  }
}

}  // namespace

TEST_CASE("Index: each posting is rewritten once a level" * doctest::test_suite("not_under_tsan")) {
  constexpr std::uint32_t kRows = 16'384;
  Index index({}, {.documents = 64, .postings = 1U << 20U, .fan_in = 4});
  add_each(index, 0, kRows);
  index.seal();
  // From 64 on: 256, 1,024, 4,096 and 16,384; and the sealing itself.
  CHECK(index.rewritten_posting_count() <= 5 * kTerms * kRows);
  CHECK(index.segment_count() < 3 * 5);
  CHECK(count_hits(index) == kRows);
  // Merges follow the sizes alone, so nothing is left to do.
  const std::uint64_t rewritten = index.rewritten_posting_count();
  index.seal();
  CHECK(index.rewritten_posting_count() == rewritten);
}

TEST_CASE("Index: few full segments wait, however fast the writer") {
  Index index({}, {.documents = 32, .postings = 1U << 20U, .fan_in = 8});
  std::size_t most = 0;
  for (std::uint32_t row = 0; row < rounds(20'000U); ++row) {
    const Document document = text(row);
    index.add({&document, 1});
    most = std::max(most, index.view().segments->frozen.size());
  }
  CHECK(most <= 5);
}

TEST_CASE("Index: the background seals, merges and rewrites by itself") {
  Index index({}, {.documents = 64, .postings = 1U << 20U, .fan_in = 4});
  const auto waits_for = [](const auto& is_so) {
    for (int i = 0; i < 20'000 && !is_so(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return is_so();
  };
  add_each(index, 0, 64 * 16 + 1);
  CHECK(waits_for([&] { return index.segment_count() <= 2; }));
  CHECK(index.view().segments->frozen.empty());
  for (std::uint32_t row = 0; row < 1'000; ++row) {
    CHECK(index.remove(row));
  }
  CHECK(waits_for([&] {  // 24 live, and not more may be dead
    const View view = index.view();
    return view.segments->sealed.size() == 1 &&
           view.segments->sealed.front()->documents().size() <= 48;
  }));
  CHECK(count_hits(index) == 25);
}

TEST_CASE("Index: merged segments stay for the views that have them, and go with the last") {
  Index index({}, {.documents = 1'000, .postings = 1U << 20U, .fan_in = 2});
  add_each(index, 0, 100);
  index.seal();
  View view = index.view();
  REQUIRE(view.segments->sealed.size() == 1);
  const std::weak_ptr<const SealedSegment> former = view.segments->sealed.front();
  add_each(index, 90, 190);
  CHECK(index.remove(3));
  index.seal();  // 89 and 100 documents: of one level
  REQUIRE(index.segment_count() == 1);
  CHECK_FALSE(former.expired());
  CHECK(view.searched().front().document_limit == 100);
  std::size_t visible_count = 0;
  for (DocumentNumber number = 0; number < 100; ++number) {
    visible_count += view.searched().front().is_visible(number) ? 1 : 0;
  }
  CHECK(visible_count == 100);
  CHECK(count_hits(index) == 189);
  view = {};
  CHECK(former.expired());
}

TEST_CASE("Index: documents that die during the merge that copies them stay dead") {
  for (std::uint32_t round = 0; round < rounds(20U); ++round) {
    Index index({}, {.documents = 400, .postings = 1U << 20U, .fan_in = 2});
    add_each(index, 0, 1'601);
    for (std::uint32_t row = round; row < 1'600; row += 2) {
      CHECK(index.remove(row));
      if (row % 40 == round) {
        const Document document = text(row, 1);
        index.add({&document, 1});
      }
    }
    const std::size_t want = index.document_count();
    CHECK(count_hits(index) == want);
    index.seal();
    CHECK(count_hits(index) == want);
    for (std::uint32_t row = round; row < 1'600; row += 2) {
      CHECK(index.contains(row) == (row % 40 == round));
    }
  }
}

TEST_CASE("Index: its end does not wait for the merges to come") {
  for (std::uint32_t round = 0; round < rounds(30U, 15U); ++round) {
    auto index = std::make_unique<Index>(
        Bm25{}, SegmentLimits{.documents = 128, .postings = 1U << 20U, .fan_in = 2});
    std::vector<Document> batch;
    for (std::uint32_t row = 0; row < 128; ++row) {
      batch.push_back(text(row));
    }
    for (std::uint32_t i = 0; i <= round; ++i) {
      for (Document& document : batch) {
        document.row += 128;
      }
      index->add(batch);
    }
    const View view = index->view();
    index.reset();  // a view may outlive it
    CHECK(view.segments->growing != nullptr);
  }
}

TEST_CASE("Index: several seal at once") {
  Index index({}, {.documents = 64, .postings = 1U << 20U, .fan_in = 2});
  {
    std::vector<std::jthread> writers;
    for (std::uint32_t writer = 0; writer < 3; ++writer) {
      writers.emplace_back([&index, writer] {
        for (std::uint32_t i = 0; i < 10; ++i) {
          const std::uint32_t begin = (writer * 10 + i) * 100;
          add_each(index, begin, begin + 100);
          index.seal();
        }
      });
    }
  }
  CHECK(index.document_count() == 3'000);
  CHECK(count_hits(index) == 3'000);
}

// TSan lets no such child start a thread; ASan's allocator leaves it a lock that is never released.
#if !defined(_WIN32) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

TEST_CASE("Index: a child of a fork goes on with it, whatever its threads were at") {
  Index index({}, {.documents = 64, .postings = 1U << 20U, .fan_in = 2});
  add_each(index, 0, 500);
  std::atomic<bool> is_done = false;
  std::vector<std::jthread> threads;
  threads.emplace_back([&] {  // batches of 50, so that a child sees whole ones
    for (std::uint32_t version = 1; !is_done.load(); ++version) {
      std::vector<Document> batch;
      for (std::uint32_t row = 0; row < 50; ++row) {
        batch.push_back(text(500 + (version % 40) * 50 + row, version));
      }
      index.add(batch);
    }
  });
  threads.emplace_back([&] {
    while (!is_done.load()) {
      static_cast<void>(count_hits(index, 10));
    }
  });
  threads.emplace_back([&] {
    while (!is_done.load()) {
      index.seal();
    }
  });
  for (int round = 0; round < 40; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a hang is a failure
      bool is_right = count_hits(index) == index.document_count();
      is_right = is_right && index.document_count() % 50 == 0;
      const std::size_t count = index.document_count();
      add_each(index, 10'000, 10'200);
      is_right = is_right && count_hits(index) == count + 200;
      is_right = is_right && index.remove(10'000) && !index.contains(10'000);
      index.seal();
      is_right = is_right && count_hits(index) == count + 199;
      _exit(is_right ? 0 : 1);
    }
    REQUIRE(child > 0);
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  is_done = true;
}

#endif
