#include "lexical/postings/postings.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "lexical/postings/mutable_postings.h"
#include "lexical/postings/term_table.h"

using namespace oneiros::lexical;
using oneiros::TermId;

namespace {

std::vector<DocumentNumber> documents_of(const PostingList& list) {
  std::vector<DocumentNumber> documents;
  for (std::size_t i = 0; i < list.block_count(); ++i) {
    const PostingBlock block = list.block(i);
    documents.insert(documents.end(), block.documents, block.documents + block.size);
  }
  return documents;
}

void append(MutablePostings& postings, TermId term, DocumentNumber document,
            std::uint32_t frequency) {
  const TermFrequency entry{.term = term, .frequency = frequency};
  postings.reserve({&entry, 1});
  postings.append(document, {&entry, 1});
}

}  // namespace

TEST_CASE("TermTable: slots count up, whatever the terms") {
  TermTable table;
  CHECK(table.find(3) == TermTable::kAbsent);
  const std::vector<TermId> terms{0, 7, std::numeric_limits<TermId>::max(), 1U << 31U, 16, 32};
  for (std::uint32_t slot = 0; slot < terms.size(); ++slot) {
    CHECK(table.find_or_insert(terms[slot]) == slot);
  }
  for (TermId term = 1000; term < 6000; ++term) {
    CHECK(table.find_or_insert(term) == term - 1000 + terms.size());
  }
  for (std::uint32_t slot = 0; slot < terms.size(); ++slot) {
    CHECK(table.find(terms[slot]) == slot);
    CHECK(table.find_or_insert(terms[slot]) == slot);
  }
  CHECK(table.find(5999) == 4999 + terms.size());
  CHECK(table.find(6000) == TermTable::kAbsent);
  CHECK(table.size() == 5000 + terms.size());
}

TEST_CASE("MutablePostings: lists keep every posting, cut into blocks of 128") {
  for (const std::uint32_t count : {1U, 2U, 127U, 128U, 129U, 256U, 1000U, 70'000U}) {
    MutablePostings postings;
    std::vector<DocumentNumber> want;
    for (DocumentNumber d = 0; d < count; ++d) {
      append(postings, 5, 3 * d, d + 1);
      append(postings, 6 + d % 7, d, 1);  // in between, so that lists move
      want.push_back(3 * d);
    }
    const PostingList list = postings.find(5);
    CHECK(list.size() == count);
    CHECK(list.block_count() == (count + 127) / 128);
    CHECK(list.block(0).size == std::min(count, 128U));
    CHECK(list.block(list.block_count() - 1).size == (count - 1) % 128 + 1);
    CHECK(list.block(list.block_count() - 1).frequencies[(count - 1) % 128] == count);
    CHECK(documents_of(list) == want);
    CHECK(postings.size() == std::size_t{2} * count);
    CHECK(postings.resident_bytes() >= postings.size() * 8);
  }
}

TEST_CASE("PostingList: a term without postings has no blocks") {
  const MutablePostings growing;
  CHECK(growing.find(1).size() == 0);
  CHECK(growing.find(1).block_count() == 0);
}

TEST_CASE("PostingList: cut at a limit") {
  const std::vector<DocumentNumber> documents{2, 5, 9};
  const std::vector<std::uint32_t> frequencies{1, 2, 3};
  const PostingList list(documents.data(), frequencies.data(), documents.size());
  const std::vector<std::size_t> sizes{0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3};
  for (DocumentNumber limit = 0; limit < sizes.size(); ++limit) {
    CHECK(list.until(limit).size() == sizes[limit]);
  }
  CHECK(PostingList().until(0).size() == 0);
}
