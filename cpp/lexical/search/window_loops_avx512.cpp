#define ONEIROS_PATH avx512
#include "lexical/search/window_loops_of_path.h"
