#define ONEIROS_PATH avx2
#include "lexical/window_loops_of_path.h"
