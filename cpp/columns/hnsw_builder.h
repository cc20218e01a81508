// The links of an HNSW graph, built by inserting one vector after the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "columns/vector_loops.h"

namespace oneiros {

// The vectors of nodes, one after the other, each padded with zeros to padded_width() components.
// Refers to memory of the caller.
class NodeVectors {
 public:
  // REQUIRES: `components` are a multiple of `width`, which is padded_width() of the dimension.
  NodeVectors(std::span<const float> components, std::size_t width) noexcept
      : first_(components.data()), width_(width), count_(components.size() / width) {}
  NodeVectors(std::span<const Rounded> components, std::size_t width) noexcept
      : first_(components.data()), width_(width), count_(components.size() / width) {}

  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  // The components of a node's vector as float32; where they are rounded, they are written to
  // `room`, which has width() places.
  [[nodiscard]] const float* at(std::uint32_t node, float* room) const;
  // The inner products of a query with the vectors of nodes.
  void products(const float* query, std::span<const std::uint32_t> nodes, float* products) const;
  // Prefetches the first components of a node's vector, whose others the hardware reads ahead.
  void prefetch(std::uint32_t node) const;

 private:
  std::variant<const float*, const Rounded*> first_;
  std::size_t width_;
  std::size_t count_;
};

// The links of a graph in the layout of FAISS: the lists of a node follow each other, the lowest
// level's with 2 * kLinks places, each higher one's with kLinks. Unused places are behind those in
// use.
struct HnswLinks {
  static constexpr std::size_t kLinks = 16;
  static constexpr std::uint8_t kMostLevels = 8;
  static constexpr std::int32_t kNoNode = -1;

  std::vector<std::uint8_t> levels;      // by node: the number of its levels, at least 1
  std::vector<std::int32_t> neighbours;  // by node and level
  std::int32_t entry = kNoNode;          // where walks begin; it is on the highest level

  // Throws std::invalid_argument unless walks along the links stay within the graph, and within
  // the level.
  void require_sense() const;
};

// Inserts vectors into an HNSW graph (Malkov and Yashunin 2016, arXiv:1603.09320). A vector is
// linked on each of its levels to those of the nearest, as a walk finds them, that are nearer to it
// than to one another (their algorithm 4, "chosen" here). Places that are left go to the nearest of
// the others: without them near-duplicates cannot be reached. A list that is full gives up the
// farthest of the others, or if there are none the farthest.
//
// Lists keep the similarities of their neighbours, in descending order, and which were chosen. So a
// list takes a new neighbour by its similarities with the chosen ones alone, most of which the walk
// that led to the list has just computed. To choose again among all takes some two hundred products
// instead, for each of 32 lists a vector.
//
// The links depend on the vectors and on their order alone: products have the same bits everywhere
// (vector_loops.h), and a node's number draws its levels. Not thread-safe.
//
// Cost of a vector: the products of a walk, some 1,200 at a breadth of 100, and some hundreds to
// choose among what it found. Memory of a vector, beyond its links: some 160
// bytes.
class HnswBuilder {
 public:
  // Starts with these links, checked (require_sense()), and with the vectors of their nodes. Throws
  // std::invalid_argument if there are fewer vectors. REQUIRES: breadth > 0.
  HnswBuilder(HnswLinks links, const NodeVectors& vectors, std::size_t breadth);

  // Links the nodes from size() to `end`. `vectors` has those of all nodes, the former ones
  // unchanged. After an exception, which can only be std::bad_alloc, the builder is to be dropped.
  // REQUIRES: size() <= end <= vectors.count(), and the width of the constructor's vectors.
  void insert(const NodeVectors& vectors, std::size_t end);

  [[nodiscard]] std::size_t size() const noexcept { return links_.levels.size(); }
  [[nodiscard]] const HnswLinks& links() const& noexcept { return links_; }
  [[nodiscard]] HnswLinks links() && noexcept { return std::move(links_); }

 private:
  // A node with its similarity to the vector that is inserted, or to the node in whose list it is.
  struct Near {
    float similarity;
    std::uint32_t node;
  };
  // One that a walk has found.
  struct Found {
    float similarity;
    std::uint32_t node;
    bool is_expanded;  // its neighbours were met
  };
  // Where the places of a node begin, which walk met it last, and the similarity that it computed.
  struct Node {
    std::size_t start;
    std::uint32_t walk = 0;
    float similarity = 0;
  };
  // The neighbours of a node on one level, nearest first.
  struct List {
    std::span<std::int32_t> nodes;
    float* similarities;
    std::uint32_t* chosen;  // bit i: neighbour i was chosen; 0: not known

    [[nodiscard]] std::size_t size() const noexcept;
    // Sets a place after those between it and `dropped`, which is given up, have moved by one.
    void put(std::size_t place, std::size_t dropped, Near near) const;
  };

  [[nodiscard]] std::size_t first_place(std::uint32_t node, std::size_t level) const noexcept;
  [[nodiscard]] List list_of(std::uint32_t node, std::size_t level) noexcept;
  void open(std::uint32_t node);
  void sort(const NodeVectors& vectors, std::uint32_t node, std::size_t level);
  void insert_next(const NodeVectors& vectors);
  void walk(const NodeVectors& vectors, std::size_t level, std::size_t breadth);
  void meet(const NodeVectors& vectors);
  [[nodiscard]] bool is_dominated(const NodeVectors& vectors, Near candidate);
  void choose(const NodeVectors& vectors, std::size_t room);
  void mark_chosen(const NodeVectors& vectors, const List& list);
  void link_back(const NodeVectors& vectors, std::uint32_t node, Near inserted, std::size_t level);
  [[nodiscard]] float similarity(const NodeVectors& vectors, std::int32_t node);

  std::size_t breadth_;
  HnswLinks links_;
  std::vector<Node> nodes_;
  std::vector<float> similarities_;    // by place
  std::vector<std::uint32_t> chosen_;  // of the list that begins there, by kLinks places

  std::uint32_t walk_ = 0;        // number of the last walk
  const float* query_ = nullptr;  // the vector that is inserted
  std::vector<float> query_room_;
  std::vector<float> candidate_room_;
  std::vector<Found> found_;          // by the walk, nearest first
  std::vector<std::uint32_t> batch_;  // nodes to be compared
  std::vector<float> products_;
  std::vector<std::uint32_t> dominating_;  // the nodes chosen so far
  std::vector<Near> others_;
  std::vector<Near> neighbours_;  // of the node that is inserted, nearest first
  std::uint32_t chosen_bits_ = 0;
};

}  // namespace oneiros
