#include "features/kde.h"

#include <math.h>

#define LOG_2_PI 1.8378770664093454836

double
demur_kde_log_density(double log_sum_exp, size_t n, size_t d) {
  return log_sum_exp - 0.5 * (double)d * LOG_2_PI - log((double)n);
}
