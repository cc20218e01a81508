// A search that counts as a use of its results, and the rules of what a use changes. Source:
// docs/systems/reverie.md R20, cognitive.md C11 to C13, house.md H7.
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

// The conditions for a memory to become core. Source: C12.
struct CoreRule {
  std::uint32_t accesses;
  double stability;
  std::uint32_t sessions;

  [[nodiscard]] bool holds_for(std::uint32_t access_count, double held_stability,
                               std::uint32_t session_spread) const noexcept {
    return access_count >= accesses && held_stability >= stability && session_spread >= sessions;
  }
};

// A profile's rules for uses.
struct UseRule {
  ReinforcementRule found;             // for memories found by the query
  ReinforcementRule linked;            // for memories reached by links
  std::optional<LinkGain> links = {};  // for each pair found together. C13
  double link_tau_days = 0.0;          // decay of links
  std::size_t most_linked = 0;         // the number of first results that are paired
  bool is_once_a_session = false;      // a memory gains at most once per session. H7
  bool warms = false;                  // cold memories become hot
  std::optional<CoreRule> core = {};
};

// The results of one search.
struct Use {
  std::vector<std::uint32_t> rows;    // each once
  std::vector<std::uint32_t> direct;  // those found directly, best first
  std::vector<std::uint32_t> linked;  // the rows reached by links, a subset of `rows`; ascending
  double now_seconds = 0.0;
  std::optional<std::string> session = {};
  std::shared_ptr<const UseRule> rule;
  std::vector<std::uint32_t> seen = {};  // rows that gain nothing more from this session; ascending
  // Rows that had not been seen in the session, so that the store lacks it; each once.
  std::vector<std::uint32_t> joined = {};
};

}  // namespace oneiros
