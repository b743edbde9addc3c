"""Tables for benchmarks of whole publications, made up: a messy city register, and wide tables of any length."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["city", "wide"]

STREETS = ["Königstraße", "Rue de l'Été", "Calle Ñandú", "Łódzka", "Åvägen", "Via Città", "Main St"]


def city(n: int = 200_000, seed: int = 0) -> pa.Table:
    """Residents with dates, money as text, 8,000 postcodes, nulls and accents; S is a diagnosis."""
    rng = np.random.default_rng(seed)
    postcode = (rng.zipf(1.2, n) * 7919) % 8000
    born = rng.integers(0, 365 * 80, n)
    age = 80 - born / 365
    district = postcode // 500
    job = rng.choice(["Büro", "Pflege", "Schule", "Bau", "Handel", "ohne", "Küche", "IT"], n, p=_p(8, rng))
    rent = np.exp(rng.normal(6.6, 0.4, n)) * (1 + (district % 5) / 10)
    moved = rng.integers(0, 3650, n)
    score = 0.05 * (age - 40) + 0.8 * (job == "Bau") + 0.9 * (job == "Pflege") + 0.6 * (district % 4 == 1) - rent / 2500
    chance = 1 / (1 + np.exp(-(score - 1)))
    ill = rng.random(n) < chance
    kind = np.where(ill, np.where(rng.random(n) < 0.3 + 0.4 * (age > 55), "Herz", "Rücken"), "keine")
    start = np.datetime64("1944-01-01")
    return pa.table(
        {
            "resident_id": [f"R{k:07d}" for k in rng.permutation(n)],
            "born": pa.array(start + born),
            "moved_in": [f"{d.day:02d}.{d.month:02d}.{d.year}" for d in (np.datetime64("2012-01-01") + moved).tolist()],
            "postcode": _some_null(np.char.zfill((10000 + postcode).astype(str), 5), rng, 0.02),
            "street": [STREETS[k] for k in rng.integers(0, len(STREETS), n)],
            "job": _some_null(job, rng, 0.05),
            "rent": _some_null(np.array([_money(value) for value in rent]), rng, 0.08),
            "children": pa.array(rng.poisson(0.9, n), mask=rng.random(n) < 0.01),
            "is_owner": pa.array(rng.random(n) < 0.3),
            "diagnosis": kind,
        }
    )


def wide(n: int, columns: int = 12, seed: int = 0) -> pa.Table:
    """Numbers and categories in equal parts, some of which tell about S, alone and together."""
    rng = np.random.default_rng(seed)
    made: dict[str, pa.Array] = {}
    score = np.zeros(n)
    for k in range(columns):
        if k % 2:
            size = int(rng.integers(3, 40))
            codes = rng.choice(size, n, p=_p(size, rng))
            score += rng.normal(0, 0.4, size)[codes]
            made[f"c{k}"] = pa.array(np.array([f"v{j}" for j in range(size)])[codes])
        else:
            values = rng.gamma(2.0, 1.0 + k, n)
            score += 0.5 * np.sin(values / (1 + k))
            made[f"c{k}"] = pa.array(np.round(values, 1))
    made["secret"] = pa.array(np.where(rng.random(n) < 1 / (1 + np.exp(-1.5 * score)), "yes", "no"))
    return pa.table(made)


def _p(size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet([2.0] * size)


def _money(value: float) -> str:
    whole, cents = divmod(round(value * 100), 100)
    return f"{whole:,}".replace(",", ".") + f",{cents:02d} €"


def _some_null(values: np.ndarray, rng: np.random.Generator, share: float) -> pa.Array:
    return pa.array(values, mask=rng.random(len(values)) < share)
