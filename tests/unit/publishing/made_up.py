"""Tables of made-up people for tests of publications."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def people(n: int = 4000, seed: int = 0, rule: str = "plain") -> pa.Table:
    """Age, job, town and pay; S depends on some of them: plainly, on two together, or on whether two are equal."""
    rng = np.random.default_rng(seed)
    age, job = rng.integers(18, 80, n), rng.choice(["clerk", "nurse", "smith", "cook"], n, p=[0.4, 0.3, 0.2, 0.1])
    town = rng.choice([f"T{k:03d}" for k in range(120)], n)
    pay = np.round(np.exp(rng.normal(7.5, 0.4, n)), 2)
    first, second = rng.integers(0, 2, n), rng.integers(0, 2, n)
    chance = {
        "plain": 0.15 + 0.35 * (age > 50) + 0.25 * (job == "smith"),
        "both": 0.1 + 0.75 * ((age > 50) & (job != "nurse")),
        "xor": 0.1 + 0.8 * (first ^ second),
        "none": np.full(n, 0.3),
    }[rule]
    return pa.table(
        {
            "age": age,
            "job": job,
            "town": pa.array(town, mask=rng.random(n) < 0.05),
            "pay": pay,
            "left": np.where(first, "l", "r"),
            "right": np.where(second, "l", "r"),
            "ill": np.where(rng.random(n) < chance, "yes", "no"),
        }
    )


def few_different(n: int = 6000, seed: int = 0) -> pa.Table:
    """Schooling and sex alone: 24 different records, some of them very common; S is an income."""
    rng = np.random.default_rng(seed)
    years = rng.choice(12, n, p=np.array([1, 1, 2, 2, 3, 4, 32, 22, 8, 17, 6, 2]) / 100)
    woman = rng.random(n) < 0.33
    high = rng.random(n) < 0.04 + 0.05 * years * np.where(woman, 0.3, 1.0)
    return pa.table(
        {
            "schooling": [f"{year:02d} years" for year in years],
            "sex": np.where(woman, "female", "male"),
            "income": np.where(high, "high", "low"),
        }
    )
