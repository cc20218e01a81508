// Splits a loop over threads of its own, for the batch kernels; a single query uses none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace oneiros {

// Below this many values a thread costs more than it brings.
inline constexpr std::size_t kFewestPerThread = std::size_t{1} << 15;

// Calls body(begin, end) over parts that cover [0, size) without overlap, at most `threads` at
// once. The cut changes no value as long as body treats each index alone. The first part's
// exception is thrown again once all parts have ended.
template <typename Body>
void split(std::size_t size, unsigned threads, Body body) {
  const std::size_t parts =
      std::clamp<std::size_t>(size / kFewestPerThread, 1, std::max(threads, 1U));
  const auto part_begin = [&](std::size_t part) { return size / parts * part; };
  std::vector<std::exception_ptr> errors(parts);
  const auto run = [&](std::size_t part) {
    try {
      body(part_begin(part), part + 1 == parts ? size : part_begin(part + 1));
    } catch (...) {
      errors[part] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> workers;
    workers.reserve(parts - 1);
    for (std::size_t part = 1; part < parts; ++part) {
      workers.emplace_back(run, part);
    }
    run(0);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

}  // namespace oneiros
