// Binding of the verdicts that were given for a question.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/instances.h"
#include "bindings/registration.h"
#include "columns/question_verdicts.h"

namespace oneiros {

namespace {

// The verdicts copy the bytes.
void set(QuestionVerdicts& verdicts, std::uint64_t sequence,
         const std::vector<std::pair<double, py::bytes>>& given) {
  std::vector<QuestionVerdicts::Verdict> read;
  read.reserve(given.size());
  for (const auto& [points, question] : given) {
    read.push_back({points,
                    {reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(question.ptr())),
                     static_cast<std::size_t>(PyBytes_GET_SIZE(question.ptr()))}});
  }
  verdicts.set(sequence, read);
}

py::object encoded(const py::array& vector) {
  const std::span<const float> read = read_1d<float>(vector, "vector");
  std::vector<std::int8_t> code(1 + read.size());
  if (!encode_question(read, code)) {
    return py::none();
  }
  return py::bytes(reinterpret_cast<const char*>(code.data()), code.size());
}

}  // namespace

void register_question_verdicts(py::module_& module) {
  py::class_<QuestionVerdicts, std::shared_ptr<QuestionVerdicts>>(
      module, "QuestionVerdicts", "Verdicts with the questions they were given for, by memory.")
      .def(shared_init<QuestionVerdicts>())
      .def("set", &set, py::kw_only(), py::arg("sequence"), py::arg("verdicts"),
           "Replace the (points, stored question) of a memory; none: forget them.")
      .def("clear", &QuestionVerdicts::clear, "Forget all verdicts.")
      .def("__len__", &QuestionVerdicts::size);
  module.def("encode_question", &encoded, py::kw_only(), py::arg("vector"),
             "The stored form of a question's embedding; None for a vector without a direction.");
}

}  // namespace oneiros
