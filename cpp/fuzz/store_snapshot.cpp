// Any bytes are opened as the snapshot of a store: columns, ids, vectors and statements are each
// refused as damaged, or can be read and written to.
#include "fuzz/snapshot_file.h"
#include "fuzz/snapshot_uses.h"

using namespace oneiros;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return fuzz::mutate_snapshot(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::bytes_of(data, size));
  static_cast<void>(fuzz::use_store(file.path()));
  return 0;
}
