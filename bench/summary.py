"""From turns to numbers: medians, ratios within a round, and the table."""

import itertools
import statistics

REFERENCE = "ergodic"


def spread(values):
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def summarise(result):
    """Adds to each contender of a workload its medians, and by how much Ergodic is faster in the same round."""
    contenders = result["contenders"]
    hertz = [turn["hertz"] for entry in contenders.values() for turn in entry["turns"] if turn.get("hertz")]
    for name, entry in contenders.items():
        turns = entry["turns"]
        values = [turn["value"] for turn in turns]
        if None not in values:
            entry["value"] = spread(values)
        if hertz and "macs_per_second" in turns[0]:
            per_cycle = statistics.median(turn["macs_per_second"] for turn in turns) / statistics.median(hertz)
            entry["macs_per_cycle"] = per_cycle
        if REFERENCE in contenders and name != REFERENCE and "value" in entry:
            reference = contenders[REFERENCE]["turns"]
            entry["ergodic_faster"] = spread([ours["speed"] / its["speed"] for ours, its in zip(reference, turns)])


def falls(curve):
    """Neighbouring points between which the multiply-adds in a cycle change by more than a factor of two."""
    out = []
    for name, values in curve["macs_per_cycle"].items():
        for (x, y), (next_x, next_y) in itertools.pairwise(zip(curve["points"], values)):
            if max(y, next_y) > 2 * min(y, next_y):
                out.append(f"{name}, {curve['kind']}: {y:.1f} at {curve['axis']} {x:g}, {next_y:.1f} at {next_x:g}")
    return out


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _spread_text(values, form):
    return f"{form(values['median'])}  ({form(values['min'])} to {form(values['max'])})" if values else "-"


def workload_table(result):
    rows = [("contender", result["unit"] + ", median (min to max)", "MAC/cycle", "Ergodic faster by", "check")]
    for name, entry in result["contenders"].items():
        value = _spread_text(entry.get("value"), number) if "value" in entry else "not reached in every round"
        if "rate" in entry:
            value += f"  rate {entry['rate']}"
        per_cycle = f"{entry['macs_per_cycle']:.2f}" if "macs_per_cycle" in entry else ""
        faster = _spread_text(entry.get("ergodic_faster"), lambda ratio: f"{ratio:.2f}")
        rows.append((name, value, per_cycle, faster, entry.get("check", "")))
    return f"{result['name']}  {result['title']}\n" + columns(rows)


def products_table(products):
    rows = [("products of sgemm alone", "peak GMAC/s", "up", "down", "statistics")]
    for entry in products:
        shares = (f"{share:.0%}" for share in entry["shares"].values())
        rows.append((entry["name"], f"{entry['peak'] / 1e9:.1f}", *shares))
    return columns(rows)


def speedups_table(speedups):
    rows = [("times as fast as one thread", "two threads, median (min to max)", "two processes")]
    for entry in speedups:
        texts = (_spread_text(spread(entry[kind]), lambda ratio: f"{ratio:.2f}") for kind in ("threads", "processes"))
        rows.append((entry["name"], *texts))
    return columns(rows)


def curve_table(curve):
    names = list(curve["macs_per_cycle"])
    rows = [(f"{curve['kind']}: {curve['axis']}", *(f"{name}, MAC/cycle" for name in names))]
    for index, point in enumerate(curve["points"]):
        rows.append((f"{point:g}", *(f"{curve['macs_per_cycle'][name][index]:.2f}" for name in names)))
    return columns(rows)


def columns(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows)
    return "\n".join("  " + line for line in lines)
