#define ONEIROS_PATH baseline
#include "ranking/kernels_of_path.h"
