#include "lexical/filters/allowed_rows.h"

#include "lexical/filters/mapped_rows.h"

namespace oneiros::lexical {

const AllowedDocuments* AllowedRows::in(std::uint32_t serial) const {
  return mapped_ == nullptr ? nullptr : mapped_->find(serial);
}

}  // namespace oneiros::lexical
