"""Stand-ins for xarray's and pandas' types: what of them the product asks for, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


class Coordinate:
    def __init__(self, name: str, values: Any, attrs: Mapping[str, str]) -> None:
        self.name, self.values, self.attrs = name, np.asarray(values), dict(attrs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)


class DataArray:
    """xarray.DataArray(data, coords, dims, name, attrs), with coords as a mapping of values or (dim, values, attrs)."""

    def __init__(self, data: Any, coords: Any = None, dims: Any = None, name: Any = None, attrs: Any = None) -> None:
        self.data, self.dims = np.asarray(data), tuple(dims)
        self.name, self.attrs = name, dict(attrs or {})
        assert self.data.ndim == len(self.dims) == len(set(self.dims))
        self.coords: dict[str, Coordinate] = {}
        for key, given in (coords or {}).items():
            values, own = (given.values, given.attrs) if isinstance(given, Coordinate) else (given, {})
            if isinstance(given, tuple):
                assert given[0] == key
                values, own = given[1], given[2]
            self.coords[key] = Coordinate(key, values, own)
            assert len(self.coords[key].values) == self.data.shape[self.dims.index(key)]

    @property
    def values(self) -> np.ndarray:
        return self.data

    def transpose(self, *dims: str) -> DataArray:
        order = [self.dims.index(dim) for dim in dims]
        return DataArray(self.data.transpose(order), self.coords, dims, self.name, self.attrs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.data, dtype=dtype, copy=copy)


class Series:
    """pandas.Series(data, index, name)."""

    def __init__(self, data: Any, index: Any = None, name: Any = None) -> None:
        self.data, self.name = np.asarray(data), name
        self.index = np.arange(len(self.data)) if index is None else np.asarray(index)
        assert self.data.ndim == 1 and len(self.index) == len(self.data)

    def to_numpy(self) -> np.ndarray:
        return self.data

    def to_frame(self) -> DataFrame:
        return DataFrame(self.data[:, None], self.index, [self.name])


class DataFrame:
    """pandas.DataFrame(data, index, columns)."""

    def __init__(self, data: Any, index: Any = None, columns: Sequence[Any] | None = None) -> None:
        self.data = np.asarray(data)
        self.index = np.arange(len(self.data)) if index is None else np.asarray(index)
        self.columns = list(range(self.data.shape[1])) if columns is None else list(columns)
        assert self.data.shape == (len(self.index), len(self.columns))

    @property
    def dtypes(self) -> list[np.dtype]:
        return [np.array(self.data[:, k].tolist()).dtype for k in range(self.data.shape[1])]

    def to_numpy(self) -> np.ndarray:
        return self.data
