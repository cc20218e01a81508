#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "lexical/index/lexical_index.h"
#include "snapshot/snapshot_reader.h"
#include "tests/lexical/plain_index.h"
#include "tests/rounds.h"
#include "tests/snapshot/damage.h"

using namespace oneiros;
using lexical::Found;
using lexical::testing::same;
using testing::FileBytes;
using testing::ScratchFolder;

namespace {

constexpr lexical::SegmentLimits kSmall{.documents = 40, .postings = 400, .fan_in = 3};
// Where all words in order have a code of their own.
constexpr lexical::SegmentLimits kPacked{
    .documents = 40, .postings = 400, .fan_in = 3, .packed_from = 1};
constexpr std::array kBoth = {kSmall, kPacked};
constexpr std::size_t kThreads = 2;
const SnapshotNotes kNotes{.identity = "simple", .attachment = "ids", .revision = 41};

std::shared_ptr<Analyzer> simple() {
  return std::make_shared<Analyzer>(
      AnalyzerOptions{.stop_words = {"the"}, .identifiers = false, .stem = {}});
}

// Some words are frequent, some rare, some repeated more often than codes tell apart.
std::string text_of(std::mt19937& random) {
  std::string text;
  for (std::size_t i = random() % 30; i > 0; --i) {
    text += "w" + std::to_string((random() % 40) * (random() % 12)) + " ";
  }
  for (std::size_t i = random() % 20 == 0 ? random() % 60 : 0; i > 0; --i) {
    text += "often ";
  }
  return text + "everywhere identification" + std::to_string(random() % 7);
}

void change(LexicalIndex& index, std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::uint32_t>(random() % 400);
    if (random() % 4 == 0) {
      index.remove(row);
    } else {
      index.add(row, text_of(random));
    }
  }
}

void check_same(const LexicalIndex& a, const LexicalIndex& b) {
  CHECK(a.document_count() == b.document_count());
  for (const char* query : {"w0", "everywhere", "w1 w4 w9 w33", "often identification3", "the w22",
                            "nothing", "w12 everywhere everywhere"}) {
    for (const std::size_t k : {1, 7, 500}) {
      CHECK(same(a.search(query, k, {}).hits, b.search(query, k, {}).hits));
    }
  }
  const QueryReading in_order{.syntax = lexical::QuerySyntax::kQuery};
  for (const char* query :
       {R"("everywhere identification3")", R"("often everywhere" w4)", R"("w0 w0")"}) {
    CHECK(same(a.search(query, 500, {}, in_order).hits, b.search(query, 500, {}, in_order).hits));
  }
  for (std::uint32_t row = 0; row < 400; ++row) {
    CHECK(a.contains(row) == b.contains(row));
  }
}

LexicalIndex::Opened open(const std::filesystem::path& path,
                          const lexical::SegmentLimits& limits = kSmall) {
  return LexicalIndex::open(path, kNotes.identity, simple(), {}, kThreads, limits);
}

std::ptrdiff_t count_sections(const FileBytes& file, SectionKind kind) {
  return std::ranges::count(testing::table_of(file), kind, &SectionEntry::kind);
}

// While it lives, no file grows beyond a size.
class LimitedFiles {
 public:
  explicit LimitedFiles(rlim_t bytes) : former_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = former_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LimitedFiles() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    std::signal(SIGXFSZ, former_handler_);
  }
  LimitedFiles(const LimitedFiles&) = delete;
  LimitedFiles& operator=(const LimitedFiles&) = delete;

 private:
  rlimit former_{};
  void (*former_handler_)(int);
};

FileBytes small_snapshot(const ScratchFolder& folder, std::size_t changes,
                         const lexical::SegmentLimits& limits = kSmall) {
  LexicalIndex index(simple(), {}, limits);
  change(index, 3, changes);
  index.save(folder / "sound", kNotes);
  return testing::read_file(folder / "sound");
}

// Whatever the bytes: an error of the one type, or an index that answers and can be written to.
// Returns whether it opened.
bool survives(const std::filesystem::path& path) {
  try {
    const LexicalIndex::Opened opened = open(path);
    LexicalIndex& index = *opened.index;
    for (const char* query : {"w0 w1 w2 w3", "everywhere", "often", "everywhere often w9"}) {
      static_cast<void>(index.search(query, 5, {}));
      static_cast<void>(index.search(query, 1000, {}));
    }
    const QueryReading in_order{.syntax = lexical::QuerySyntax::kQuery};
    static_cast<void>(index.search(R"("often everywhere")", 1000, {}, in_order));
    change(index, 9, 60);
    index.seal();
    static_cast<void>(index.search("everywhere w0 often", 10, {}));
    return true;
  } catch (const SnapshotDamaged&) {
    return false;
  }
}

}  // namespace

TEST_CASE("index snapshot: opened, it is the index that was saved, and stays so through writes") {
  const ScratchFolder folder;
  for (const auto& [changes, limits] :
       {std::pair(0U, kSmall), std::pair(1U, kSmall), std::pair(30U, kSmall),
        std::pair(700U, kSmall), std::pair(1U, kPacked), std::pair(700U, kPacked)}) {
    LexicalIndex live(simple(), {}, limits);
    change(live, 1, changes);
    live.save(folder / "index", kNotes);
    const LexicalIndex::Opened opened = open(folder / "index", limits);
    CHECK(opened.notes.attachment == "ids");
    CHECK(opened.notes.revision == 41);
    CHECK(snapshot_identity(folder / "index") == "simple");
    check_same(*opened.index, live);
    for (const std::uint32_t seed : {5U, 6U}) {
      change(*opened.index, seed, 150);
      change(live, seed, 150);
      check_same(*opened.index, live);
    }
    opened.index->seal();
    check_same(*opened.index, live);
    opened.index->save(folder / "again", kNotes);  // what was mapped is written once more
    check_same(*open(folder / "again").index, live);
  }
}

TEST_CASE("index snapshot: words in order that of many texts have a code of their own") {
  const ScratchFolder folder;
  for (const lexical::SegmentLimits& limits : kBoth) {
    const FileBytes file = small_snapshot(folder, 700, limits);
    CHECK(count_sections(file, SectionKind::kOccurrenceCode) ==
          (limits.packed_from == 1 ? count_sections(file, SectionKind::kRows) : 0));
    CHECK(count_sections(file, SectionKind::kOccurrences) > 1);
  }
}

TEST_CASE("index snapshot: the file is its owner's alone, and what it replaces stays mapped") {
  const ScratchFolder folder;
  LexicalIndex live(simple(), {}, kSmall);
  change(live, 1, 300);
  live.save(folder / "index", kNotes);
  const LexicalIndex::Opened opened = open(folder / "index");
  LexicalIndex other(simple(), {}, kSmall);
  other.save(folder / "index", kNotes);
  check_same(*opened.index, live);
  using std::filesystem::perms;
  CHECK(std::filesystem::status(folder / "index").permissions() ==
        (perms::owner_read | perms::owner_write));
}

TEST_CASE("index snapshot: what it is not made for, it is not opened for") {
  const ScratchFolder folder;
  FileBytes sound = small_snapshot(folder, 50);
  CHECK_THROWS_AS(LexicalIndex::open(folder / "sound", "english", simple(), {}, kThreads),
                  SnapshotDamaged);
  const std::shared_ptr<Analyzer> used = simple();
  used->analyze("a word");
  CHECK_THROWS_AS(LexicalIndex::open(folder / "sound", "simple", used, {}, kThreads),
                  std::invalid_argument);
  CHECK_THROWS_AS(open(folder / "missing"), std::system_error);
  CHECK_THROWS_AS(open(folder.path()), SnapshotDamaged);  // a directory

  SnapshotHeader header = testing::header_of(sound);
  header.version += 1;
  header.checksum =
      crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(SnapshotHeader, checksum)));
  std::memcpy(sound.data(), &header, sizeof(header));
  testing::write_file(folder / "newer", sound);
  CHECK_THROWS_AS(open(folder / "newer"), SnapshotDamaged);
}

TEST_CASE("index snapshot: what cannot be written leaves what was there") {
  const ScratchFolder folder;
  const FileBytes sound = small_snapshot(folder, 50);
  LexicalIndex index(simple(), {});
  change(index, 4, 300);
  CHECK_THROWS_AS(index.save(folder / "no folder/index", kNotes), std::system_error);
  CHECK_THROWS_AS(index.save(folder.path(), kNotes), std::system_error);
  {
    const LimitedFiles limited(4096);  // the disk is full soon
    CHECK_THROWS_AS(index.save(folder / "sound", kNotes), std::system_error);
  }
  CHECK(testing::read_file(folder / "sound") == sound);
  const auto entries = std::filesystem::directory_iterator(folder.path());
  CHECK(std::distance(begin(entries), end(entries)) == 1);
}

TEST_CASE("index snapshot: cut off at any byte, it is refused") {
  const ScratchFolder folder;
  for (const lexical::SegmentLimits& limits : kBoth) {
    const FileBytes sound = small_snapshot(folder, 8, limits);
    for (std::size_t size = 0; size < sound.size(); size += testing::kSampleStep) {
      testing::write_file(folder / "cut", std::span(sound).first(size));
      CHECK_THROWS_AS(open(folder / "cut"), SnapshotDamaged);
    }
  }
}

TEST_CASE("index snapshot: with bits flipped, it is refused or the same") {
  const ScratchFolder folder;
  for (const lexical::SegmentLimits& limits : kBoth) {
    const FileBytes sound = small_snapshot(folder, 120, limits);
    const LexicalIndex::Opened live = open(folder / "sound");
    std::mt19937_64 random(testing::case_seed(7));
    for (std::size_t i = testing::case_count("ONEIROS_SNAPSHOT_FLIPS", 2'500); i > 0; --i) {
      FileBytes damaged = sound;
      for (std::size_t flips = 1 + random() % 3; flips > 0; --flips) {
        damaged[random() % damaged.size()] ^= static_cast<std::byte>(1U << (random() % 8));
      }
      testing::write_file(folder / "damaged", damaged);
      try {
        const LexicalIndex::Opened opened = open(folder / "damaged");
        check_same(*opened.index, *live.index);  // a byte between sections
      } catch (const SnapshotDamaged&) {
        continue;
      }
    }
  }
}

TEST_CASE("index snapshot: hostile by structure, it is refused or answers") {
  const ScratchFolder folder;
  for (const lexical::SegmentLimits& limits : kBoth) {
    testing::HostileSnapshots hostile(small_snapshot(folder, 120, limits), testing::case_seed(11));
    std::size_t opened = 0;
    const std::size_t count = testing::case_count("ONEIROS_HOSTILE_SNAPSHOTS", 1'500);
    for (std::size_t i = 0; i < count; ++i) {
      testing::write_file(folder / "hostile", hostile.next());
      opened += survives(folder / "hostile") ? 1 : 0;
    }
    CHECK(opened < count / 2);
  }
}
