// Any bytes are searched for unused parts as pages of SQLite.
#include "fuzz/target.h"
#include "store/unused_bytes.h"

using namespace oneiros;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::size_t page_size = std::size_t{512} << ((data[0] >> 1U) % 8U);
  const auto pages = fuzz::bytes_of(data + 1, size - 1);
  std::size_t end = 0;
  for (const UnusedBytes& unused : unused_bytes(pages, page_size, (data[0] & 1U) != 0)) {
    require(unused.begin >= end && unused.begin < unused.end && unused.end <= pages.size(),
            "unused bytes lie within the pages, in order");
    require(unused.begin / page_size == (unused.end - 1) / page_size, "a gap is of one page");
    end = unused.end;
  }
  return 0;
}
