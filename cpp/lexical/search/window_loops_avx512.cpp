#define ONEIROS_PATH avx512
#include "lexical/window_loops_of_path.h"
