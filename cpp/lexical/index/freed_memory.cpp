#include "lexical/index/freed_memory.h"

#include <cstdlib>  // says which library it is

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace oneiros::lexical {

void give_back_freed_memory() noexcept {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace oneiros::lexical
