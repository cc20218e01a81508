// Binding of kernels and programs over NumPy arrays.
//
// Operands are viewed without a copy, in any of ten dtypes; loops convert them tile by tile.
// Everything about shapes, dtypes, lengths and overlap is checked with the GIL, before a result is
// written. Then the GIL is released for the run, which Ctrl-C may end between chunks. The arrays
// are kept alive by references; other threads must not write to them meanwhile.
#include <cmath>

#include "bindings/gil.h"
#include "bindings/operands.h"
#include "bindings/own_copies.h"
#include "bindings/registration.h"
#include "ranking/evaluate.h"
#include "simd/path.h"

namespace oneiros {

namespace {

// The common length of the operands that are not scalar, 1 if all are. Throws ValueError if they
// differ.
std::size_t common_length(const std::vector<Operand>& operands) {
  std::size_t size = 1;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::size_t count = operands[i].count;
    if (count != 1 && size != 1 && count != size) {
      throw py::value_error("inputs[" + std::to_string(i) + "]: expected shape (" +
                            std::to_string(size) + ",) or (1,), got (" + std::to_string(count) +
                            ",)");
    }
    size = count != 1 ? count : size;
  }
  return size;
}

// Evaluates one kernel into `out` or a new array of the given dtype, without the GIL.
py::array bound_evaluate(const std::string& kernel, const py::list& given,
                         const py::dict& parameters, const std::string& dtype,
                         std::optional<py::array> out, unsigned threads) {
  const unsigned most_threads = checked_threads(threads);
  const KernelParameters numbers = parameters_of(parameters);
  const py::tuple inputs = own_copy(given);
  std::vector<py::array> held;
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "inputs[" + std::to_string(i) + "]";
    if (!py::isinstance<py::array>(inputs[i])) {
      throw py::type_error(name + ": expected an array, got " + text(py::type::of(inputs[i])));
    }
    held.push_back(inputs[i].cast<py::array>());
    operands.push_back(operand_of(held.back(), name));
  }
  const std::size_t size = common_length(operands);
  return for_dtype(dtype, [&](auto real) -> py::array {
    using Real = decltype(real);
    auto [array, result] = result_of<Real>(std::move(out), size);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      refuse_overlap(array, operands[i], "inputs[" + std::to_string(i) + "]");
    }
    {
      const ReleasedGil nogil;
      evaluate<Real>(kernel, numbers, operands, result, most_threads);
    }
    return std::move(array);
  });
}

// (input names, [(parameter name, number of values or None for any)]).
py::tuple bound_signature(const std::string& kernel) {
  const Signature& signature = kernel_signature(kernel);
  py::list inputs;
  for (std::size_t i = 0; i < signature.input_count; ++i) {
    inputs.append(py::str(std::string(signature.inputs[i].name)));
  }
  py::list parameters;
  for (std::size_t i = 0; i < signature.parameter_count; ++i) {
    const ParameterSpec& spec = signature.parameters[i];
    parameters.append(
        py::make_tuple(std::string(spec.name), spec.count == 0 ? py::object(py::none())
                                                               : py::object(py::int_(spec.count))));
  }
  return py::make_tuple(inputs, parameters);
}

// An input given as ("value", name, default) or ("age", times, unit_seconds).
ProgramInput input_of(const py::handle& given, std::size_t number) {
  const std::string name = "inputs[" + std::to_string(number) + "]";
  try {
    const auto parts = given.cast<py::tuple>();
    const auto kind = parts.size() == 3 ? parts[0].cast<std::string>() : std::string();
    if (kind == "value") {
      return ValueInput{parts[1].cast<std::string>(), parts[2].cast<double>()};
    }
    if (kind == "age") {
      return AgeInput{parts[1].cast<std::vector<std::string>>(), parts[2].cast<double>()};
    }
  } catch (const py::cast_error&) {  // reported below
  }
  throw py::type_error(name +
                       ": expected (\"value\", name, default) or (\"age\", times, unit_seconds), "
                       "got " +
                       py::repr(given).cast<std::string>());
}

// Builds a program from lists of inputs and instructions; the core validates registers and kernels.
Program make_program(const py::list& input_list, const py::list& instruction_list) {
  const py::tuple inputs = own_copy(input_list);
  const py::tuple instructions = own_copy(instruction_list);
  std::vector<ProgramInput> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    given.push_back(input_of(inputs[i], i));
  }
  std::vector<Instruction> steps;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const std::string name = "instructions[" + std::to_string(i) + "]";
    try {
      auto [kernel, registers, parameters] =
          instructions[i].cast<std::tuple<std::string, std::vector<std::size_t>, py::dict>>();
      steps.push_back({std::move(kernel), std::move(registers), parameters_of(parameters)});
    } catch (const py::cast_error&) {
      throw py::type_error(name + ": expected (kernel, registers, parameters), got " +
                           py::repr(instructions[i]).cast<std::string>());
    }
  }
  return {std::move(given), steps};
}

// The operands given by Python, kept alive, in the program's order.
struct GivenOperands {
  std::vector<py::array> arrays;
  std::vector<double> numbers;
  std::vector<Operand> operands;
};

// Reads operands by name. Absent operands have their default; unknown names raise ValueError.
GivenOperands operands_for(const Program& program, const py::dict& operands) {
  const py::dict given = own_copy(operands);
  const auto names = program.operand_names();
  GivenOperands all;
  all.numbers.resize(names.size());
  all.operands.resize(names.size());
  std::size_t found = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const py::str name(names[i]);
    if (!given.contains(name)) {
      continue;
    }
    ++found;
    const py::object value = given[name];
    if (py::isinstance<py::array>(value)) {
      all.arrays.push_back(value.cast<py::array>());
      all.operands[i] = operand_of(all.arrays.back(), names[i]);
    } else if (py::isinstance<py::float_>(value) || py::isinstance<py::int_>(value)) {
      all.numbers[i] = value.cast<double>();
      all.operands[i] = {ElementType::f64, &all.numbers[i], 1};
    } else {
      throw py::type_error(names[i] + ": expected an array or a number, got " +
                           text(py::type::of(value)));
    }
  }
  for (const auto& [name, value] : given) {
    if (found == given.size()) {
      break;
    }
    const auto word = name.cast<std::string>();
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      throw py::value_error("operands: the program has no input \"" + word + "\"");
    }
  }
  return all;
}

// The given result arrays after checks, or new ones.
template <typename Real>
std::vector<py::array> results_of(const std::optional<std::vector<py::array>>& out,
                                  std::size_t count, std::size_t size) {
  if (out && out->size() != count) {
    throw py::value_error("out: expected one array an output (" + std::to_string(count) +
                          "), got " + std::to_string(out->size()));
  }
  std::vector<py::array> arrays;
  for (std::size_t i = 0; i < count; ++i) {
    arrays.push_back(result_of<Real>(out ? std::optional((*out)[i]) : std::nullopt, size).first);
  }
  return arrays;
}

// Throws ValueError if a result overlaps an operand (see operands.h) or another result.
void refuse_overlaps(const std::vector<py::array>& results, const GivenOperands& given,
                     std::span<const std::string> names) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (given.operands[j].values != nullptr) {
        refuse_overlap(results[i], given.operands[j], names[j]);
      }
    }
    const auto begin = static_cast<const std::byte*>(results[i].data());
    for (std::size_t j = 0; j < i; ++j) {
      const auto other = static_cast<const std::byte*>(results[j].data());
      if (begin < other + results[j].nbytes() && other < begin + results[i].nbytes()) {
        throw py::value_error("out: out[" + std::to_string(j) + "] and out[" + std::to_string(i) +
                              "] share memory");
      }
    }
  }
}

// Columns with their ranges, kept alive.
struct GivenRanges {
  std::vector<py::array> arrays;
  std::vector<ColumnRange> ranges;
};

GivenRanges ranges_of(const py::list& ranges) {
  const py::tuple given = own_copy(ranges);
  GivenRanges all;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string name = "ranges[" + std::to_string(i) + "]";
    try {
      auto [array, low, high, may_be_nan, must_be_whole] =
          given[i].cast<std::tuple<py::array, double, double, bool, bool>>();
      if (std::isnan(low) || std::isnan(high)) {
        throw py::value_error(name + ": a bound must not be NaN");
      }
      all.ranges.push_back({operand_of(array, name), low, high, may_be_nan, must_be_whole});
      all.arrays.push_back(std::move(array));
    } catch (const py::cast_error&) {
      throw py::type_error(name + ": expected (array, low, high, may_be_nan, must_be_whole), got " +
                           py::repr(given[i]).cast<std::string>());
    }
  }
  return all;
}

// The arguments of a run, with or without range checks.
struct Asked {
  double now_seconds;
  std::size_t size;
  const std::vector<std::size_t>& outputs;
  const std::string& dtype;
  const std::optional<std::vector<py::array>>& out;
  unsigned threads;
  std::size_t whole_size;
};

// Runs the program without the GIL and returns its results.
std::pair<std::vector<py::array>, Outcome> outcome_of(const Program& program,
                                                      const py::dict& operands,
                                                      const py::list& ranges, const Asked& asked) {
  const unsigned most_threads = checked_threads(asked.threads);
  const GivenOperands given = operands_for(program, operands);
  const GivenRanges judged = ranges_of(ranges);
  return for_dtype(asked.dtype, [&](auto real) -> std::pair<std::vector<py::array>, Outcome> {
    using Real = decltype(real);
    std::vector<py::array> arrays = results_of<Real>(asked.out, asked.outputs.size(), asked.size);
    refuse_overlaps(arrays, given, program.operand_names());
    std::vector<Real*> results;
    for (py::array& array : arrays) {
      for (std::size_t i = 0; i < judged.ranges.size(); ++i) {
        refuse_sharing(array, judged.ranges[i].column, "ranges[" + std::to_string(i) + "]");
      }
      results.push_back(static_cast<Real*>(array.mutable_data()));
    }
    Outcome outcome;
    {
      const ReleasedGil nogil;
      outcome = program.run<Real>({given.operands, asked.now_seconds, asked.size, asked.outputs,
                                   results, most_threads, judged.ranges, asked.whole_size});
    }
    return {std::move(arrays), outcome};
  });
}

py::tuple run_program(const Program& program, const py::dict& operands, double now_seconds,
                      std::size_t size, const std::vector<std::size_t>& outputs,
                      const std::string& dtype, const std::optional<std::vector<py::array>>& out,
                      unsigned threads) {
  const auto [arrays, outcome] = outcome_of(
      program, operands, py::list(), {now_seconds, size, outputs, dtype, out, threads, size});
  return py::make_tuple(arrays, outcome.future_count);
}

py::tuple run_and_judge(const Program& program, const py::dict& operands, double now_seconds,
                        std::size_t size, const std::vector<std::size_t>& outputs,
                        const std::string& dtype, const std::optional<std::vector<py::array>>& out,
                        unsigned threads, const py::list& ranges, std::size_t whole_size) {
  const auto [arrays, outcome] = outcome_of(
      program, operands, ranges, {now_seconds, size, outputs, dtype, out, threads, whole_size});
  return py::make_tuple(arrays, outcome.future_count, outcome.is_within);
}

std::vector<std::string_view> path_names() {
  std::vector<std::string_view> names;
  for (const SimdPath path : simd_paths()) {
    names.push_back(kSimdPathNames[static_cast<std::size_t>(path)]);
  }
  return names;
}

}  // namespace

void register_programs(py::module_& module) {
  use_simd_path_of_environment();
  module.def("simd_paths", &path_names, "The SIMD paths this machine supports, the best last.");
  module.def("simd_path", [] { return kSimdPathNames[static_cast<std::size_t>(simd_path())]; });
  module.def(
      "use_simd_path", [](const std::string& name) { use_simd_path(name); }, py::kw_only(),
      py::arg("name"));
  module.def("kernel_names", &kernel_names);
  module.def("kernel_signature", &bound_signature, py::kw_only(), py::arg("kernel"),
             "(inputs, [(parameter, number of values or None for any)]).");
  module.def("evaluate", &bound_evaluate, py::kw_only(), py::arg("kernel"), py::arg("inputs"),
             py::arg("parameters"), py::arg("dtype"), py::arg("out"), py::arg("threads"),
             "Evaluate a kernel over arrays of shape (n,) or (1,).");
  py::class_<Program, std::shared_ptr<Program>>(module, "Program")
      .def(py::init([](const py::list& inputs, const py::list& instructions) {
             return std::make_shared<Program>(make_program(inputs, instructions));
           }),
           py::kw_only(), py::arg("inputs"), py::arg("instructions"))
      .def("run", &run_program, py::kw_only(), py::arg("operands"), py::arg("now_seconds"),
           py::arg("size"), py::arg("outputs"), py::arg("dtype"), py::arg("out"),
           py::arg("threads"))
      .def("run_and_judge", &run_and_judge, py::kw_only(), py::arg("operands"),
           py::arg("now_seconds"), py::arg("size"), py::arg("outputs"), py::arg("dtype"),
           py::arg("out"), py::arg("threads"), py::arg("ranges"), py::arg("whole_size"),
           "run(), and True if the columns of `ranges`, (array, low, high, may_be_nan, "
           "must_be_whole), are within them.")
      .def_property_readonly("input_names", [](const Program& program) {
        const auto names = program.operand_names();
        return std::vector<std::string>(names.begin(), names.end());
      });
}

}  // namespace oneiros
