// A text broken into tokens, in memory that the thread reuses.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "analysis/analyzer.h"
#include "analysis/folded_text.h"
#include "analysis/tokens.h"
#include "analysis/word_breaks.h"

namespace oneiros {

// To be used on the stack of the thread that created it. Several may exist at once, since stemming
// may analyze.
class BrokenText {
 public:
  // Folds the text and breaks it into tokens.
  BrokenText(std::string_view utf8, const AnalyzerOptions& options, Breaking breaking);
  ~BrokenText();
  BrokenText(const BrokenText&) = delete;
  BrokenText& operator=(const BrokenText&) = delete;

  const TokenList& list() const { return room_->tokens; }
  // The term of each token, to be filled by the caller.
  std::vector<TermId>& terms() { return room_->terms; }

 private:
  // The reusable memory.
  struct Room {
    FoldedText text;
    TokenList tokens{text};
    std::vector<TermId> terms;
  };
  static std::unique_ptr<Room>& spare();

  std::unique_ptr<Room> room_;
};

}  // namespace oneiros
