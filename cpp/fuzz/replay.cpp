// Runs a target without libFuzzer, for compilers that lack it: on the inputs of a folder, then on
// some that are changed at random. `fuzz_NAME FOLDER COUNT`; it ends with an abort at a finding.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/target.h"

// Targets with a way of their own to change an input define it.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                                                     std::size_t size,
                                                                     std::size_t most,
                                                                     unsigned seed);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kMost = std::size_t{1} << 20U;

std::minstd_rand& choices() {
  static std::minstd_rand random(7);
  return random;
}

std::size_t below(std::size_t end) { return choices()() % end; }

// Each file, or each line of one that ends in ".lines".
std::vector<Input> inputs_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<Input> inputs;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (path.extension() != ".lines") {
      inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      continue;
    }
    for (std::string line; std::getline(file, line);) {
      inputs.emplace_back(line.begin(), line.end());
    }
  }
  return inputs;
}

void run(const Input& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    switch (below(5)) {
      case 0:
        if (size < most) {
          const std::size_t at = below(size + 1);
          std::copy_backward(data + at, data + size, data + size + 1);
          data[at] = static_cast<std::uint8_t>(below(256));
          ++size;
        }
        break;
      case 1:
        if (size > 0) {
          const std::size_t at = below(size);
          std::copy(data + at + 1, data + size, data + at);
          --size;
        }
        break;
      case 2:
        if (size > 0) {
          data[below(size)] = static_cast<std::uint8_t>(below(256));
        }
        break;
      default:
        if (size > 0) {
          data[below(size)] ^= static_cast<std::uint8_t>(1U << below(8));
        }
        break;
    }
  }
  return size;
}

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: fuzz_NAME FOLDER COUNT\n", stderr);
    return 2;
  }
  const std::vector<Input> inputs = inputs_of(arguments[1]);
  if (inputs.empty()) {
    std::fputs("no inputs\n", stderr);
    return 2;
  }
  std::ranges::for_each(inputs, run);
  const std::size_t changed = std::strtoull(arguments[2], nullptr, 10);
  for (std::size_t i = 0; i < changed; ++i) {
    Input input = inputs[below(inputs.size())];
    std::size_t size = input.size();
    input.resize(kMost);
    const std::size_t most = std::min(kMost, size + 4096);
    size =
        LLVMFuzzerCustomMutator != nullptr
            ? LLVMFuzzerCustomMutator(input.data(), size, most, static_cast<unsigned>(choices()()))
            : LLVMFuzzerMutate(input.data(), size, most);
    input.resize(size);
    input.shrink_to_fit();  // so that a read beyond the end is one beyond its memory
    run(input);
  }
  std::printf("%zu inputs, %zu changed ones\n", inputs.size(), changed);
  return 0;
}
