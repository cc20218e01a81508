// Any bytes are read as a stored embedding; what is accepted is written back as the same bytes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "encoding/byte_reader.h"
#include "encoding/crc32c.h"
#include "encoding/embedding_codec.h"
#include "fuzz/target.h"

using namespace oneiros;
using fuzz::require;

namespace {

void read(std::span<const std::byte> bytes) {
  try {
    std::vector<float> embedding(encoded_dimension(bytes));
    decode_embedding(bytes, embedding);
    require(std::ranges::all_of(embedding, [](float value) { return std::isfinite(value); }),
            "components are finite");
    std::vector<std::byte> again(encoded_size(embedding.size()));
    encode_embedding(embedding, again);
    require(std::ranges::equal(bytes, again), "what was read is written as the same bytes");
  } catch (const DamagedBytes&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = fuzz::bytes_of(data, size);
  read(bytes);
  constexpr std::size_t kChecksum = 4;
  if (size > kChecksum) {  // the same with a right checksum
    std::vector<std::byte> whole(bytes.begin(), bytes.end());
    const auto checksum = to_little_endian(crc32c(std::span(whole).first(size - kChecksum)));
    std::ranges::copy(checksum, whole.end() - kChecksum);
    read(whole);
  }
  return 0;
}
