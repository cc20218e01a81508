#define ONEIROS_PATH baseline
#include "lexical/search/window_loops_of_path.h"
