# SPDX-License-Identifier: Apache-2.0
# Lines CONTENDER ROUND QUANTITY VALUE become medians: first NAME<tab>VALUE<tab>UNIT, then a table.
# Given: group, title, order, columns, pairs, rounds, baseline (see report in harness.bash).

BEGIN {
    split("rate MB/s records M/s wall s cpu s send MiB receive MiB formula MiB excess MiB " \
        "p50 us p99 us p99.9 us max us", list, " ")
    for (i = 1; i in list; i += 2)
        unit[list[i]] = list[i + 1]
    while (baseline != "" && (getline line < baseline) > 0) {
        split(line, field, "\t")
        earlier[field[1]] = field[2]
    }
    contenders = split(order, contender, " ")
    quantities = split(columns, quantity, " ")
    pair_count = split(pairs, pair, " ")
}

{
    value[$1, $3, $2] = $4
}

# Of what[1] to what[n], which it sorts.
function median(n,   i, j, moved) {
    for (i = 2; i <= n; i++) {
        moved = what[i]
        for (j = i - 1; j > 0 && what[j] > moved; j--)
            what[j + 1] = what[j]
        what[j + 1] = moved
    }
    return n % 2 ? what[(n + 1) / 2] : (what[n / 2] + what[n / 2 + 1]) / 2
}

function median_of(who, which,   round, n) {
    for (round = 1; round <= rounds; round++)
        if ((who, which, round) in value)
            what[++n] = value[who, which, round] + 0
    return n ? median(n) : ""
}

function ratio_of(a, b, which,   round, n) {
    for (round = 1; round <= rounds; round++)
        if ((a, which, round) in value && value[b, which, round] + 0 > 0)
            what[++n] = value[a, which, round] / value[b, which, round]
    return n ? median(n) : ""
}

# "A/B[:QUANTITY]" into first, second, which, label.
function take_pair(text,   part) {
    which = quantity[1]
    if (split(text, part, ":") > 1)
        which = part[2]
    label = (part[2] != "" ? part[2] "_" : "") "of_"
    split(part[1], part, "/")
    first = part[1]
    second = part[2]
    label = label second
}

function in_few_digits(number) {
    return sprintf(number >= 100 ? "%.0f" : number >= 1 ? "%.2f" : "%.4f", number)
}

function put(name, number, of_unit) {
    printf "%s\t%s\t%s\n", name, number, of_unit
}

END {
    for (c = 1; c <= contenders; c++)
        for (q = 1; q <= quantities; q++) {
            found = median_of(contender[c], quantity[q])
            if (found == "")
                continue
            middle[c, q] = found
            put(group "/" contender[c] "/" quantity[q], sprintf("%.6g", found), unit[quantity[q]])
        }
    for (p = 1; p <= pair_count; p++) {
        take_pair(pair[p])
        found = ratio_of(first, second, which)
        if (found == "")
            continue
        ratio[first, label] = sprintf("%.3f", found)
        put(group "/" first "/" label, ratio[first, label], "ratio")
    }

    # The pairs with the second of the first pair are a column, the others follow.
    take_pair(pair[1])
    reference = pair_count ? label : ""
    shown = reference
    gsub(/_/, " ", shown)
    printf "\n%s\n%-16s", title, ""
    for (q = 1; q <= quantities; q++)
        printf "%10s", quantity[q]
    printf "%s%s\n", reference != "" ? sprintf("  %14s", shown) : "",
        baseline != "" ? "    earlier" : ""
    printf "%-16s", ""
    for (q = 1; q <= quantities; q++)
        printf "%10s", unit[quantity[q]]
    printf "\n"
    for (c = 1; c <= contenders; c++) {
        printf "  %-14s", contender[c]
        for (q = 1; q <= quantities; q++)
            printf "%10s", (c, q) in middle ? in_few_digits(middle[c, q]) : "-"
        if (reference != "")
            printf "  %14s", (contender[c], reference) in ratio ? ratio[contender[c], reference] : ""
        name = group "/" contender[c] "/" quantity[1]
        if (name in earlier)
            printf "%11s", earlier[name]
        printf "\n"
    }
    for (p = 1; p <= pair_count; p++) {
        take_pair(pair[p])
        if (label == reference || !((first, label) in ratio))
            continue
        shown = label
        gsub(/_/, " ", shown)
        printf "  %s, %s: %s\n", first, shown, ratio[first, label]
    }
}
