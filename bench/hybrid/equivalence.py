# SPDX-License-Identifier: Apache-2.0
"""How far two sets of perturbed runs are apart in the mean, by intervals of which two one-sided tests are made."""

import math
import statistics

# Quantiles of Student's t for 95%, by degrees of freedom.
T95 = {1: 6.31, 2: 2.92, 3: 2.35, 4: 2.13, 5: 2.02, 6: 1.94, 7: 1.89, 8: 1.86, 10: 1.81, 12: 1.78, 14: 1.76,
       20: 1.72, 30: 1.70}


def t95(degrees):
    return T95[max(key for key in T95 if key <= max(degrees, 1))]


def compare(reference, others, value):
    """Difference of the means of `value` in percent, and half of its 90% interval (Welch)."""
    a = [one[value] for one in reference]
    b = [one[value] for one in others]
    mean = statistics.fmean(a)
    if len(a) < 2 or len(b) < 2:
        return 100 * (statistics.fmean(b) / mean - 1), math.inf
    va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    degrees = (va + vb) ** 2 / ((va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1)) or 1)
    return 100 * (statistics.fmean(b) / mean - 1), 100 * t95(int(degrees)) * math.sqrt(va + vb) / mean
