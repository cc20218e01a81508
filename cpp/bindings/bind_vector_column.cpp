// Binding of vector columns over NumPy arrays.
//
// Vectors and rows are viewed without a copy, filters as packed bits. The GIL is released while
// vectors are written or searched. Batches return flat arrays with offsets instead of a list per
// query, so that their conversion does not depend on the number of queries.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/instances.h"
#include "bindings/interrupts.h"
#include "bindings/operands.h"
#include "bindings/registration.h"
#include "columns/graph_hits.h"
#include "columns/unit_vector.h"
#include "columns/vector_column.h"
#include "lexical/filters/set_bits.h"
#include "threads/for_each_chunk.h"

namespace oneiros {

namespace {

using lexical::Hit;

// The bits must stay alive.
VectorRows chosen_of(const GivenBits& allowed, const GivenBits& minus) {
  VectorRows chosen;
  if (allowed) {
    chosen.allowed = read_bits(*allowed, "allowed");
  }
  if (minus) {
    chosen.minus = read_bits(*minus, "minus");
  }
  return chosen;
}

// One row of components per vector. Throws ValueError for another width.
std::span<const float> vectors_of(const VectorColumn& column, const py::array& vectors,
                                  const std::string& name) {
  const Matrix<float> read = read_2d<float>(vectors, name);
  if (read.columns != column.dimension()) {
    throw py::value_error(name + ": expected shape (n, " + std::to_string(column.dimension()) +
                          "), got " + text(vectors.attr("shape")));
  }
  return read.values;
}

// The vector scaled to length 1; None if it is zero or not finite.
py::object unit_vector(const py::array& values) {
  py::array_t<float> unit(values.size());
  const std::span<float> place(unit.mutable_data(), static_cast<std::size_t>(unit.size()));
  const UnitVector made = for_real(values, "values", [&]<typename Value>(Value) {
    return to_unit(read_1d<Value>(values, "values"), place);
  });
  if (made != UnitVector::made) {
    return py::none();
  }
  unit.attr("setflags")(py::arg("write") = false);
  return unit;
}

// The rows scaled to length 1; None if one is zero or not finite.
py::object unit_vectors(const py::array& values) {
  py::array_t<float> units(
      std::vector<py::ssize_t>(values.shape(), values.shape() + values.ndim()));
  const std::span<float> places(units.mutable_data(), static_cast<std::size_t>(units.size()));
  const bool are_made = for_real(values, "values", [&]<typename Value>(Value) {
    const Matrix<Value> rows = read_2d<Value>(values, "values");
    const ReleasedGil nogil;
    for (std::size_t start = 0; start < rows.values.size(); start += rows.columns) {
      if (to_unit(rows.values.subspan(start, rows.columns), places.subspan(start, rows.columns)) !=
          UnitVector::made) {
        return false;
      }
    }
    return true;
  });
  return are_made ? py::object(units) : py::object(py::none());
}

// Writes without the GIL, since it may wait for searches.
std::size_t write_vectors(VectorColumn& column, const py::object& rows, const py::array& vectors) {
  const Numbers<std::uint32_t> where(rows, "rows");
  const std::span<const float> values = vectors_of(column, vectors, "vectors");
  const ReleasedGil nogil;
  return column.write(where.values(), values);
}

std::size_t remove(VectorColumn& column, const py::object& rows) {
  const Numbers<std::uint32_t> where(rows, "rows");
  const ReleasedGil nogil;
  return column.remove(where.values());
}

py::array has(const VectorColumn& column, const py::object& rows) {
  const Numbers<std::uint32_t> where(rows, "rows");
  py::array_t<bool> found(static_cast<py::ssize_t>(where.values().size()));
  bool* const out = found.mutable_data();
  {
    const ReleasedGil nogil;
    std::ranges::transform(where.values(), out, [&](auto row) { return column.has(row); });
  }
  return found;
}

py::array chosen_rows(const VectorColumn& column, const GivenBits& allowed,
                      const GivenBits& minus) {
  const VectorRows chosen = chosen_of(allowed, minus);
  std::vector<std::uint32_t> found;
  {
    const ReleasedGil nogil;
    found = column.rows(chosen);
  }
  return copied(found);
}

std::size_t count(const VectorColumn& column, const GivenBits& allowed, const GivenBits& minus) {
  const VectorRows chosen = chosen_of(allowed, minus);
  const ReleasedGil nogil;
  return column.count(chosen);
}

py::array reconstruct(const VectorColumn& column, const py::object& rows) {
  const Numbers<std::uint32_t> where(rows, "rows");
  const std::size_t count = where.values().size();
  py::array_t<float> vectors(
      {static_cast<py::ssize_t>(count), static_cast<py::ssize_t>(column.dimension())});
  const std::span<float> out(vectors.mutable_data(), count * column.dimension());
  {
    const ReleasedGil nogil;
    column.reconstruct(where.values(), out);
  }
  return vectors;
}

py::array cosines(const VectorColumn& column, const py::array& query, const py::object& rows) {
  const std::span<const float> sought = read_1d<float>(query, "query");
  const Numbers<std::uint32_t> where(rows, "rows");
  py::array_t<double> found(static_cast<py::ssize_t>(where.values().size()));
  const std::span<double> out(found.mutable_data(), where.values().size());
  {
    const ReleasedGil nogil;
    column.cosines(sought, where.values(), out);
  }
  return found;
}

// Flat arrays of rows and scores, and offsets of the lists with the end.
py::tuple arrays_of(std::span<const std::vector<Hit>> lists) {
  std::size_t size = 0;
  for (const std::vector<Hit>& hits : lists) {
    size += hits.size();
  }
  py::array_t<std::uint32_t> rows(static_cast<py::ssize_t>(size));
  py::array_t<double> scores(static_cast<py::ssize_t>(size));
  std::uint32_t* row = rows.mutable_data();
  double* score = scores.mutable_data();
  for (const std::vector<Hit>& hits : lists) {
    row = std::ranges::transform(hits, row, &Hit::row).out;
    score = std::ranges::transform(hits, score, &Hit::score).out;
  }
  return py::make_tuple(std::move(rows), std::move(scores));
}

// The core's exact search, interruptible by Ctrl-C.
py::tuple nearest(const VectorColumn& column, const py::array& query, std::size_t k,
                  const GivenBits& allowed, const GivenBits& minus) {
  const std::span<const float> sought = read_1d<float>(query, "query");
  const VectorRows chosen = chosen_of(allowed, minus);
  std::vector<Hit> found;
  {
    const LongCall call;
    found = column.nearest(sought, k, chosen);
  }
  return arrays_of(std::span(&found, 1));
}

py::tuple nearest_many(const VectorColumn& column, const py::array& queries, std::size_t k,
                       const GivenBits& allowed, const GivenBits& minus, std::size_t threads) {
  const std::span<const float> sought = vectors_of(column, queries, "queries");
  const VectorRows chosen = chosen_of(allowed, minus);
  std::vector<std::vector<Hit>> found;
  std::vector<std::int64_t> offsets{0};
  {
    const LongCall call;
    found = column.nearest_many(sought, k, chosen, threads);
    for (const std::vector<Hit>& hits : found) {
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(hits.size()));
    }
  }
  return arrays_of(found) + py::make_tuple(copied(offsets));
}

std::optional<RowBits> bits_of(const GivenBits& bits, const std::string& name) {
  return bits ? std::optional(read_bits(*bits, name)) : std::nullopt;
}

// Its arrays must stay alive.
VectorGraph graph_of(const py::array& rows, const py::array& heads, const GivenBits& live,
                     const py::array& under) {
  return {.rows = read_1d<std::uint32_t>(rows, "graph_rows"),
          .heads = read_1d<std::uint32_t>(heads, "heads"),
          .live = bits_of(live, "live"),
          .under = read_1d<std::uint8_t>(under, "under")};
}

// Exact scores for the results of an approximate index, for a batch of queries.
py::list nearest_nodes(const VectorColumn& column, const py::array& queries, std::size_t k,
                       const py::array& nodes, std::size_t wanted, const py::array& graph_rows,
                       const py::array& heads, const GivenBits& live, const py::array& under,
                       const GivenBits& allowed, unsigned threads) {
  const std::span<const float> sought = vectors_of(column, queries, "queries");
  const Matrix<std::int64_t> ends = read_2d<std::int64_t>(nodes, "nodes");
  const std::size_t count = sought.size() / column.dimension();
  if (ends.rows != count) {
    throw py::value_error("nodes: expected " + std::to_string(count) + " lists, one a query, got " +
                          std::to_string(ends.rows));
  }
  const VectorGraph graph = graph_of(graph_rows, heads, live, under);
  const std::optional<RowBits> rows = bits_of(allowed, "allowed");
  const unsigned most_threads = checked_threads(threads);
  std::vector<GraphHits> found(count);
  {
    const LongCall call;
    const Interrupt pause = interruptible();
    for_each_chunk(count, most_threads, 1,
                   [&](std::size_t begin, std::size_t end) {
                     for (std::size_t i = begin; i < end; ++i) {
                       found[i] = graph_hits(
                           column, sought.subspan(i * column.dimension(), column.dimension()), k,
                           graph, ends.values.subspan(i * ends.columns, ends.columns), wanted,
                           rows);
                     }
                   },
                   {.pause = pause});
  }
  py::list answer(count);
  for (std::size_t i = 0; i < count; ++i) {
    answer[i] = arrays_of(std::span(&found[i].hits, 1)) + py::make_tuple(found[i].found);
  }
  return answer;
}

std::size_t count_bits(const py::object& bits) {
  return lexical::count_bits(read_bits(bits, "bits"));
}

}  // namespace

void register_vector_column(py::module_& module) {
  module.def(
      "unit_vectors", &unit_vectors, py::kw_only(), py::arg("values"),
      "Rows of shape (n, d), each divided by its length; None where one is zero, or refused.");
  module.def(
      "unit_vector", &unit_vector, py::kw_only(), py::arg("values"),
      "The vector scaled to length 1, float32 and read-only; None if impossible: a zero vector, "
      "or one whose length is no finite number.");
  py::class_<VectorColumn, std::shared_ptr<VectorColumn>>(module, "VectorColumn",
                                                          "Vectors (float32), one row per memory.")
      .def(shared_init<VectorColumn, std::size_t>(), py::kw_only(), py::arg("dimension"))
      .def("__len__", [](const VectorColumn& column) { return column.count(); })
      .def_property_readonly("dimension", &VectorColumn::dimension,
                             "The number of components of a vector.")
      .def_property_readonly("resident_bytes", &VectorColumn::resident_bytes,
                             "The memory of vectors and codes, without spare room.")
      .def("write", &write_vectors, py::kw_only(), py::arg("rows"), py::arg("vectors"),
           "Set the vector of each row, a zero vector meaning none; "
           "returns how many are not zero.")
      .def("remove", &remove, py::kw_only(), py::arg("rows"),
           "Remove the vectors of rows; return their number.")
      .def("has", &has, py::kw_only(), py::arg("rows"), "By row: True if it has a vector.")
      .def("rows", &chosen_rows, py::kw_only(), py::arg("allowed") = py::none(),
           py::arg("minus") = py::none(),
           "The rows with a vector, ascending, whose bit is set in `allowed` and not "
           "in `minus`.")
      .def("count", &count, py::kw_only(), py::arg("allowed") = py::none(),
           py::arg("minus") = py::none(), "The number of rows().")
      .def("reconstruct", &reconstruct, py::kw_only(), py::arg("rows"),
           "Copies of the vectors of rows; zeros for a row without one.")
      .def("cosines", &cosines, py::kw_only(), py::arg("query"), py::arg("rows"),
           "The inner product of each row's vector and the query; NaN for a row without one.")
      .def("nearest", &nearest, py::kw_only(), py::arg("query"), py::arg("k"),
           py::arg("allowed") = py::none(), py::arg("minus") = py::none(),
           "The k nearest of rows() and their inner products, higher first, then the smaller row.")
      .def("nearest_many", &nearest_many, py::kw_only(), py::arg("queries"), py::arg("k"),
           py::arg("allowed") = py::none(), py::arg("minus") = py::none(), py::arg("threads") = 1,
           "All rows, all inner products, and the offsets of the queries' parts with the end.")
      .def("nearest_nodes", &nearest_nodes, py::kw_only(), py::arg("queries"), py::arg("k"),
           py::arg("nodes"), py::arg("wanted"), py::arg("graph_rows"), py::arg("heads"),
           py::arg("live"), py::arg("under"), py::arg("allowed"), py::arg("threads"),
           "For each query, the k nearest of the rows of its graph nodes and of "
           "those not under it, their inner products, and how many of the former may be returned; "
           "no rows where these are fewer than wanted.");
  module.def("count_bits", &count_bits, py::kw_only(), py::arg("bits"), "The number of set bits.");
}

}  // namespace oneiros
