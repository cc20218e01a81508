#define ONEIROS_PATH avx512
#include "ranking/kernels_of_path.h"
