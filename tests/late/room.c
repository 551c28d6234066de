#include "late/room.h"

#include <stdarg.h>

DemurTrialSums
demur_trial_sum(const int whole[7], long w1, long w2, long w3, long w4, long w5,
                const double parts[9]) {
  DemurTrialSums sums = {.b = (double)(w1 + 2 * w2 + 3 * w3 + 4 * w4 + 5 * w5)};
  for (int i = 0; i < 7; i++)
    sums.a += whole[i];
  for (int i = 0; i < 9; i++)
    sums.c += demur_trial_scaled(parts[i]);
  return sums;
}

double
demur_trial_mix(double d0, double d1, double d2, double d3, double d4, double d5, double d6,
                double d7, double d8) {
  return d0 + 2 * d1 + 3 * d2 + 4 * d3 + 5 * d4 + 6 * d5 + 7 * d6 + 8 * d7 + 9 * d8;
}

double
demur_trial_variadic(int n, ...) {
  va_list list;
  va_start(list, n);
  double sum = 0.0;
  for (int i = 0; i < n; i++)
    sum += va_arg(list, double);
  va_end(list);
  return demur_trial_factor * sum;
}
