// Binding of text columns, over lists of strings and arrays of rows.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/instances.h"
#include "bindings/registration.h"
#include "bindings/texts.h"
#include "columns/canonical_form.h"
#include "columns/person_words.h"
#include "columns/text_column.h"
#include "columns/text_matching.h"
#include "columns/time_names.h"
#include "columns/word_overlap.h"

namespace oneiros {

namespace {

std::vector<std::uint32_t> rows_of(const py::handle& rows) {
  const Numbers<std::uint32_t> read(rows, "rows");
  return {read.values().begin(), read.values().end()};
}

void write_texts(TextColumn& column, const py::object& rows, const py::list& texts,
                 const py::list& tags) {
  const std::vector<std::uint32_t> where = rows_of(rows);
  const Texts given = read_texts(texts, "texts");
  const Texts tagged = read_texts(tags, "tags");
  if (tagged.views.size() != given.views.size()) {
    throw py::value_error("tags: expected " + std::to_string(given.views.size()) +
                          ", one a text, got " + std::to_string(tagged.views.size()));
  }
  std::vector<MemoryText> held(given.views.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    held[i] = {given.views[i], tagged.views[i]};
  }
  const ReleasedGil nogil;
  column.write(where, held);
}

// One byte a text, so that no caller needs NumPy.
py::bytes time_names_in(const TimeNames& names, const py::list& texts) {
  const Texts given = read_texts(texts, "texts");
  std::string found(given.views.size(), '\0');
  {
    const ReleasedGil nogil;
    std::ranges::transform(given.views, found.begin(), [&](std::string_view text) {
      return names.stand_in(text) ? '\1' : '\0';
    });
  }
  return found;
}

void erase_texts(TextColumn& column, const py::object& rows) {
  const std::vector<std::uint32_t> where = rows_of(rows);
  const ReleasedGil nogil;
  column.erase(where);
}

using Count = void (*)(const TextColumn&, std::span<const std::uint32_t>,
                       std::span<const std::string_view>, std::span<std::uint32_t>);

template <Count count>
py::array counted(const TextColumn& column, const py::object& rows, const py::list& words) {
  const std::vector<std::uint32_t> where = rows_of(rows);
  const Texts sought = read_texts(words, "words");
  std::vector<std::uint32_t> found(where.size());
  {
    const ReleasedGil nogil;
    count(column, where, sought.views, found);
  }
  return copied(found);
}

py::array counted_canonical(const TextColumn& column, const py::object& rows, const py::list& words,
                            const py::list& stems) {
  const std::vector<std::uint32_t> where = rows_of(rows);
  const Texts whole = read_texts(words, "words");
  const Texts cut = read_texts(stems, "stems");
  if (cut.views.size() != whole.views.size()) {
    throw py::value_error("stems: expected " + std::to_string(whole.views.size()) +
                          ", one a word, got " + std::to_string(cut.views.size()));
  }
  std::vector<WordAndStem> sought(whole.views.size());
  for (std::size_t i = 0; i < sought.size(); ++i) {
    sought[i] = {whole.views[i], cut.views[i]};
  }
  std::vector<std::uint32_t> found(where.size());
  {
    const ReleasedGil nogil;
    count_canonical_words(column, where, sought, found);
  }
  return copied(found);
}

py::str canonical_form(const py::str& text) {
  const std::string_view read = utf8_of(text, "text");
  CanonicalForm form;
  std::string_view found;
  {
    const ReleasedGil nogil;
    found = form.of(read);
  }
  return {found.data(), found.size()};
}

py::array similar(const TextColumn& column, const py::object& rows, const py::str& text,
                  std::size_t characters, double least) {
  if (!(least >= 0)) {
    throw py::value_error("least: must be >= 0, got " + std::to_string(least));
  }
  const std::vector<std::uint32_t> where = rows_of(rows);
  const std::string_view sought = utf8_of(text, "text");
  std::vector<double> similarity(where.size());
  {
    const ReleasedGil nogil;
    trigram_similarities(column, where, sought, characters, least, similarity);
  }
  return copied(similarity);
}

std::vector<std::uint32_t> alike(const TextColumn& column, const py::object& rows,
                                 std::size_t characters) {
  const std::vector<std::uint32_t> where = rows_of(rows);
  std::vector<std::uint32_t> first(where.size());
  const ReleasedGil nogil;
  first_alike(column, where, characters, first);
  return first;
}

py::array which_of(const TextColumn& column, const py::object& rows, const py::list& texts,
                   std::size_t characters) {
  const std::vector<std::uint32_t> where = rows_of(rows);
  const Texts sought = read_texts(texts, "texts");
  std::vector<std::uint32_t> which(where.size());
  {
    const ReleasedGil nogil;
    which_alike(column, where, sought.views, characters, which);
  }
  return copied(which);
}

GroupedRows grouped(const Numbers<std::uint32_t>& rows, const Numbers<std::int64_t>& groups,
                    const std::string& name) {
  if (rows.values().size() != groups.values().size()) {
    throw py::value_error(name + ": expected " + std::to_string(rows.values().size()) +
                          ", one a row, got " + std::to_string(groups.values().size()));
  }
  return {rows.values(), groups.values()};
}

py::array overlaps(const TextColumn& column, const py::object& rows, const py::object& groups,
                   const py::object& among, const py::object& among_groups) {
  const Numbers<std::uint32_t> read_rows(rows, "rows");
  const Numbers<std::int64_t> read_groups(groups, "groups");
  const Numbers<std::uint32_t> read_among(among, "among");
  const Numbers<std::int64_t> read_among_groups(among_groups, "among_groups");
  const GroupedRows asked = grouped(read_rows, read_groups, "groups");
  const GroupedRows others = grouped(read_among, read_among_groups, "among_groups");
  std::vector<double> overlap(asked.rows.size());
  {
    const ReleasedGil nogil;
    largest_word_overlaps(column, asked, others, overlap);
  }
  return copied(overlap);
}

// Words, those of the first and of the second person, and bytes: an array each.
py::tuple person_words(const TextColumn& column, const py::object& rows) {
  const std::vector<std::uint32_t> where = rows_of(rows);
  std::vector<PersonWords> found(where.size());
  {
    const ReleasedGil nogil;
    count_person_words(column, where, found);
  }
  const auto values = [&](std::uint32_t PersonWords::*field) {
    std::vector<std::uint32_t> taken(found.size());
    std::ranges::transform(found, taken.begin(), field);
    return copied(taken);
  };
  return py::make_tuple(values(&PersonWords::words), values(&PersonWords::first),
                        values(&PersonWords::second), values(&PersonWords::bytes));
}

}  // namespace

void register_text_column(py::module_& module) {
  module.def("canonical_form", &canonical_form, py::kw_only(), py::arg("text"),
             "The canonical form of a text in NFKC and lower case.");
  py::class_<TimeNames, std::shared_ptr<TimeNames>>(
      module, "TimeNames", "The words that name a time. Source: docs/systems/house.md H13.")
      .def(shared_init<TimeNames, std::vector<std::string>, std::vector<std::string>>(),
           py::kw_only(), py::arg("words"), py::arg("capitalised"))
      .def("stand_in", &time_names_in, py::kw_only(), py::arg("texts"),
           "Return a byte for each text: 1 if it names a time, else 0.");
  py::class_<TextColumn, std::shared_ptr<TextColumn>>(
      module, "TextColumn", "The normalised texts of memories, one row per memory.")
      .def(shared_init<TextColumn>())
      .def("__len__", &TextColumn::size)
      .def_property_readonly("resident_bytes", &TextColumn::resident_bytes,
                             "Memory in use, including spare room.")
      .def("write", &write_texts, py::kw_only(), py::arg("rows"), py::arg("texts"), py::arg("tags"),
           "Set the text and tags of each row, atomically.")
      .def("erase", &erase_texts, py::kw_only(), py::arg("rows"),
           "Remove and overwrite the texts of rows.")
      .def("count_words", &counted<&count_words>, py::kw_only(), py::arg("rows"), py::arg("words"),
           "The number of words that occur in each row's text.")
      .def("count_canonical_words", &counted_canonical, py::kw_only(), py::arg("rows"),
           py::arg("words"), py::arg("stems"),
           "The number of words that occur, or whose stems do, in the canonical form of each "
           "row's text and tags; an empty stem is none.")
      .def("trigram_similarities", &similar, py::kw_only(), py::arg("rows"), py::arg("text"),
           py::arg("characters"), py::arg("least"),
           "Jaccard similarity of the trigrams of each row's first characters, in canonical form, "
           "and those "
           "of "
           "a text in that form; 0 below `least`.")
      .def("first_alike", &alike, py::kw_only(), py::arg("rows"), py::arg("characters"),
           "For each place, the first one whose canonical form starts with the same characters.")
      .def("which_alike", &which_of, py::kw_only(), py::arg("rows"), py::arg("texts"),
           py::arg("characters"),
           "For each row, the first of the texts, in canonical form, that starts like its own; "
           "their "
           "number if none does.")
      .def("count_person_words", &person_words, py::kw_only(), py::arg("rows"),
           "The words of each row's text, those of the first and of the second person (English), "
           "and its bytes: an array each.")
      .def("largest_word_overlaps", &overlaps, py::kw_only(), py::arg("rows"), py::arg("groups"),
           py::arg("among"), py::arg("among_groups"),
           "For each row the largest Jaccard similarity of its words and another's of its group.");
}

}  // namespace oneiros
