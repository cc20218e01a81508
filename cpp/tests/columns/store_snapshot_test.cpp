#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "columns/columns.h"
#include "columns/stored_ids.h"
#include "snapshot/snapshot_reader.h"
#include "snapshot/snapshot_writer.h"
#include "tests/snapshot/damage.h"

using namespace oneiros;
using testing::FileBytes;
using testing::ScratchFolder;

namespace {

void fill(Columns& columns, std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  const std::uint32_t first = columns.append(count);
  std::vector<std::uint32_t> rows(count);
  std::vector<double> created(count);
  std::vector<std::uint8_t> priority(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = first + static_cast<std::uint32_t>(i);
    created[i] = static_cast<double>(random());
    priority[i] = static_cast<std::uint8_t>(1 + random() % 5);
  }
  const std::vector<ColumnValues> values = {{"created_at", std::span<const double>(created)},
                                            {"priority", std::span<const std::uint8_t>(priority)}};
  columns.write(rows, values);
}

bool same_values(const Columns& a, const Columns& b) {
  bool is_same = a.size() == b.size();
  for (std::size_t column = 0; is_same && column < kColumnCount; ++column) {
    const auto bytes = [&](const Columns& of) {
      return std::visit([](auto values) { return std::as_bytes(values); },
                        of.values(static_cast<Column>(column)));
    };
    is_same = std::ranges::equal(bytes(a), bytes(b));
  }
  return is_same;
}

std::vector<std::string> some_ids(std::size_t count) {
  std::vector<std::string> ids;
  for (std::size_t row = 0; row < count; ++row) {
    ids.push_back(row % 7 == 3 ? ""
                               : std::to_string(row * 7919 % 1009) + "/" + std::to_string(row));
  }
  return ids;
}

void save(const std::filesystem::path& path, const Columns& columns,
          const std::vector<std::string>& ids) {
  const std::vector<std::string_view> views(ids.begin(), ids.end());
  const StoredIds::Image image(views);
  SnapshotWriter snapshot(path, 7);
  for (const auto& sections : {image.sections(), columns.sections()}) {
    for (const SnapshotSection& section : sections) {
      snapshot.add_bytes(section.kind, 0, section.bytes);
    }
  }
  snapshot.finish();
}

// What can be asked of a snapshot that was let in.
void use(const SnapshotReader& snapshot) {
  const StoredIds ids(snapshot);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const std::string_view id = ids.at(row);
    CHECK((id.empty() || ids.find(id) == row));
  }
  CHECK_FALSE(ids.find("no such").has_value());
  Columns columns;
  columns.read(snapshot);
  fill(columns, 5, 3);
  CHECK(std::ranges::all_of(columns.values<Column::priority>(),
                            [](std::uint8_t value) { return value >= 1 && value <= 5; }));
}

}  // namespace

TEST_CASE("store snapshot: columns read back are those saved, grow, and leave the file alone") {
  const ScratchFolder folder;
  for (const std::size_t count : {0U, 1U, 511U, 512U, 4096U, 10'000U}) {
    Columns live;
    fill(live, 1, count);
    save(folder / "file", live, some_ids(count));
    const FileBytes saved = testing::read_file(folder / "file");
    for (const bool is_own : {true, false}) {
      Columns again;
      {
        const SnapshotReader snapshot(folder / "file", 2,
                                      is_own ? file_stamp(folder / "file") : "");
        CHECK(snapshot.is_own() == is_own);
        again.read(snapshot);
      }
      CHECK(same_values(again, live));
      Columns grown;
      fill(grown, 1, count);
      for (const std::uint32_t seed : {2U, 3U}) {
        fill(again, seed, 700);
        fill(grown, seed, 700);
      }
      CHECK(same_values(again, grown));
    }
    CHECK(testing::read_file(folder / "file") == saved);
  }
}

TEST_CASE("store snapshot: ids are found by row and rows by id") {
  const ScratchFolder folder;
  for (const std::size_t count : {0U, 1U, 2U, 500U}) {
    const std::vector<std::string> ids = some_ids(count);
    save(folder / "file", Columns(), ids);
    const SnapshotReader snapshot(folder / "file", 1);
    const StoredIds stored(snapshot);
    REQUIRE(stored.size() == count);
    std::size_t known = 0;
    for (std::size_t row = 0; row < count; ++row) {
      CHECK(stored.at(row) == ids[row]);
      if (!ids[row].empty()) {
        ++known;
        CHECK(stored.find(ids[row]) == row);
      }
    }
    CHECK(stored.known_count() == known);
    for (const char* absent : {"", "0", "zzz", "1008/9999"}) {
      CHECK_FALSE(stored.find(absent).has_value());
    }
  }
}

TEST_CASE("store snapshot: another file's values outside of their ranges are refused") {
  const ScratchFolder folder;
  Columns columns;
  fill(columns, 1, 40);
  save(folder / "sound", columns, some_ids(40));
  const FileBytes sound = testing::read_file(folder / "sound");
  const auto table = testing::table_of(sound);
  std::vector<FileBytes> sections;
  for (const SectionEntry& entry : table) {
    const auto start = sound.begin() + static_cast<std::ptrdiff_t>(entry.offset);
    sections.emplace_back(start, start + static_cast<std::ptrdiff_t>(entry.size));
  }
  const auto priority = static_cast<std::size_t>(Column::priority);
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].kind == kind_at(SectionKind::kFirstColumn, priority)) {
      sections[i][11] = std::byte{6};
    }
  }
  testing::write_file(folder / "bent",
                      testing::assembled(testing::header_of(sound), table, sections));
  const SnapshotReader snapshot(folder / "bent", 1);
  Columns again;
  CHECK_THROWS_AS(again.read(snapshot), SnapshotDamaged);
}

TEST_CASE("store snapshot: the stamp tells a file from its copy and from what is written later") {
  const ScratchFolder folder;
  save(folder / "file", Columns(), {});
  const std::string stamp = file_stamp(folder / "file");
  CHECK(SnapshotReader(folder / "file", 1).stamp() == stamp);
  std::filesystem::copy_file(folder / "file", folder / "copy");
  CHECK(file_stamp(folder / "copy") != stamp);
  testing::write_file(folder / "file", testing::read_file(folder / "copy"));
  CHECK(file_stamp(folder / "file") != stamp);
  CHECK_THROWS_AS(file_stamp(folder / "missing"), std::system_error);
}

TEST_CASE("store snapshot: with bits flipped, it is refused or the same") {
  const ScratchFolder folder;
  Columns live;
  fill(live, 1, 20);
  save(folder / "sound", live, some_ids(20));
  const FileBytes sound = testing::read_file(folder / "sound");
  std::mt19937_64 random(testing::case_seed(7));
  for (std::size_t i = testing::case_count("ONEIROS_SNAPSHOT_FLIPS", 500); i > 0; --i) {
    FileBytes damaged = sound;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    testing::write_file(folder / "damaged", damaged);
    try {
      const SnapshotReader snapshot(folder / "damaged", 1, file_stamp(folder / "damaged"));
      Columns again;
      again.read(snapshot);
      CHECK(same_values(again, live));  // a byte between sections
    } catch (const SnapshotDamaged&) {
      continue;
    }
  }
}

TEST_CASE("store snapshot: hostile by structure, it is refused or answers") {
  const ScratchFolder folder;
  Columns columns;
  fill(columns, 1, 30);
  save(folder / "sound", columns, some_ids(30));
  testing::HostileSnapshots hostile(testing::read_file(folder / "sound"), testing::case_seed(13));
  const std::size_t count = testing::case_count("ONEIROS_HOSTILE_SNAPSHOTS", 500);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < count; ++i) {
    testing::write_file(folder / "hostile", hostile.next());
    try {
      use(SnapshotReader(folder / "hostile", 1));
    } catch (const SnapshotDamaged&) {
      ++refused;
    }
  }
  CHECK(refused > count / 2);
}
