// Writes the sound snapshots with which two targets begin: `write_seeds FOLDER`. They are made
// rather than kept, because their format has a version and their columns are pages.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "encoding/embedding_codec.h"
#include "fuzz/small_files.h"

using namespace oneiros;

namespace {

void write_indexes(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const bool packed : {false, true}) {
    for (const std::uint32_t changes : {0U, 1U, 9U, 120U}) {
      const std::string name = std::to_string(changes) + (packed ? "-packed" : "");
      fuzz::write_index(folder / name, changes, packed);
    }
  }
}

void write_embeddings(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const std::vector<float>& embedding : {std::vector{1.0F}, {0.5F, -2.0F, 3e38F, 1e-45F}}) {
    std::vector<std::byte> bytes(encoded_size(embedding.size()));
    encode_embedding(embedding, bytes);
    std::ofstream file(folder / std::to_string(embedding.size()), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: write_seeds FOLDER\n", stderr);
    return 1;
  }
  const std::filesystem::path folder(arguments[1]);
  write_indexes(folder / "index_file");
  write_embeddings(folder / "embedding");
  std::filesystem::create_directories(folder / "store_snapshot");
  fuzz::write_store(folder / "store_snapshot/some", 40, 4);
  fuzz::write_store(folder / "store_snapshot/one", 1, 1);
  fuzz::write_store(folder / "store_snapshot/none", 0, 3);
  return 0;
}
