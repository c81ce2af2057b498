// SPDX-License-Identifier: Apache-2.0
#include "restore/evaluation.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sluice::restore {

namespace {

double units(std::int64_t bytes, std::int64_t unit) {
    return static_cast<double>(bytes) / static_cast<double>(unit);
}

struct Sums {
    double absolute = 0;
    double pinball = 0;
    std::size_t within = 0;
    std::size_t moved = 0;
};

Sums errors_of(const QueuePredictor& predictor, const std::vector<const Case*>& cases) {
    std::vector<PortQuery> queries;
    for (const Case* one : cases) queries.push_back(one->query);
    const std::vector<DepthQuantiles> said = predictor.predict(queries);
    Sums sums;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::int64_t came = cases[i]->depth;
        const std::int64_t unit = depth_unit(cases[i]->query.context);
        sums.absolute += std::abs(units(came - said[i][kMedian], unit));
        sums.pinball += pinball_loss(said[i], came, unit);
        sums.within += said[i].front() <= came && came <= said[i].back() ? 1 : 0;
        sums.moved += std::abs(units(came - queries[i].depths.back(), unit)) > 0.25 ? 1 : 0;
    }
    return sums;
}

}  // namespace

double pinball_loss(const DepthQuantiles& said, std::int64_t came, std::int64_t unit) {
    double sum = 0;
    for (std::size_t q = 0; q < said.size(); ++q) {
        const double above = units(came - said[q], unit);
        sum += std::max(kQuantiles[q] * above, (kQuantiles[q] - 1) * above);
    }
    return sum / static_cast<double>(said.size());
}

std::vector<ErrorRow> evaluate(const QueueModel& model, const std::vector<Case>& cases,
                               std::unique_ptr<EncoderEngine> engine) {
    std::vector<std::unique_ptr<QueuePredictor>> predictors;
    for (const auto& [word, kind] : predictor_words()) {
        predictors.push_back(make_predictor(
            kind, &model, kind == PredictorKind::transformer ? std::move(engine) : nullptr));
    }
    std::vector<ErrorRow> rows;
    for (const std::string& law : law_names()) {
        std::vector<const Case*> own;
        for (const Case& one : cases) {
            if (congestion::law_name(one.query.context.law) == law) own.push_back(&one);
        }
        if (own.empty()) continue;
        for (std::size_t i = 0; i < predictors.size(); ++i) {
            const Sums sums = errors_of(*predictors[i], own);
            const auto count = static_cast<double>(own.size());
            rows.push_back({law, predictor_words()[i].first, own.size(), sums.absolute / count,
                            sums.pinball / count, static_cast<double>(sums.within) / count,
                            static_cast<double>(sums.moved) / count});
        }
    }
    return rows;
}

std::string error_csv(const std::vector<ErrorRow>& rows) {
    std::string text = "law,predictor,cases,mae,pinball,within,moved\n";
    for (const ErrorRow& row : rows) {
        text += fmt::format("{},{},{},{:.6f},{:.6f},{:.4f},{:.4f}\n", row.law, row.predictor,
                            row.cases, row.absolute, row.pinball, row.within, row.moved);
    }
    return text;
}

}  // namespace sluice::restore
