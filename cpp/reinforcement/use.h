// One search that counts as a use of what it returned, and what a use changes.
// Source: docs/systems/reverie.md R20, cognitive.md C11 to C13, house.md H7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "association/graph.h"
#include "columns/reinforcement.h"

namespace oneiros {

// From when on a memory becomes core. C12.
struct CoreRule {
  std::uint32_t accesses;
  double stability;
  std::uint32_t sessions;

  [[nodiscard]] bool holds_for(std::uint32_t access_count, double held_stability,
                               std::uint32_t session_spread) const noexcept {
    return access_count >= accesses && held_stability >= stability && session_spread >= sessions;
  }
};

// What a profile says of uses.
struct UseRule {
  ReinforcementRule found;             // for what the question found
  ReinforcementRule linked;            // for what links brought
  std::optional<LinkGain> links = {};  // of each pair that was found together. C13
  double link_tau_days = 0.0;          // how links fade
  std::size_t most_linked = 0;         // so many of the first are paired
  bool is_once_a_session = false;      // nothing gains twice from one session. H7
  bool warms = false;                  // the cold tier becomes hot
  std::optional<CoreRule> core = {};
};

// The rows that one search returned.
struct Use {
  std::vector<std::uint32_t> rows;    // each once
  std::vector<std::uint32_t> direct;  // those found together, the best first
  std::vector<std::uint32_t> linked;  // of `rows`, those that links brought; ascending
  double now_seconds = 0.0;
  std::optional<std::string> session = {};
  std::shared_ptr<const UseRule> rule;
  std::vector<std::uint32_t> seen = {};  // that gain nothing from the session any more; ascending
};

}  // namespace oneiros
