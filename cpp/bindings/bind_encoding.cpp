// Binding of the embedding codec. Blobs are encoded in bulk without a Python loop; errors name the
// blob they occur in.
#include <algorithm>
#include <stdexcept>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/registration.h"
#include "encoding/byte_reader.h"
#include "encoding/embedding_codec.h"
#include "encoding/roaring_bits.h"

namespace oneiros {

namespace {

std::span<std::byte> writable_bytes(const py::bytes& bytes) {
  // Allowed as long as no other code has seen the object.
  return {reinterpret_cast<std::byte*>(PyBytes_AS_STRING(bytes.ptr())),
          static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

py::bytes new_bytes(std::size_t size) {
  auto bytes = py::reinterpret_steal<py::bytes>(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!bytes) {
    throw py::error_already_set();
  }
  return bytes;
}

// Calls body(i) for i in [0, count); messages of exceptions are prefixed by "<name> <i>: ".
template <typename Body>
void for_each_named(const char* name, std::size_t count, Body body) {
  for (std::size_t i = 0; i < count; ++i) {
    try {
      body(i);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(std::string(name) + " " + std::to_string(i) + ": " +
                                  error.what());
    }
  }
}

std::vector<py::bytes> encode_embeddings(const py::array& matrix) {
  const Matrix<float> read = read_2d<float>(matrix, "matrix");
  require_dimension(read.columns);
  std::vector<py::bytes> blobs;
  std::vector<std::span<std::byte>> places;
  blobs.reserve(read.rows);
  for (std::size_t row = 0; row < read.rows; ++row) {
    places.push_back(writable_bytes(blobs.emplace_back(new_bytes(encoded_size(read.columns)))));
  }
  {
    const ReleasedGil nogil;
    for_each_named("matrix: row", read.rows, [&](std::size_t row) {
      encode_embedding(read.values.subspan(row * read.columns, read.columns), places[row]);
    });
  }
  return blobs;
}

py::array decode_embeddings(const std::vector<py::bytes>& blobs, std::size_t dimension) {
  require_dimension(dimension);
  std::vector<std::span<const std::byte>> read;
  read.reserve(blobs.size());
  for (const py::bytes& blob : blobs) {
    read.push_back(writable_bytes(blob));
  }
  // Sizes are checked first: a damaged length must not cause an allocation.
  for_each_named("blobs: blob", read.size(), [&](std::size_t i) {
    if (read[i].size() != encoded_size(dimension)) {
      throw DamagedBytes("expected " + std::to_string(encoded_size(dimension)) + " bytes, found " +
                         std::to_string(read[i].size()));
    }
  });
  py::array_t<float> matrix(
      {static_cast<py::ssize_t>(blobs.size()), static_cast<py::ssize_t>(dimension)});
  const std::span<float> values(matrix.mutable_data(), blobs.size() * dimension);
  {
    const ReleasedGil nogil;
    for_each_named("blobs: blob", read.size(), [&](std::size_t i) {
      decode_embedding(read[i], values.subspan(i * dimension, dimension));
    });
  }
  return matrix;
}

py::array decode_one(const py::bytes& blob) {
  const std::span<const std::byte> bytes = writable_bytes(blob);
  py::array_t<float> vector(static_cast<py::ssize_t>(encoded_dimension(bytes)));
  decode_embedding(bytes,
                   std::span(vector.mutable_data(), static_cast<std::size_t>(vector.size())));
  return vector;
}

py::object checked(const py::object& blob) {
  if (!blob.is_none()) {
    if (!py::isinstance<py::bytes>(blob)) {
      throw py::type_error("blob: expected bytes or None");
    }
    const std::span<const std::byte> bytes =
        writable_bytes(py::reinterpret_borrow<py::bytes>(blob));
    std::vector<float> vector(encoded_dimension(bytes));
    decode_embedding(bytes, vector);
  }
  return blob;
}

py::bytes packed_bits(const py::bytes& bitmap, std::size_t row_count) {
  const std::span<const std::byte> given = writable_bytes(bitmap);
  py::bytes bits = new_bytes((row_count + 7) / 8);
  const std::span<std::byte> place = writable_bytes(bits);
  {
    const ReleasedGil nogil;
    std::ranges::fill(place, std::byte{0});
    set_bits_of_roaring(given, row_count,
                        {reinterpret_cast<std::uint8_t*>(place.data()), place.size()});
  }
  return bits;
}

}  // namespace

void register_encoding(py::module_& module) {
  module.def("packed_bits", &packed_bits, py::kw_only(), py::arg("bitmap"), py::arg("row_count"),
             "The rows of a serialized Roaring bitmap below row_count, as packed bits.");
  module.def("encode_embeddings", &encode_embeddings, py::kw_only(), py::arg("matrix"),
             "One blob per row of a float32 matrix of shape (n, d).");
  module.def(
      "embedding_dimension",
      [](const py::bytes& blob) { return encoded_dimension(writable_bytes(blob)); }, py::kw_only(),
      py::arg("blob"), "The dimension in an encoded embedding's header.");
  module.def("decode_embedding", &decode_one, py::kw_only(), py::arg("blob"),
             "The float32 vector of an encoded embedding.");
  module.def(
      "checked_embedding", &checked, py::arg("blob").none(true), py::pos_only(),
      "Return the bytes or None; raise ValueError if decode_embedding() would. Needs no NumPy.");
  module.def("decode_embeddings", &decode_embeddings, py::kw_only(), py::arg("blobs"),
             py::arg("dimension"), "The float32 matrix (n, dimension) of encoded embeddings.");
}

}  // namespace oneiros
