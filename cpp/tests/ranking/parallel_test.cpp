#include "ranking/parallel.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

TEST_CASE("split: covers every index once, for any size and thread count") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, oneiros::kFewestPerThread,
                                 3 * oneiros::kFewestPerThread + 5}) {
    for (const unsigned threads : {0U, 1U, 2U, 7U}) {
      std::vector<int> seen(size);
      oneiros::split(size, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          ++seen[i];
        }
      });
      CHECK(seen == std::vector<int>(size, 1));
    }
  }
}

TEST_CASE("split: a thread's exception reaches the caller") {
  CHECK_THROWS_WITH_AS(oneiros::split(4 * oneiros::kFewestPerThread, 4,
                                      [](std::size_t begin, std::size_t) {
                                        if (begin > 0) {
                                          throw std::invalid_argument("refused");
                                        }
                                      }),
                       "refused", std::invalid_argument);
}
