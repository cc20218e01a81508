// Reuse of the folding and token buffers: each thread keeps one set, up to a limit of size. A
// nested use, as by a stemmer that analyses, allocates its own.
#include "analysis/broken_text.h"

namespace oneiros {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{1} << 20U;  // kept by a thread at most

}  // namespace

std::unique_ptr<BrokenText::Room>& BrokenText::spare() {
  thread_local std::unique_ptr<Room> room;
  return room;
}

BrokenText::BrokenText(std::string_view utf8, const AnalyzerOptions& options, Breaking breaking)
    : room_(std::move(spare())) {
  if (!room_) {
    room_ = std::make_unique<Room>();
  }
  room_->tokens.clear();
  room_->text.assign(utf8, options.folding);
  break_words(room_->text, options.identifiers, breaking, room_->tokens);
  room_->terms.resize(room_->tokens.tokens().size());
}

BrokenText::~BrokenText() {
  const std::size_t bytes =
      room_->text.capacity() + room_->tokens.capacity() + room_->terms.capacity() * sizeof(TermId);
  if (bytes <= kKeptBytes) {
    spare() = std::move(room_);
  }
}

}  // namespace oneiros
