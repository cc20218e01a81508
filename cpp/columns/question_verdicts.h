// The questions for which memories got verdicts. Source: docs/systems/house.md H19.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "threads/fork_safe_shared_mutex.h"

namespace oneiros {

// The stored form of a question, which holds no text:
//
//   bytes  what
//   1      1: an embedding, 2: words
//   n      the embedding's components in 8 bits each, none if it was dropped; or the words' hashes
//          in 4 bytes each, little-endian, ascending
//
// Writes the components of a vector: each is the nearest whole multiple of the largest magnitude
// divided by 127. Returns false and writes nothing if a component is not finite or all are 0.
// REQUIRES: code.size() == 1 + vector.size().
[[nodiscard]] bool encode_question(std::span<const float> vector, std::span<std::int8_t> code);

// A question that is compared with those of verdicts.
struct AskedQuestion {
  // Unit length, or empty: then it is compared with verdicts that hold words only.
  std::span<const float> vector;
  // Hashes of its words, ascending, each once.
  std::span<const std::uint32_t> words;
  // The likeness from which a verdict counts; it counts fully at a likeness of 1.
  double least;
  // What cosines count from, below 1.
  double baseline = 0;
};

// Verdicts with questions by the memory's number in the store. Thread safety: writers exclude one
// another and readers. Survives a fork.
class QuestionVerdicts {
 public:
  struct Verdict {
    double points;                        // 1: helpful, -1: unhelpful
    std::span<const std::byte> question;  // its stored form
  };

  // Replaces the verdicts of a memory; none: forgets them. Throws std::invalid_argument, before any
  // change, for bytes that are not the stored form of a question.
  void set(std::uint64_t sequence, std::span<const Verdict> verdicts);
  void clear();
  // The number of memories with verdicts.
  [[nodiscard]] std::size_t size() const;

  // For each memory: the sum of its verdicts' points, each times how alike the questions are, and
  // the plain sum of those below 0. With cosine c of two embeddings, above the baseline, or of two
  // sets of words (the number of common ones divided by the geometric mean of their sizes), a
  // verdict counts max(0, (min(c, 1) - least) / (1 - least)). Two questions of another form or
  // width are not alike, and a dropped one is like none. REQUIRES: the spans have equal sizes.
  void sum(const AskedQuestion& question, std::span<const double> sequences,
           std::span<double> alike, std::span<double> bad) const;

 private:
  struct Held {
    double points;
    std::vector<std::int8_t> code;
    double length;  // of `code`
    std::vector<std::uint32_t> words;
  };

  [[nodiscard]] static Held read(const Verdict& verdict);
  [[nodiscard]] static double likeness(const AskedQuestion& question, const Held& held);

  mutable ForkSafeSharedMutex mutex_;
  std::unordered_map<std::uint64_t, std::vector<Held>> verdicts_;
};

}  // namespace oneiros
