// SPDX-License-Identifier: Apache-2.0
/// Flow sizes as functions of a standard normal variable z, so that one change of measure (of z's mean and
/// deviation) serves all of them.
#pragma once

#include <vector>

namespace sluice::eval {

/// A cumulative distribution by points, linear in between: what CDF files of flow sizes hold.
class SizeCdf {
  public:
    struct Point {
        double size = 0;   ///< bytes, >= 0
        double share = 0;  ///< of flows that are at most so long, 0 to 1
    };

    /// Sizes and shares ascend strictly (a share may be repeated for sizes that do not occur), the first share
    /// is 0, the last 1, two points at least; else ConfigError.
    explicit SizeCdf(std::vector<Point> points);

    const std::vector<Point>& points() const { return points_; }
    double share(double size) const;
    double quantile(double share) const;
    double density(double size) const;  ///< 0 outside
    double mean() const;                ///< bytes

  private:
    std::vector<Point> points_;
};

struct LogNormal {
    double mu = 0;     ///< of ln(size in bytes)
    double sigma = 1;  ///< > 0

    double share(double size) const;
    double log_density(double size) const;
    double mean() const;
};

/// A log-normal distribution in place of the real one, and how far it is from it.
struct SizeFit {
    LogNormal log_normal;
    double rms_distance = 0;  ///< between the two cumulative distributions, at the file's points
    double max_distance = 0;  ///< anywhere (Kolmogorov-Smirnov)
    double mean_ratio = 1;    ///< the fit's mean by the real one
};

/// Non-linear least squares between the cumulative distributions at the points with a positive size (CCEval,
/// section 5), by Levenberg and Marquardt's method. ConfigError where fewer than two points lie inside of
/// (0, 1) and no fit exists.
SizeFit fit_log_normal(const SizeCdf& cdf);

/// What an estimate is an estimate of.
enum class SizeKind {
    Fitted,  ///< the paper's: sizes are exp(mu + sigma z); the estimate is of the fitted distribution
    Mapped,  ///< sizes are quantiles of the real distribution at Phi(z): of the real one, without a weight
    Reweighted,  ///< Fitted with weights real / fitted density per flow: of the real one, weights degenerate
                 ///< as trials grow
};

class SizeModel {
  public:
    SizeModel(SizeKind kind, SizeCdf cdf);
    /// Where sizes are log-normal by assumption and no file exists: Fitted.
    explicit SizeModel(const LogNormal& log_normal);

    SizeKind kind() const { return kind_; }
    const SizeFit& fit() const { return fit_; }
    double size(double z) const;  ///< bytes
    /// ln of real / fitted density where Reweighted (minus infinity where the real one is 0), else 0.
    double log_correction(double z) const;

  private:
    SizeKind kind_ = SizeKind::Fitted;
    std::vector<SizeCdf> cdf_;  ///< one, or none
    SizeFit fit_;
};

}  // namespace sluice::eval
