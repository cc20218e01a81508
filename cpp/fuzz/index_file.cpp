// Any bytes are opened as the file of a LexicalIndex: refused as damaged, or an index that answers,
// can be written to and is saved again.
#include <cmath>

#include "fuzz/small_files.h"
#include "fuzz/snapshot_file.h"

using namespace oneiros;
using fuzz::require;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return fuzz::mutate_snapshot(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size));
  try {
    const LexicalIndex::Opened opened = LexicalIndex::open(
        file.path(), fuzz::kIdentity, fuzz::analyzer(), {}, 1, fuzz::limits(false));
    LexicalIndex& index = *opened.index;
    const QueryReading in_order{.syntax = lexical::QuerySyntax::kQuery};
    for (const char* query : {"w0 w1 w2 w3", "everywhere", "title:often +one -w9",
                              "\"often everywhere\"", "\"w1 often\" w*"}) {
      for (const std::size_t k : {std::size_t{3}, std::size_t{500}}) {
        for (const lexical::Hit& hit : index.search(query, k, {}, in_order).hits) {
          require(std::isfinite(hit.score), "scores are finite");
        }
      }
    }
    fuzz::change(index, 9, 30);
    index.seal();
    static_cast<void>(index.search("everywhere w0 often", 10, {}));
    require(index.contains(7) || !index.remove(7), "a removed row was contained");
  } catch (const SnapshotDamaged&) {
    return 0;
  }
  return 0;
}
