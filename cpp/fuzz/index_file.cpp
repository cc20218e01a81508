// Any bytes are opened as the file of a LexicalIndex: refused as damaged, or an index that answers,
// can be written to and is saved again.
#include "fuzz/snapshot_file.h"
#include "fuzz/snapshot_uses.h"

using namespace oneiros;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return fuzz::mutate_snapshot(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size));
  static_cast<void>(fuzz::unless_damaged([&] {
    const LexicalIndex::Opened opened = LexicalIndex::open(
        file.path(), fuzz::kIdentity, fuzz::analyzer(), {}, 1, fuzz::limits(false));
    static_cast<void>(fuzz::hits_of(*opened.index));
    fuzz::write_to(*opened.index);
  }));
  return 0;
}
