#define ONEIROS_PATH baseline
#include "lexical/window_loops_of_path.h"
