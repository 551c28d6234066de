/* A room of two functions that a test loads late, and what it calls of the program. */
#pragma once

#include <stddef.h>

typedef struct {
  double a, b, c; /* too many for registers: the caller says where it goes */
} DemurTrialSums;

/* Of every way in which arguments are passed: whole numbers and doubles in registers and behind them on the stack. */
DemurTrialSums demur_trial_sum(const int whole[7], long w1, long w2, long w3, long w4, long w5,
                               const double parts[9]);
double demur_trial_mix(double d0, double d1, double d2, double d3, double d4, double d5, double d6,
                       double d7, double d8);
double demur_trial_variadic(int n, ...);

/* The program's, below the room. */
extern const double demur_trial_factor;
double demur_trial_scaled(double value);
