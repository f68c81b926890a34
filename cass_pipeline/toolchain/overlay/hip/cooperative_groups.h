// CUDA's name of the header, for an include that a translation left as it was.
#include <hip/hip_cooperative_groups.h>
