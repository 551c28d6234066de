/* Limits that several rooms must share: what is withheld, and from how many on something is said.
 * One table, so that print, JSON, window and prompt never differ. */
#pragma once

/* Counts of people (or scans) below this are withheld, and whatever they could be had from. */
#define DEMUR_SMALL_CELL 10

/* Below this many sites nothing is said about other hospitals (method.md, "Go / no-go"). */
#define DEMUR_FEW_SITES 20

/* From this many sites on intervals come from resampling sites; below it they are of these patients
 * and say nothing of other hospitals (method.md, "Measures"). */
#define DEMUR_SITES_TO_RESAMPLE 5

/* A label that is refused this many times as often as scans in general is warned of. */
#define DEMUR_REFUSED_MUCH_MORE 1.5
#define DEMUR_REFUSED_FEWEST 5u /* of that label, for a sentence about it */

/* A calibration error in units of its noise floor, from which on risks are not well calibrated. */
#define DEMUR_FAR_ABOVE_CHANCE 2.0
