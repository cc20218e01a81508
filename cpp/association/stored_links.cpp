// Links of the store are split by whether they have a weight, since the graph sets many at once.
#include "association/stored_links.h"

namespace oneiros {

LinkEnds put_links(AssociationGraph& graph, const StoredLinks& links,
                   std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  LinkEnds all;
  LinkEnds removed;
  LinkList present;
  all.a.reserve(links.size());
  all.b.reserve(links.size());
  present.reserve(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (a[i] < 0 || b[i] < 0) {
      continue;
    }
    const auto one = static_cast<std::uint32_t>(a[i]);
    const auto other = static_cast<std::uint32_t>(b[i]);
    all.a.push_back(one);
    all.b.push_back(other);
    if (links.weight[i] > 0) {
      present.a.push_back(one);
      present.b.push_back(other);
      present.weight.push_back(links.weight[i]);
      present.kind.push_back(links.kind[i]);
      present.created_seconds.push_back(links.created_seconds[i]);
      present.last_seconds.push_back(links.last_seconds[i]);
    } else {
      removed.a.push_back(one);
      removed.b.push_back(other);
    }
  }
  if (!present.a.empty()) {
    graph.set({{present.a, present.b},
               present.weight,
               present.kind,
               present.created_seconds,
               present.last_seconds});
  }
  if (!removed.a.empty()) {
    graph.remove({removed.a, removed.b});
  }
  return all;
}

}  // namespace oneiros
