// SPDX-License-Identifier: Apache-2.0
#include "restore/loss_curve.h"

#include <algorithm>

#include <fmt/core.h>

namespace sluice::restore {

namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 360;
constexpr double kLeft = 64;
constexpr double kRight = 16;
constexpr double kTop = 40;
constexpr double kBottom = 48;
constexpr int kMarks = 5;

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        if (c == '&') {
            safe += "&amp;";
        } else if (c == '<') {
            safe += "&lt;";
        } else {
            safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return safe;
}

struct Scale {
    double epochs = 1;
    double most = 1;

    double x(double epoch) const {
        return kLeft + (kWidth - kLeft - kRight) * (epoch - 1) / std::max(epochs - 1, 1.0);
    }
    double y(double loss) const {
        return kHeight - kBottom - (kHeight - kTop - kBottom) * loss / most;
    }
};

std::string curve(const std::vector<Epoch>& epochs, const Scale& scale, double Epoch::*loss,
                  const char* color) {
    std::string points;
    for (const Epoch& epoch : epochs) {
        points += fmt::format("{:.1f},{:.1f} ", scale.x(epoch.number), scale.y(epoch.*loss));
    }
    return fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>\n",
                       color, points);
}

std::string label(double x, double y, const char* anchor, const std::string& text,
                  const char* color = "#333") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n",
                       x, y, anchor, color, escaped(text));
}

}  // namespace

std::string loss_csv(const std::vector<Epoch>& epochs) {
    std::string text = "epoch,training,validation,best\n";
    for (const Epoch& epoch : epochs) {
        text += fmt::format("{},{:.9g},{:.9g},{}\n", epoch.number, epoch.training, epoch.validation,
                            epoch.best ? 1 : 0);
    }
    return text;
}

std::string loss_svg(const std::vector<Epoch>& epochs, const std::string& title) {
    Scale scale;
    scale.epochs = static_cast<double>(epochs.size());
    scale.most = 1e-9;
    for (const Epoch& epoch : epochs) {
        scale.most = std::max({scale.most, epoch.training, epoch.validation});
    }
    scale.most *= 1.05;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        kWidth, kHeight);
    svg += label(kWidth / 2, 20, "middle", title);
    for (int i = 0; i <= kMarks; ++i) {
        const double loss = scale.most * i / kMarks;
        svg +=
            fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
                        kLeft, scale.y(loss), kWidth - kRight, scale.y(loss));
        svg += label(kLeft - 6, scale.y(loss) + 4, "end", fmt::format("{:.3f}", loss));
    }
    svg += label(scale.x(1), kHeight - kBottom + 18, "middle", "1");
    if (epochs.size() > 1) {
        svg += label(scale.x(scale.epochs), kHeight - kBottom + 18, "end",
                     std::to_string(epochs.size()));
    }
    svg += label(kWidth / 2, kHeight - 12, "middle", "epoch");
    svg += label(kWidth - kRight, kTop + 4, "end", "training", "#1f77b4");
    svg += label(kWidth - kRight, kTop + 20, "end", "validation", "#d62728");
    svg += curve(epochs, scale, &Epoch::training, "#1f77b4");
    svg += curve(epochs, scale, &Epoch::validation, "#d62728");
    return svg + "</svg>\n";
}

}  // namespace sluice::restore
