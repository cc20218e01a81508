#define ONEIROS_PATH avx2
#include "columns/vector_loops_of_path.h"
