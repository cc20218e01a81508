#define ONEIROS_PATH avx2
#include "ranking/kernels_of_path.h"
