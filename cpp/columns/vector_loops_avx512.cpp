#define ONEIROS_PATH avx512
#include "columns/vector_loops_of_path.h"
