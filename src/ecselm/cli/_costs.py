"""Options about costs and about asking a person, which several commands share."""

from __future__ import annotations

import argparse

from ecselm.costs.policy import RULES
from ecselm.study import CostOptions


def add_cost_options(group: argparse._ArgumentGroup) -> None:
    """Add the options to a group of a parser."""
    group.add_argument(
        "--cost",
        action="append",
        default=[],
        metavar="'TRUE->PREDICTED=NUMBER' or FILE",
        help="what is known of a cost: a number, a range as in 'a->b=3..20', or a ratio as in "
        "'a->b >= 3 * b->a'; may be repeated; or the file of a square table of costs",
    )
    group.add_argument(
        "--worse",
        action="append",
        default=[],
        metavar="'A->B > B->A'",
        help="mistakes in order of their costs, the most expensive first; may be repeated",
    )
    group.add_argument(
        "--cost-between",
        action="append",
        default=[],
        metavar="'A->B=LOW..HIGH'",
        help="interval of the cost of a mistake, may be repeated",
    )
    group.add_argument(
        "--cost-column",
        action="append",
        default=[],
        metavar="'COLUMN' or 'A->B=COLUMN'",
        help="column with the cost of any mistake, or of one mistake, on each row; not an input "
        "of the model; may be repeated",
    )
    group.add_argument(
        "--rule",
        choices=RULES,
        default=RULES[0],
        help="how costs that are known in part decide: by the least expected cost, or by the least "
        "worst regret (default: expected)",
    )
    group.add_argument(
        "--reject-cost",
        action="append",
        default=[],
        metavar="NUMBER or 'CLASS=NUMBER'",
        help="cost of leaving a row to a person, for all or for each true class; rows are left to "
        "a person where any prediction is expected to cost more",
    )
    group.add_argument(
        "--reject-capacity",
        type=float,
        metavar="SHARE",
        help="largest share of rows that are left to a person",
    )


def cost_options(args: argparse.Namespace) -> CostOptions:
    """Return what the options state."""
    return CostOptions(
        tuple(args.cost),
        tuple(args.worse),
        tuple(args.cost_between),
        tuple(args.cost_column),
        args.rule,
        tuple(args.reject_cost),
        args.reject_capacity,
    )
