"""The results as one picture: a panel of bars for each workload, and the curves below."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import EngFormatter

COLOURS = {"ergodic": "#c0392b", "sgemm": "#2c3e50", "torch": "#7f8c8d", "numpy": "#95a5a6", "sklearn": "#bdc3c7",
           "loop": "#7f8c8d", "dots": "#bdc3c7", "doubles": "#bdc3c7"}
OTHER_BUILD = "#e59866"
PANELS_IN_ROW = 4


def colour(name):
    return COLOURS.get(name, OTHER_BUILD)


def draw(results, path):
    bar_rows = -(-len(results["workloads"]) // PANELS_IN_ROW)
    heights = [3.0] * bar_rows + ([3.2] if results["curves"] else [])
    if not heights:
        return
    figure = plt.figure(figsize=(16, sum(heights) + 0.6), constrained_layout=True)
    figure.suptitle(f"{results['processor']}; medians of {results['rounds']} rounds, whiskers from least to most")
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for row in range(bar_rows):
        axes = parts[row].subplots(1, PANELS_IN_ROW)
        here = results["workloads"][row * PANELS_IN_ROW:(row + 1) * PANELS_IN_ROW]
        for panel, result in zip(axes, here):
            draw_bars(panel, result)
        for panel in axes[len(here):]:
            panel.set_axis_off()
    if results["curves"]:
        draw_curves(parts[-1], results["curves"])
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_bars(panel, result):
    entries = {name: entry["value"] for name, entry in result["contenders"].items() if "value" in entry}
    medians = [value["median"] for value in entries.values()]
    whiskers = [[value["median"] - value["min"] for value in entries.values()],
                [value["max"] - value["median"] for value in entries.values()]]
    panel.barh(list(entries), medians, xerr=whiskers, color=[colour(name) for name in entries],
               error_kw={"elinewidth": 1})
    panel.invert_yaxis()
    panel.set_title(f"{result['name']}  {result['title']}", fontsize=8)
    panel.set_xlabel(result["unit"] + (" (less is better)" if result["unit"] == "s" else ""), fontsize=8)
    panel.xaxis.set_major_formatter(EngFormatter(sep=""))
    panel.tick_params(labelsize=8)


def draw_curves(part, curves):
    names = list(dict.fromkeys(curve["axis"] for curve in curves))
    panels = dict(zip(names, part.subplots(1, len(names), squeeze=False)[0]))
    for curve in curves:
        panel = panels[curve["axis"]]
        if curve["axis"] in ("rows", "visible", "hidden"):
            panel.set_xscale("log", base=2)
        else:
            panel.set_xticks(curve["points"])
        for name, values in curve["macs_per_cycle"].items():
            style = "-" if curve["kind"] == "train" else "--"
            panel.plot(curve["points"], values, style, marker=".", color=colour(name), label=f"{name}, {curve['kind']}")
    for axis, panel in panels.items():
        panel.set_ylim(bottom=0)
        panel.set_xlabel("rows of a batch, or chains" if axis == "rows" else axis, fontsize=8)
        panel.tick_params(labelsize=8)
    panels[names[0]].set_ylabel("logical MAC / cycle", fontsize=8)
    panels[names[0]].legend(fontsize=7, loc="lower right")
