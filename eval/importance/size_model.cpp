// SPDX-License-Identifier: Apache-2.0
#include "eval/importance/size_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/fit/least_squares.h"
#include "eval/intervals/distributions.h"

namespace sluice::eval {
namespace {

using Points = std::vector<SizeCdf::Point>;

/// The parameters are mu and ln sigma, so that sigma stays positive. `points` must outlive it.
LeastSquares fit_problem(const Points& points) {
    LeastSquares problem;
    problem.parameters = 2;
    problem.residuals = points.size();
    problem.evaluate = [&points](const double* x, double* residuals) {
        for (const auto& point : points) {
            *residuals++ = normal_cdf((std::log(point.size) - x[0]) / std::exp(x[1])) - point.share;
        }
    };
    problem.derive = [&points](const double* x, double* jacobian) {
        for (std::size_t i = 0; i < points.size(); ++i) {
            const double sigma = std::exp(x[1]);
            const double z = (std::log(points[i].size) - x[0]) / sigma;
            jacobian[i] = -normal_density(z) / sigma;
            jacobian[points.size() + i] = -normal_density(z) * z;
        }
    };
    problem.most_evaluations = 1000;
    return problem;
}

/// A line through the points on normal probability paper.
std::vector<double> first_guess(const Points& points) {
    double n = 0;
    double sz = 0;
    double sl = 0;
    double szz = 0;
    double szl = 0;
    for (const auto& point : points) {
        if (point.share <= 0 || point.share >= 1) continue;
        const double z = normal_quantile(point.share);
        const double l = std::log(point.size);
        n += 1;
        sz += z;
        sl += l;
        szz += z * z;
        szl += z * l;
    }
    const double slope = (n * szl - sz * sl) / (n * szz - sz * sz);
    if (n < 2 || !(slope > 0) || !std::isfinite(slope)) {
        throw ConfigError("a log-normal fit needs two sizes with shares between 0 and 100%");
    }
    return {(sl - slope * sz) / n, std::log(slope)};
}

double max_distance(const SizeCdf& cdf, const LogNormal& fit) {
    constexpr int kSteps = 64;
    double largest = 1 - fit.share(cdf.points().back().size);
    for (std::size_t i = 0; i + 1 < cdf.points().size(); ++i) {
        const double from = cdf.points()[i].size;
        const double step = (cdf.points()[i + 1].size - from) / kSteps;
        for (int j = 0; j <= kSteps; ++j) {
            const double size = from + j * step;
            if (size > 0) {
                largest = std::max(largest, std::fabs(fit.share(size) - cdf.share(size)));
            }
        }
    }
    return largest;
}

}  // namespace

SizeCdf::SizeCdf(std::vector<Point> points) : points_(std::move(points)) {
    bool good = points_.size() >= 2 && points_.front().size >= 0 && points_.front().share == 0 &&
                points_.back().share == 1;
    for (std::size_t i = 1; good && i < points_.size(); ++i) {
        good = points_[i].size > points_[i - 1].size && points_[i].share >= points_[i - 1].share;
    }
    if (!good) {
        throw ConfigError(
            "a distribution of sizes ascends from share 0 to share 1 in two or more points");
    }
}

double SizeCdf::share(double size) const {
    if (size <= points_.front().size) return 0;
    if (size >= points_.back().size) return 1;
    const auto after = std::upper_bound(points_.begin(), points_.end(), size,
                                        [](double x, const Point& p) { return x < p.size; });
    const Point& low = *(after - 1);
    return low.share + (size - low.size) / (after->size - low.size) * (after->share - low.share);
}

double SizeCdf::quantile(double share) const {
    if (share <= 0) return points_.front().size;
    if (share >= 1) return points_.back().size;
    const auto after = std::lower_bound(points_.begin() + 1, points_.end(), share,
                                        [](const Point& p, double x) { return p.share < x; });
    const Point& low = *(after - 1);
    return low.size + (share - low.share) / (after->share - low.share) * (after->size - low.size);
}

double SizeCdf::density(double size) const {
    if (size < points_.front().size || size >= points_.back().size) return 0;
    const auto after = std::upper_bound(points_.begin(), points_.end(), size,
                                        [](double x, const Point& p) { return x < p.size; });
    const Point& low = *(after - 1);
    return (after->share - low.share) / (after->size - low.size);
}

double SizeCdf::mean() const {
    double sum = 0;
    for (std::size_t i = 1; i < points_.size(); ++i) {
        sum +=
            (points_[i].share - points_[i - 1].share) * (points_[i].size + points_[i - 1].size) / 2;
    }
    return sum;
}

double LogNormal::share(double size) const {
    return size > 0 ? normal_cdf((std::log(size) - mu) / sigma) : 0;
}

double LogNormal::log_density(double size) const {
    const double z = (std::log(size) - mu) / sigma;
    return std::log(normal_density(z) / sigma) - std::log(size);
}

double LogNormal::mean() const { return std::exp(mu + sigma * sigma / 2); }

SizeFit fit_log_normal(const SizeCdf& cdf) {
    Points points;
    for (const auto& point : cdf.points()) {
        if (point.size > 0) points.push_back(point);
    }
    std::vector<double> x = first_guess(points);
    const double squares = minimize(fit_problem(points), x);
    SizeFit fit;
    fit.log_normal = {x[0], std::exp(x[1])};
    if (!std::isfinite(x[0]) || !(fit.log_normal.sigma > 0) ||
        !std::isfinite(fit.log_normal.sigma)) {
        throw ConfigError("the log-normal fit of the sizes does not converge");
    }
    fit.rms_distance = std::sqrt(squares / static_cast<double>(points.size()));
    fit.max_distance = max_distance(cdf, fit.log_normal);
    fit.mean_ratio = fit.log_normal.mean() / cdf.mean();
    return fit;
}

SizeModel::SizeModel(SizeKind kind, SizeCdf cdf)
    : kind_(kind), cdf_({std::move(cdf)}), fit_(fit_log_normal(cdf_.front())) {}

SizeModel::SizeModel(const LogNormal& log_normal) {
    if (!(log_normal.sigma > 0))
        throw ConfigError("a log-normal distribution's sigma is greater than 0");
    fit_.log_normal = log_normal;
}

double SizeModel::size(double z) const {
    if (kind_ == SizeKind::Mapped) return cdf_.front().quantile(normal_cdf(z));
    return std::exp(fit_.log_normal.mu + fit_.log_normal.sigma * z);
}

double SizeModel::log_correction(double z) const {
    if (kind_ != SizeKind::Reweighted) return 0;
    const double bytes = size(z);
    const double real = cdf_.front().density(bytes);
    if (real <= 0) return -std::numeric_limits<double>::infinity();
    return std::log(real) - fit_.log_normal.log_density(bytes);
}

}  // namespace sluice::eval
