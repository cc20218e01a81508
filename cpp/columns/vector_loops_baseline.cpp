#define ONEIROS_PATH baseline
#include "columns/vector_loops_of_path.h"
