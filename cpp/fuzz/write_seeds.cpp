// Writes the sound snapshots with which two targets begin: `write_seeds FOLDER`. They are made
// rather than kept, because their format has a version and their columns are pages.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "encoding/embedding_codec.h"
#include "fuzz/small_files.h"
#include "snapshot/snapshot_writer.h"

using namespace oneiros;

namespace {

void write_indexes(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const bool packed : {false, true}) {
    for (const std::uint32_t changes : {0U, 1U, 9U, 120U}) {
      LexicalIndex index(fuzz::analyzer(), {}, fuzz::limits(packed));
      fuzz::change(index, 3, changes);
      const std::string name = std::to_string(changes) + (packed ? "-packed" : "");
      index.save(folder / name, SnapshotNotes{.identity = std::string(fuzz::kIdentity),
                                              .attachment = "ids",
                                              .revision = 41});
    }
  }
}

void write_store(const std::filesystem::path& path, std::uint32_t count, std::size_t width) {
  Columns columns;
  columns.append(count);
  std::vector<std::string> names;
  std::vector<std::uint32_t> rows;
  std::vector<std::string_view> texts;
  constexpr std::array<std::string_view, 3> kTexts = {
      "Ada: my sister moved to Oslo on Friday, not to Rome, with two cats.",
      "I also used to live at 12", "Is it?"};
  for (std::uint32_t row = 0; row < count; ++row) {
    names.push_back(row % 7 == 3 ? ""
                                 : std::to_string(row * 7919 % 1009) + "/" + std::to_string(row));
    rows.push_back(row);
    texts.push_back(kTexts[row % kTexts.size()]);
  }
  conflicts::StatementColumn statements(fuzz::statement_reader());
  statements.write(rows, texts);
  VectorColumn vectors(width);
  std::vector<float> components(rows.size() * width);
  for (std::size_t i = 0; i < components.size(); ++i) {
    components[i] = static_cast<float>(i % 13) / 13.0F;
  }
  vectors.write(rows, components);

  const std::vector<std::string_view> ids(names.begin(), names.end());
  const StoredIds::Image id_image(ids);
  const VectorColumn::Image vector_image(vectors);
  const conflicts::StatementColumn::Image statement_image(statements, count);
  SnapshotWriter snapshot(path, 7);
  const auto add = [&](const std::vector<SnapshotSection>& sections) {
    for (const SnapshotSection& section : sections) {
      snapshot.add_bytes(section.kind, 0, section.bytes, section.more);
    }
  };
  snapshot.add(SectionKind::kIdentity, 0, std::span(fuzz::kIdentity));
  add(id_image.sections());
  add(vector_image.sections());
  add(statement_image.sections());
  add(columns.sections());
  snapshot.finish();
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
  write_store(folder / "store_snapshot/some", 40, 4);
  write_store(folder / "store_snapshot/one", 1, 1);
  write_store(folder / "store_snapshot/none", 0, 3);
  return 0;
}
