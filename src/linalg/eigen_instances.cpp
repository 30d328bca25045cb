#include "linalg/eigen_instances.hpp"

SPECTRA_EIGEN_INSTANCES(template);
