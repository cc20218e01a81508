// The candidate set of a query as a Python object.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <shared_mutex>
#include <span>
#include <string>

#include "bindings/registration.h"
#include "ranking/candidates.h"

namespace oneiros {

// With a mutex: Python may fill in scores on one thread while a plan reads them on another.
struct GuardedCandidates {
  explicit GuardedCandidates(std::span<const ChannelHits> channels) : candidates(channels) {}

  std::size_t require_channel(std::size_t channel) const {
    if (channel >= candidates.channel_count()) {
      throw py::value_error("channel: must be below " + std::to_string(candidates.channel_count()) +
                            ", got " + std::to_string(channel));
    }
    return channel;
  }

  Candidates candidates;
  mutable std::shared_mutex mutex;
};

}  // namespace oneiros
