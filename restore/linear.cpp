// SPDX-License-Identifier: Apache-2.0
#include "restore/linear.h"

#include <cmath>

namespace sluice::restore {

namespace {

/// Per case: keeps inputs that never vary from having any weight they like.
constexpr double kRidge = 1e-6;

std::vector<double> inputs_of(const Features& features) {
    std::vector<double> inputs(features.depths.begin(), features.depths.end());
    inputs.insert(inputs.end(), features.context.begin(), features.context.end());
    inputs.push_back(1);
    return inputs;
}

}  // namespace

double linear_depth(const QueueModel& model, const Features& features, int law_place) {
    const auto place = static_cast<std::size_t>(law_place);
    if (law_place < 0 || place >= model.linear.weights.size() ||
        model.linear.weights[place].empty()) {
        return static_cast<double>(features.depths.back());
    }
    const std::vector<double> inputs = inputs_of(features);
    double depth = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        depth += model.linear.weights[place][i] * inputs[i];
    }
    return depth;
}

LinearFit::LinearFit(const QueueModel& model)
    : inputs_(static_cast<std::size_t>(model.shape.steps + context_size(model) + 1)),
      squares_(inputs_ * inputs_),
      products_(inputs_) {}

void LinearFit::add(const Features& features, double depth) {
    const std::vector<double> inputs = inputs_of(features);
    for (std::size_t i = 0; i < inputs_; ++i) {
        for (std::size_t j = 0; j < inputs_; ++j) {
            squares_[i * inputs_ + j] += inputs[i] * inputs[j];
        }
        products_[i] += inputs[i] * depth;
    }
    ++cases_;
}

/// Cholesky: the matrix is positive definite by its ridge.
std::vector<double> LinearFit::solve() const {
    if (cases_ < 2 * inputs_) return {};
    std::vector<double> lower(inputs_ * inputs_);
    const auto at = [&](std::size_t i, std::size_t j) -> double& { return lower[i * inputs_ + j]; };
    for (std::size_t i = 0; i < inputs_; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = squares_[i * inputs_ + j];
            if (i == j) sum += kRidge * static_cast<double>(cases_);
            for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
            at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
        }
    }
    std::vector<double> solution = products_;
    for (std::size_t i = 0; i < inputs_; ++i) {
        for (std::size_t k = 0; k < i; ++k) solution[i] -= at(i, k) * solution[k];
        solution[i] /= at(i, i);
    }
    for (std::size_t i = inputs_; i-- > 0;) {
        for (std::size_t k = i + 1; k < inputs_; ++k) solution[i] -= at(k, i) * solution[k];
        solution[i] /= at(i, i);
    }
    return solution;
}

}  // namespace sluice::restore
