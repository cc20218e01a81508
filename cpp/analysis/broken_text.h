// A text taken apart into tokens, in memory that the thread uses again.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "analysis/analyzer.h"
#include "analysis/folded_text.h"
#include "analysis/tokens.h"

namespace oneiros {

// Lives on the stack of the thread that made it. Several may live at once (stemming may analyze).
class BrokenText {
 public:
  BrokenText(std::string_view utf8, const AnalyzerOptions& options);
  ~BrokenText();
  BrokenText(const BrokenText&) = delete;
  BrokenText& operator=(const BrokenText&) = delete;

  const TokenList& list() const { return room_->tokens; }
  // A term for each token, for the caller to fill.
  std::vector<TermId>& terms() { return room_->terms; }

 private:
  struct Room {
    FoldedText text;
    TokenList tokens{text};
    std::vector<TermId> terms;
  };
  static std::unique_ptr<Room>& spare();

  std::unique_ptr<Room> room_;
};

}  // namespace oneiros
