// A long run of hostile snapshots: `hostile_snapshots SEED COUNT [FIRST]`. Sound snapshots are made
// once; each file is one of them, changed by structure under right checksums, or in some of its
// bits, and is never on a disk. Its number and the seed decide all of it, so that a file can be had
// again alone: `hostile_snapshots SEED 1 NUMBER`. A process of its own opens them; if that ends
// early, the number of the file is printed.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <random>
#include <utility>

#include "fuzz/snapshot_file.h"
#include "fuzz/snapshot_uses.h"

using namespace oneiros;
using fuzz::require;
using testing::FileBytes;

// Freed memory waits for a while, as it does elsewhere, but in a part that the caches hold; and no
// file may ask for more memory than the fuzz targets allow.
extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=16:malloc_context_size=4:max_allocation_size_mb=96";
}

namespace {

// Known to both processes.
struct Progress {
  std::atomic<std::uint64_t> number = 0;
  std::atomic<std::uint64_t> opened = 0;
  std::atomic<std::uint64_t> refused = 0;
};

class Sound {
 public:
  explicit Sound(FileBytes bytes) : bytes_(std::move(bytes)), hostile_(bytes_, 0) {}

  const FileBytes& bytes() const { return bytes_; }

  FileBytes hostile(std::uint64_t seed) {
    hostile_.reseed(seed);
    return hostile_.next();
  }

  FileBytes with_flipped_bits(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    FileBytes damaged = bytes_;
    for (std::size_t flips = 1 + random() % 3; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    }
    return damaged;
  }

 private:
  FileBytes bytes_;
  testing::HostileSnapshots hostile_;
};

struct SoundIndex {
  Sound file;
  fuzz::IndexHits hits;
};

bool are_same(const fuzz::IndexHits& a, const fuzz::IndexHits& b) {
  return std::ranges::equal(a, b, [](const lexical::Hit& one, const lexical::Hit& other) {
    return one.row == other.row && one.score == other.score;
  });
}

class Run {
 public:
  explicit Run(std::uint64_t seed) : seed_(seed) {
    const testing::ScratchFolder folder;
    for (const bool packed : {false, true}) {
      for (const std::uint32_t changes : {9U, 120U}) {
        fuzz::write_index(folder / "index", changes, packed);
        const auto opened = open_index(folder / "index");
        indexes_.push_back(
            {Sound(testing::read_file(folder / "index")), fuzz::hits_of(*opened.index)});
      }
    }
    for (const auto& [count, width] : {std::pair(12U, 4U), std::pair(1U, 1U)}) {
      fuzz::write_store(folder / "store", count, width);
      stores_.emplace_back(testing::read_file(folder / "store"));
    }
  }

  // Returns whether the file, or a part of it, was let in.
  bool one(std::uint64_t number) {
    std::seed_seq both{seed_ & ~0U, seed_ >> 32U, number & ~0U, number >> 32U};
    std::array<std::uint32_t, 3> drawn{};
    both.generate(drawn.begin(), drawn.end());
    const std::uint64_t seed = (std::uint64_t{drawn[0]} << 32U) + drawn[1];
    const std::size_t kind = number % 6;  // two indexes and a store, by structure and by bits
    const bool is_by_bits = kind >= 3;
    if (kind % 3 == 2) {
      return one_store(stores_[drawn[2] % stores_.size()], seed, is_by_bits);
    }
    return one_index(indexes_[drawn[2] % indexes_.size()], seed, is_by_bits);
  }

 private:
  static LexicalIndex::Opened open_index(const std::filesystem::path& path) {
    return LexicalIndex::open(path, fuzz::kIdentity, fuzz::analyzer(), {}, 1, fuzz::limits(false));
  }

  bool one_index(SoundIndex& sound, std::uint64_t seed, bool is_by_bits) {
    memory_.write(is_by_bits ? sound.file.with_flipped_bits(seed) : sound.file.hostile(seed));
    return fuzz::unless_damaged([&] {
      const LexicalIndex::Opened opened = open_index(memory_.path());
      const fuzz::IndexHits hits = fuzz::hits_of(*opened.index);
      require(!is_by_bits || are_same(hits, sound.hits), "a changed bit that was let in is idle");
      // Most take few texts, which are merged once, when they are sealed.
      fuzz::write_to(*opened.index, seed % 8 == 0 ? 30 : 4);
    });
  }

  bool one_store(Sound& sound, std::uint64_t seed, bool is_by_bits) {
    const FileBytes bytes = is_by_bits ? sound.with_flipped_bits(seed) : sound.hostile(seed);
    memory_.write(bytes);
    if (!is_by_bits) {
      return fuzz::use_store(memory_.path()) > 0;
    }
    // As a file that this process wrote: checksums alone stand between its bits and the columns.
    const std::string stamp = file_stamp(memory_.path());
    require_same_sections(sound.bytes(), bytes, stamp);
    return fuzz::use_store(memory_.path(), stamp) > 0;
  }

  // Each section of a file is refused, or is that of the sound one.
  void require_same_sections(const FileBytes& sound, const FileBytes& bytes,
                             const std::string& stamp) {
    static_cast<void>(fuzz::unless_damaged([&] {
      const SnapshotReader snapshot(memory_.path(), 1, stamp);
      require(bytes.size() == sound.size(), "a file of another size is refused");
      for (const SectionEntry& entry : testing::table_of(sound)) {
        static_cast<void>(fuzz::unless_damaged([&] {
          snapshot.check(entry.kind, entry.number, 1);
          const auto section = snapshot.take<std::byte>(entry.kind, entry.number);
          require(section.size() == entry.size &&
                      std::memcmp(section.data(), sound.data() + entry.offset, entry.size) == 0,
                  "a section that was let in is as it was written");
        }));
      }
    }));
  }

  std::uint64_t seed_;
  std::vector<SoundIndex> indexes_;
  std::vector<Sound> stores_;
  fuzz::MemoryFile memory_{{}};
};

// Opens the files in a process that may end at any of them. Returns what waitpid() says of it.
int run_apart(std::uint64_t seed, std::uint64_t first, std::uint64_t count, Progress& progress) {
  const pid_t pid = ::fork();
  require(pid >= 0, "a process can be made");
  if (pid == 0) {
    Run run(seed);
    for (std::uint64_t number = first; number < first + count; ++number) {
      progress.number = number;
      ++(run.one(number) ? progress.opened : progress.refused);
    }
    std::exit(0);  // where leaks are looked for
  }
  int status = 0;
  require(::waitpid(pid, &status, 0) == pid, "a process ends");
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3 && count != 4) {
    std::fputs("usage: hostile_snapshots SEED COUNT [FIRST]\n", stderr);
    return 2;
  }
  const std::uint64_t seed = std::strtoull(arguments[1], nullptr, 10);
  const std::uint64_t files = std::strtoull(arguments[2], nullptr, 10);
  const std::uint64_t first = count == 4 ? std::strtoull(arguments[3], nullptr, 10) : 0;
  void* const shared =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(shared != MAP_FAILED, "memory for the progress");
  auto& progress = *new (shared) Progress;
  if (const int status = run_apart(seed, first, files, progress); status != 0) {
    std::fprintf(stderr, "file %llu of seed %llu ended the process with %d\n",
                 static_cast<unsigned long long>(progress.number.load()),
                 static_cast<unsigned long long>(seed), status);
    return 1;
  }
  std::printf("%llu files: %llu opened, %llu refused\n", static_cast<unsigned long long>(files),
              static_cast<unsigned long long>(progress.opened.load()),
              static_cast<unsigned long long>(progress.refused.load()));
  return 0;
}
