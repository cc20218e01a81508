#define ONEIROS_PATH avx2
#include "lexical/search/window_loops_of_path.h"
