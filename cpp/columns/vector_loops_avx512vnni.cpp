#define ONEIROS_PATH avx512vnni
#include "columns/vector_loops_of_path.h"
